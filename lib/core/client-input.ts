import type { CallContext } from '../context/call.js';
import { type RequestLike, toPlainRequest } from './authentication.js';

/** For whom the app's own code makes a call. It is shown in the list of sessions, told to listeners, and limited. */
export interface ClientInput {
  /**
   * The request that the call answers: the address and user agent are read from it, and a sign-in ends the sessions that
   * it carries. Requests whose address is unknown are limited together.
   * @default none
   */
  request?: RequestLike;
  /** The address; null if it is unknown. @default the request's; without a request, nothing is limited by address */
  ip?: string | null;
  /** What the browser or program calls itself. @default the request's, else none */
  userAgent?: string | null;
}

/** Does work for the client that the input names, or else for the current one. */
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

/** An IPv4 address that is mapped into IPv6 is written as IPv4. */
export function plainAddress<A extends string | null | undefined>(ip: A): A {
  return ip?.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '') as A;
}
