import type { CallContext } from '../context/call.js';
import { type RequestLike, toPlainRequest } from './authentication.js';

/** The client for which the app makes a call. It is recorded in sessions and events, and used for rate limits. */
export interface ClientInput {
  /**
   * The request that the app is handling. The IP address and user agent are read from it, and a sign-in ends the
   * sessions that it carries.
   * @default none
   */
  request?: RequestLike;
  /** The client's IP address. @default the request's; without either, no limit by address applies */
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
  const request = input.request ? toPlainRequest(input.request) : null;
  const {
    ip = request ? (request.ip ?? null) : undefined,
    userAgent = request?.headers['user-agent'] ?? null,
  } = input;
  return context.forClient({ ip, userAgent, request }, work);
}
