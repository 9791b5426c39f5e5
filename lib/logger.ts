import { inspect, types } from 'node:util';

/** Anything with these four methods: `console`, pino, winston … */
export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

/** The default: warnings and errors go to the console, each on one line; the rest nowhere. */
export const consoleLogger: Logger = {
  debug() {},
  info() {},
  warn: (...args) => console.warn(toLine(args)),
  error: (...args) => console.error(toLine(args)),
};

const MAX_CAUSES = 5;
const ON_ONE_LINE = { breakLength: Number.POSITIVE_INFINITY };
// What ends a line, and what moves the cursor or turns text around on a terminal.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** What an error says, and what its causes say, on one line: no message can pass for a line of its own. */
export function describeError(error: unknown): string {
  return describeCauses(error, (one) => {
    if (!isError(one)) return typeof one === 'string' ? one : inspect(one, ON_ONE_LINE);
    const text = `${one.name}: ${one.message}`;
    return one.code === undefined || text.includes(String(one.code)) ? text : `${text} (${one.code})`;
  });
}

/** What an error is, and what its causes are, but not what they say: that can quote a secret. */
export function kindOf(error: unknown): string {
  return describeCauses(error, (one) => {
    if (!isError(one)) return typeof one;
    return one.code === undefined ? one.name : `${one.name} (${one.code})`;
  });
}

function describeCauses(error: unknown, describe: (one: unknown) => string): string {
  try {
    return escapeControls(withCauses(error).map(describe).join(', caused by '));
  } catch {
    return 'an error that cannot be read';
  }
}

function withCauses(error: unknown): unknown[] {
  const chain = [error];
  for (const one of chain) {
    if (isError(one) && one.cause !== undefined && chain.length < MAX_CAUSES) chain.push(one.cause);
  }
  return chain;
}

function isError(value: unknown): value is Error & { code?: unknown } {
  // Of another realm too, such as a vm's.
  return value instanceof Error || types.isNativeError(value);
}

function toLine(args: readonly unknown[]): string {
  return args
    .filter((arg) => arg !== undefined)
    .map((arg) => describeError(arg))
    .join(' ');
}

function escapeControls(text: string): string {
  return text.replace(
    CONTROL,
    (sign) => ESCAPES[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
