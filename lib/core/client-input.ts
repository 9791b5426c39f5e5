import type { CallContext } from '../context/call.js';
import { type RequestLike, toPlainRequest } from './authentication.js';

/** For whom the app's own code makes a call. It is shown in the list of sessions, told to listeners, and limited. */
export interface ClientInput {
  /**
   * The request that the call answers: the address and user agent are read from it, and a sign-in ends the sessions that
   * it carries.
   * @default none
   */
  request?: RequestLike;
  /** The address. @default the request's; without either, nothing is limited by address */
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
  return context.forClient({ ip, userAgent, request }, work);
}
