import { Auth, type AuthConfig as AuthJsConfig } from '@auth/core';
import SequelizeAdapter from '@auth/sequelize-adapter';
import { toNodeHandler } from 'better-auth/node';
import express from 'express';
import type { CookieJar } from './cookie-jar.js';
import { rows, type SpecDatabase } from './database.js';
import { listening } from './old-app.js';

/** An app with Auth.js and its Sequelize adapter in the database of a spec, whose users sign in by an emailed link. */
export async function startAuthJs(database: SpecDatabase) {
  let link = '';
  const settings: { strategy: 'database' | 'jwt' } = { strategy: 'database' };
  const adapter = SequelizeAdapter(database.sequelize as never, { synchronize: false });
  // Create the tables in order, because they refer to each other.
  for (const name of ['user', 'account', 'session', 'verificationToken'])
    await database.sequelize.models[name]?.sync();
  const config = (): AuthJsConfig => ({
    adapter,
    basePath: '/old-auth',
    secret: 'the secret of Auth.js, of 32 bytes and more',
    trustHost: true,
    session: { strategy: settings.strategy },
    providers: [
      {
        id: 'email',
        type: 'email',
        name: 'Email',
        from: 'app@example.com',
        maxAge: 3600,
        options: {},
        sendVerificationRequest: async ({ url }: { url: string }) => {
          link = url;
        },
      } as never,
    ],
  });
  const { origin, stop } = await listening(
    express().use(toNodeHandler({ handler: (request: Request) => Auth(request, config()) } as never)),
  );
  const csrfToken = async (jar: CookieJar) => {
    const { body } = await jar.visit(`${origin}/old-auth/csrf`);
    return String((body as Record<string, unknown>).csrfToken);
  };
  return {
    settings,
    origin,
    stop,
    /** The user who is signed in, or null. */
    session: (jar: CookieJar) => jar.visit(`${origin}/old-auth/session`),
    /** Signs in by an emailed link. @returns the user's id */
    async signIn(jar: CookieJar, email: string): Promise<string> {
      const form = new URLSearchParams({ email, csrfToken: await csrfToken(jar) });
      await jar.visit(`${origin}/old-auth/signin/email`, { method: 'POST', body: form });
      await jar.visit(link);
      const [user] = await rows<{ id: string }>(database, 'SELECT id FROM users WHERE email = :email', {
        email,
      });
      return user?.id ?? '';
    },
    async signOut(jar: CookieJar): Promise<void> {
      const body = new URLSearchParams({ csrfToken: await csrfToken(jar) });
      await jar.visit(`${origin}/old-auth/signout`, { method: 'POST', body });
    },
  };
}
