import { AsyncResource } from 'node:async_hooks';
import { inspect, types } from 'node:util';
import { timers } from './timers.js';

/**
 * A logger such as `console`, pino or winston. pino and bunyan expect an object first, so they get an object with the
 * fields of the line, and then the message. Other loggers get the message, and often an error.
 */
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

/** How long lines with the same cause are only counted before their number is logged. */
const MINUTE_MS = 60_000;
/** The number of causes that are counted separately. Beyond this number, all causes of an event count as one. */
const MAX_COUNTED = 100;
/** The maximum number of characters that are kept of a line. */
const MAX_SHORT = 500;
/** An HTTP or SMTP status, which distinguishes causes. Other numbers do not. */
const STATUS = /^\W*\d{3}\W*$/;

type Level = keyof Logger;

/** The facts that a line contains in addition to its text. */
export interface LineFacts {
  /** The error that the line is about. */
  readonly err?: unknown;
  /** An error that the text describes already, so that only loggers of objects get it. */
  readonly described?: unknown;
  /**
   * Distinguishes causes of the same event, in addition to the error. The lines of each cause are summed up separately.
   * Null if every line is logged, because the event is rare or is itself a sum.
   * @default ''
   */
  readonly cause?: string | null;
  /** The method and path of the route or of the app's guarded route, with the names of its parameters. */
  readonly route?: string | undefined;
  /** The status of the response. */
  readonly status?: number;
  /** The code of the problem. */
  readonly code?: string;
  /** How long it took, in milliseconds. */
  readonly durationMs?: number | undefined;
  /** The number of occurrences that the line stands for. */
  readonly count?: number;
  /** The rate limit that the line is about. */
  readonly limit?: string;
}

interface Line extends LineFacts {
  readonly level: Level;
  /** The stable name of this kind of line. */
  readonly event: string;
  readonly text: string;
  /** For `cause.over`, the event that is over. */
  readonly of?: string;
}

/** Lines with the same cause. Only the first of them has been logged. */
interface Counted {
  readonly line: Line;
  /** The number of lines in the current minute that were not logged. */
  count: number;
  /** The number of all lines. */
  total: number;
  readonly timer: NodeJS.Timeout;
}

/**
 * Writes the log: each line has the stable name of its event, which docs/logs.md explains. The first line of a cause is
 * logged in full. Further lines are counted, and their number is logged once a minute, until a minute passes without
 * one.
 */
export class Log {
  readonly #write: (line: Line) => void;
  readonly #counted = new Map<string, Counted>();
  #isClosed = false;
  // The timer must neither keep the request that started it in memory, nor log in its context.
  readonly #everyMinute = AsyncResource.bind((work: () => void) =>
    timers.setInterval(work, MINUTE_MS).unref(),
  );

  constructor(logger: Logger) {
    this.#write = writerTo(logger);
  }

  /** Logs details for debugging. */
  debug(event: string, text: string, facts?: LineFacts): void {
    this.#write({ ...facts, level: 'debug', event, text });
  }

  /** Logs a normal event. */
  info(event: string, text: string, facts?: LineFacts): void {
    this.#write({ ...facts, level: 'info', event, text });
  }

  /** Logs a problem that latchkey can handle. */
  warn(event: string, text: string, facts?: LineFacts): void {
    this.#count({ ...facts, level: 'warn', event, text });
  }

  /** Logs a failure. */
  error(event: string, text: string, facts?: LineFacts): void {
    this.#count({ ...facts, level: 'error', event, text });
  }

  /** Logs the numbers that have not been logged yet. Later lines are not counted. */
  close(): void {
    this.#isClosed = true;
    for (const { line, count, timer } of this.#counted.values()) {
      timers.clearInterval(timer);
      if (count > 0) this.#write(sumOf(line, count));
    }
    this.#counted.clear();
  }

  #count(line: Line): void {
    if (line.cause === null || this.#isClosed) {
      this.#write(line);
      return;
    }
    const key = this.#keyOf(line);
    const known = this.#counted.get(key);
    if (known) {
      known.count++;
      known.total++;
      return;
    }
    const timer = this.#everyMinute(() => this.#sumUp(key));
    this.#counted.set(key, { line: shortened(line), count: 0, total: 1, timer });
    this.#write(line);
  }

  #keyOf({ event, code = '', cause = '', err, described }: Line): string {
    const key = `${event} ${code} ${cause} ${likenessOf(err ?? described)}`;
    return this.#counted.has(key) || this.#counted.size < MAX_COUNTED ? key : event;
  }

  #sumUp(key: string): void {
    const counted = this.#counted.get(key);
    if (!counted) return;
    const { line, count, total, timer } = counted;
    if (count > 0) {
      counted.count = 0;
      this.#write(sumOf(line, count));
      return;
    }
    timers.clearInterval(timer);
    this.#counted.delete(key);
    if (total > 1) this.#write(endOf(line, total));
  }
}

