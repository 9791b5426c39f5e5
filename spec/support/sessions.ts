import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import { ada, type password, type SpecApp } from './app.js';

type PasswordApp = Pick<SpecApp<readonly [ReturnType<typeof password>]>, 'auth'>;

/** Signs Ada in. */
export async function signIn({ auth }: PasswordApp, rememberMe = false) {
  const { token, session } = await auth.credential.signIn({
    credential: ada.email,
    password: ada.password,
    rememberMe,
  });
  return { token, id: session.id, session, headers: { cookie: `latchkey=${token}` } };
}

/** Changes the row of a session. */
export function changeSession({ auth }: PasswordApp, id: string, values: object) {
  return auth.models.Session.update(values, { where: { id } });
}

export const SECOND = 1000;
export const HOUR = 3600 * SECOND;
export const DAY = 24 * HOUR;

export function ago(milliseconds: number): Date {
  return new Date(Date.now() - milliseconds);
}

/** Waits for background work, such as writing the last activity of a session. */
export function settled(auth: AnyAuth): Promise<void> {
  return internalsOf(auth).core.settle();
}
