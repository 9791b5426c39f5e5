import type { Response } from 'supertest';
import type { Auth } from '../../lib/index.js';
import { type SpecApp, sessionCookie } from './app.js';

/** The administrator that the specs about acting sessions name in the config. */
export const ROOT = 'root@example.com';

type ActingApp = Pick<SpecApp<never>, 'http'> & { readonly auth: Pick<Auth, 'users' | 'createSession'> };

/** Creates a user, or finds them. */
export async function userWith({ auth }: ActingApp, email: string): Promise<string> {
  const found = await auth.users.find({ email });
  return (found ?? (await auth.users.create({ email, emailVerified: true }))).id;
}

/** The cookie of a new session of a user. */
export async function cookieFor({ auth }: ActingApp, userId: string): Promise<string> {
  return `latchkey=${(await auth.createSession(userId)).token}`;
}

/** Sends the request with which an administrator starts to act as a user. */
export const act = (app: ActingApp, cookie: string, userId: string, body: object = { reason: 'ticket 7' }) =>
  app.http.post(`/auth/admin/users/${userId}/act`).set({ cookie }).send(body);

/** The cookie that a response sets. */
export const cookieIn = (answer: Response) => `latchkey=${sessionCookie(answer)?.value}`;

/** Makes {@link ROOT} act as a new user. */
export async function acting(app: ActingApp, email = 'ada@example.com') {
  const [adminId, userId] = [await userWith(app, ROOT), await userWith(app, email)];
  const own = await cookieFor(app, adminId);
  const answer = await act(app, own, userId).expect(200);
  const sessionId: string = answer.body.session.id;
  const cookie = cookieIn(answer);
  return { adminId, userId, sessionId, own, cookie, token: cookie.slice('latchkey='.length), answer };
}
