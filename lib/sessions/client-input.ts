import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import { type RequestLike, toPlainRequest } from './request.js';

/** The transaction of the app that a call takes part in. */
export interface TransactionOption {
  /**
   * A transaction of the Sequelize instance that is the config's `database`. What the call writes is committed and rolled
   * back with it; events and emails go out after its commit. A deadlock or serialization failure is thrown as Sequelize's
   * error: it is up to the app to run its transaction again.
   * @default none: the call commits what it writes
   */
  transaction?: Transaction | null | undefined;
}

/** The client for which the app makes a call. It is recorded in sessions and events, and used for rate limits. */
export interface ClientInput extends TransactionOption {
  /**
   * The request that the app is handling. The IP address and user agent are read from it, and a sign-in ends the
   * sessions that it carries. Requests without a known address share one rate limit.
   * @default none
   */
  request?: RequestLike;
  /** The client's IP address, or null if unknown. @default the request's; without a request, no limit by address applies */
  ip?: string | null;
  /** The client's user agent. @default the request's, or none */
  userAgent?: string | null;
}

/** Runs `work` for the client given in the input, or for the current one if there is none. */
export async function forClientOf<T>(
  context: CallContext,
  input: ClientInput,
  work: () => Promise<T>,
): Promise<T> {
  if (input.request === undefined && input.ip === undefined && input.userAgent === undefined) return work();
  const request = input.request === undefined ? null : toPlainRequest(input.request);
  const {
    ip = request ? (request.ip ?? null) : undefined,
    userAgent = request?.headers['user-agent'] ?? null,
  } = input;
  for (const [name, value] of Object.entries({ ip, userAgent })) {
    if (value === null || value === undefined || typeof value === 'string') continue;
    throw new TypeError(`latchkey: ${name} must be a string or null`);
  }
  return context.forClient({ ip: plainAddress(ip), userAgent, request }, work);
}

/** Converts IPv4-mapped IPv6 addresses to IPv4. */
export function plainAddress(ip: string | null | undefined): string | null | undefined {
  return typeof ip === 'string' ? ip.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '') : ip;
}

/**
 * Requires that an input has no keys but these, since a misspelt one would otherwise be ignored. Keys without a value are.
 *
 * @param where the call, for the error
 * @throws TypeError naming the others
 */
export function requireKnownKeys(where: string, input: object, known: readonly string[]): void {
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  const others = given.map(([name]) => name).filter((name) => !known.includes(name));
  if (others.length === 0) return;
  throw new TypeError(`latchkey: ${where} takes no ${others.join(', ')}: it takes ${known.join(', ')}`);
}
