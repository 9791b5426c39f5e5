import { inspect, types } from 'node:util';

/** A logger such as `console`, pino or winston. It is called with a message, and often an error. */
export interface Logger {
  /** Logs details for debugging. */
  debug(...args: unknown[]): void;
  /** Logs a normal event. */
  info(...args: unknown[]): void;
  /** Logs a problem that latchkey can handle. */
  warn(...args: unknown[]): void;
  /** Logs a failure. */
  error(...args: unknown[]): void;
}

/** The default logger. It logs warnings and errors to the console, each on one line, and drops the rest. */
export const consoleLogger: Logger = {
  debug() {},
  info() {},
  warn: (...args) => console.warn(toLine(args)),
  error: (...args) => console.error(toLine(args)),
};

/**
 * Passes everything on to the app's logger. It never throws or rejects, because a failing logger must not affect the
 * call that logs. If the logger fails, the entry is printed to the console.
 */
export function steadyLogger(logger: Logger): Logger {
  const write =
    (level: keyof Logger) =>
    (...args: unknown[]): void => {
      try {
        const result: unknown = logger[level](...args);
        // Some loggers return a promise, and its rejection would end the process.
        Promise.resolve(result).catch((error) => reportLogger(error, args));
      } catch (error) {
        reportLogger(error, args);
      }
    };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

function reportLogger(error: unknown, args: readonly unknown[]): void {
  try {
    consoleLogger.error('latchkey: the logger failed:', error, '- it was given:', ...args);
  } catch {
    // The console has failed too.
  }
}

const MAX_CAUSES = 5;
const ON_ONE_LINE = { breakLength: Number.POSITIVE_INFINITY };
// Line breaks, control characters, and characters that change the direction of text on a terminal.
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;
const ESCAPES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Returns the messages of an error and its causes, on one line and escaped, so that they cannot forge log lines. */
export function describeError(error: unknown): string {
  return describeCauses(error, (one) => {
    if (!isError(one)) return typeof one === 'string' ? one : inspect(one, ON_ONE_LINE);
    const text = `${one.name}: ${one.message}`;
    return one.code === undefined || text.includes(String(one.code)) ? text : `${text} (${one.code})`;
  });
}

/** Returns the names and codes of an error and its causes, without their messages, which could quote a secret. */
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
    return 'an unreadable error';
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
  // isNativeError also recognizes errors of other realms, such as a vm's.
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
    (character) => ESCAPES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
