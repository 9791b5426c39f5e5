import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { internalsOf } from '../../lib/auth.js';
import type { SpecApp } from './app.js';

/** A request by the cookie of a session. */
interface SlowRequest {
  readonly method: string;
  /** The path, with the one of the router. */
  readonly path: string;
  readonly token: string;
  readonly body: object;
}

/** Sends a request, and runs `meanwhile` after its session was looked up and before its body arrives. */
export async function sendSlowly(
  { auth, server }: Pick<SpecApp<never>, 'server'> & { readonly auth: Parameters<typeof internalsOf>[0] },
  { method, path, token, body }: SlowRequest,
  meanwhile: () => Promise<unknown>,
): Promise<{ readonly status: number; readonly code: string | undefined }> {
  const { sessions } = internalsOf(auth).core;
  const lookedUp = new Promise<void>((resolve) => {
    sessions.find = async (given) => {
      const found = await Object.getPrototypeOf(sessions).find.call(sessions, given);
      resolve();
      return found;
    };
  });
  const { port } = server.address() as AddressInfo;
  const json = JSON.stringify(body);
  const headers = {
    cookie: `latchkey=${token}`,
    'content-type': 'application/json',
    'content-length': String(json.length),
  };
  const slow = request({ port, method, path, headers });
  const answered = once(slow, 'response') as Promise<[IncomingMessage]>;
  slow.write(json.slice(0, 1));
  await lookedUp;
  Reflect.deleteProperty(sessions, 'find');
  await meanwhile();
  slow.end(json.slice(1));
  const [response] = await answered;
  const answer = await text(response);
  return {
    status: response.statusCode ?? 0,
    code: answer === '' ? undefined : (JSON.parse(answer) as { code?: string }).code,
  };
}
