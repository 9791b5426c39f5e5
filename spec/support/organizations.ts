import type { Test } from 'supertest';
import type { SpecApp } from './app.js';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** A user with a session. */
export interface Person {
  readonly id: string;
  readonly email: string;
  readonly headers: { readonly cookie: string };
  /** Sends a request to one of latchkey's routes in the session. */
  send(method: Method, path: string, body?: object): Test;
}

/** An app whose users can have sessions. */
type App = Pick<SpecApp<[]>, 'http'> & {
  readonly auth: Pick<SpecApp<[]>['auth'], 'users' | 'createSession'>;
};

/** Creates a user whose email is verified, and a session. */
export async function person({ auth, http }: App, name: string): Promise<Person> {
  const email = `${name}@example.com`;
  const { id } = await auth.users.create({ email, emailVerified: true });
  const headers = { cookie: `latchkey=${(await auth.createSession(id)).token}` };
  const send = (method: Method, path: string, body?: object) => {
    const request = http[method](`/auth${path}`).set(headers);
    return body ? request.send(body) : request;
  };
  return { id, email, headers, send };
}
