/** Anything with these four methods: `console`, pino, winston … */
export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

/** The default: warnings and errors go to the console, the rest nowhere. */
export const consoleLogger: Logger = {
  debug() {},
  info() {},
  warn: (...args) => console.warn(...args),
  error: (...args) => console.error(...args),
};