/** Shortens a line to the part that its sums repeat, so that little of it stays in memory. */
function shortened({ level, event, text, err, status, code, limit }: Line): Line {
  const whole = err === undefined ? text : `${text} ${describeError(err)}`;
  const facts = { ...(status && { status }), ...(code && { code }), ...(limit && { limit }) };
  return { level, event, text: whole.slice(0, MAX_SHORT).toWellFormed(), ...facts };
}

function sumOf(line: Line, count: number): Line {
  return { ...line, text: `${count} more in the last minute: ${line.text}`, count };
}

function endOf({ event, text }: Line, count: number): Line {
  const over = `over (${count} in all, none in the last minute): ${text}`;
  return { level: 'warn', event: 'cause.over', text: over, of: event, count };
}

/** Returns the part that errors with the same cause share: their description without ids, addresses and numbers. */
function likenessOf(error: unknown): string {
  if (error === undefined) return '';
  const words = describeError(error).slice(0, MAX_SHORT).split(' ');
  return words.map((word) => (/[@\d]/.test(word) && !STATUS.test(word) ? '#' : word)).join(' ');
}

/**
 * Returns a function that writes lines to the app's logger. The function never throws or rejects, because a failing
 * logger must not affect the call that logs. If the logger fails, the line is printed to the console.
 */
function writerTo(logger: Logger): (line: Line) => void {
  const argsOf = takesObjects(logger) ? objectOf : textOf;
  return (line) => {
    try {
      const result: unknown = logger[line.level](...argsOf(line));
      // Some loggers return a promise, and its rejection would end the process.
      Promise.resolve(result).catch((error) => reportLogger(error, line));
    } catch (error) {
      reportLogger(error, line);
    }
  };
}

/**
 * Whether a logger expects an object before the message, and drops an error after the message. pino and its children
 * have `bindings`, and bunyan has `addSerializers`. winston has `child` too, but expects the message first.
 */
function takesObjects(logger: Logger): boolean {
  const { child, bindings, addSerializers } = logger as Logger & Readonly<Record<string, unknown>>;
  return typeof child === 'function' && [bindings, addSerializers].some((one) => typeof one === 'function');
}

function textOf({ text, err }: Line): unknown[] {
  const message = `latchkey: ${text}`;
  return err === undefined ? [message] : [message, err];
}

function objectOf({ event, text, described, err = described, ...facts }: Line): unknown[] {
  const { of, route, status, code, durationMs, count, limit } = facts;
  const error = err === undefined ? undefined : plainError(err);
  const fields = Object.entries({ event, of, route, status, code, durationMs, count, limit, err: error });
  return [Object.fromEntries(fields.filter(([, value]) => value !== undefined)), `latchkey: ${text}`];
}

function reportLogger(error: unknown, line: Line): void {
  try {
    consoleLogger.error('latchkey: the logger failed:', error, '- the line was:', ...textOf(line));
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

/**
 * Copies an error with its class, message, stack, code and causes, and nothing else. Errors of other packages can have
 * properties with secrets, such as the parameters of a statement, and structured loggers would write them to the log.
 *
 * @param clean replaces secrets in its texts
 */
export function plainError(error: unknown, clean = (text: string) => text): Error {
  try {
    return copyOf(error, clean, 1);
  } catch {
    return new Error('an unreadable error');
  }
}

function copyOf(error: unknown, clean: (text: string) => string, depth: number): Error {
  if (!isError(error)) {
    const message = clean(describeError(error));
    return Object.assign(new Error(message), { stack: message });
  }
  const { name, message, stack, code, cause } = error;
  const copy = Object.create(Object.getPrototypeOf(error), {
    name: { value: name },
    // Enumerable, because bunyan writes only such properties unless the app has given it serializers.
    message: { value: clean(String(message)), enumerable: true },
    stack: { value: clean(String(stack ?? message)), enumerable: true },
  });
  if (code !== undefined)
    Object.defineProperty(copy, 'code', { value: clean(String(code)), enumerable: true });
  if (cause !== undefined && depth < MAX_CAUSES)
    Object.defineProperty(copy, 'cause', { value: copyOf(cause, clean, depth + 1) });
  return copy;
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
