// The first example of the docs' pages about one task each, as it stands there. tasks.e2e.spec.ts runs whole programs.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { transform } from 'esbuild';
import express from 'express';
import { createTransport } from 'nodemailer';
import { DataTypes, Model } from 'sequelize';
import { SMTPServer } from 'smtp-server';
import request from 'supertest';
import * as latchkey from '../lib/index.js';
import { nodemailerEmail } from '../lib/nodemailer.js';
import * as providers from '../lib/providers.js';
import { ada, memoryLogger, SECRET } from './support/app.js';
import { createDatabase, rows, type SpecDatabase } from './support/database.js';
import { blocks, page } from './support/docs-project.js';
import { startLyingProvider } from './support/lying-provider.js';
import { expectProblem } from './support/problem.js';

let database: SpecDatabase;
let stops: (() => Promise<unknown>)[];
beforeEach(async () => {
  database = await createDatabase();
  stops = [];
});
afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  await database.drop();
});

/** What an example needs besides its imports. */
interface Around {
  /** A part of the example. */
  readonly has?: string;
  /** Replaces the parts that differ on each machine. */
  readonly text?: (code: string) => string;
  /** For an example without a config. */
  readonly auth?: latchkey.Auth;
}

/** Runs the first TypeScript example of a page that has a part, and serves its app. */
async function serve(page: string, { has = 'createAuth({', text = (code) => code, auth }: Around = {}) {
  const example = (await blocks(page, 'ts')).find((code) => code.includes(has));
  const ofSpec = text(String(example)).replace(/database: '[^']*'/, `database: '${database.url}'`);
  const { code } = await transform(ofSpec.replace(/^import .*\n/gm, ''), { loader: 'ts' });
  const app = express();
  const scope = {
    ...providers,
    ...latchkey,
    DataTypes,
    Model,
    createTransport,
    nodemailerEmail,
    createAuth: (config: latchkey.AuthConfig<[]>) =>
      latchkey.createAuth({ ...config, logger: memoryLogger() }),
    app,
    // An example that creates an app gets this one.
    express: Object.assign(() => app, express),
    sequelize: database.sequelize,
    process: {
      env: {
        AUTH_SECRET: SECRET,
        BASE_URL: 'http://localhost:3000',
        GOOGLE_CLIENT_ID: 'a-client',
        GOOGLE_CLIENT_SECRET: 'a-secret',
      },
    },
    ...(auth && { auth }),
  };
  const run = new Function(...Object.keys(scope), `return (async () => { ${code}\nreturn auth; })()`);
  const made: latchkey.Auth = await run(...Object.values(scope));
  stops.push(() => made.close());
  // The tables of the example's own models.
  await database.sequelize.sync();
  await made.migrate();
  app.use('/auth', latchkey.authRouter(made));
  const server: Server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return {
    auth: made,
    browser: () => request.agent(server),
    /** Signs up and in. */
    async signedIn(fields: object = {}) {
      const browser = request.agent(server);
      await browser
        .post('/auth/signup/credential')
        .send({ ...ada, ...fields })
        .expect(201);
      await browser
        .post('/auth/signin/credential')
        .send({ credential: ada.email, password: ada.password })
        .expect(200);
      return browser;
    },
  };
}

test('guards.md: each guard accepts what it says', async () => {
  const { admin, credentialPassword } = latchkey;
  const auth = latchkey.createAuth({
    database: database.url,
    secret: SECRET,
    bearerEnabled: true,
    plugins: [credentialPassword(), admin({ adminEmails: [ada.email] })],
    logger: memoryLogger(),
  });
  const app = await serve('guards.md', { has: 'requireSession', auth: auth as unknown as latchkey.Auth });
  const stranger = app.browser();
  expectProblem(await stranger.get('/reports'), 401, 'unauthenticated');
  expectProblem(await stranger.get('/ops'), 401, 'unauthenticated');
  expect((await stranger.get('/')).text).toBe('Hello stranger');
  const browser = await app.signedIn();
  expect((await browser.get('/reports').expect(200)).body).toEqual({ for: ada.email });
  expect((await browser.get('/devices').expect(200)).body).toEqual({ since: expect.any(String) });
  expect((await browser.get('/')).text).toBe(`Hello ${ada.email}`);
  expectProblem(await browser.get('/ops'), 403, 'admin_required');
  const user = await auth.users.find({ email: ada.email });
  await auth.markEmailVerified(String(user?.id));
  expect((await browser.get('/ops').expect(200)).text).toBe('for administrators');
});

test('admin.md: the owner is an administrator once the email is verified, and no one else is', async () => {
  const app = await serve('admin.md', { text: (code) => code.replace('owner@example.com', ada.email) });
  const browser = await app.signedIn();
  expectProblem(await browser.get('/ops'), 403, 'admin_required');
  const user = await app.auth.users.find({ email: ada.email });
  await app.auth.markEmailVerified(String(user?.id));
  expect((await browser.get('/ops').expect(200)).text).toBe(`Hello ${ada.email}`);
});

test('google.md: users sign in by the link, and come back to the registered address', async () => {
  const provider = await startLyingProvider();
  stops.push(() => provider.stop());
  const app = await serve('google.md', {
    text: (code) => code.replace('google({', `google({ issuer: '${provider.issuer}',`),
  });
  const browser = app.browser();
  const [link = ''] = /\/auth\/oauth\/google\/authorize[^"]+/.exec(await page('google.md')) ?? [];
  const { headers } = await browser.get(link).expect(302);
  const back = await fetch(String(headers.location), { redirect: 'manual' });
  const callback = new URL(String(back.headers.get('location')));
  expect(await page('google.md')).toContain(`\`${callback.origin}${callback.pathname}\``);
  await browser.get(callback.pathname + callback.search).expect('location', '/welcome');
  const { body } = await browser.get('/auth/me').expect(200);
  expect(body.user.email_verified_at).toEqual(expect.any(String));
});

test('users.md: a field is asked for at sign-up, and the app reads it', async () => {
  const app = await serve('users.md');
  expectProblem(await app.browser().post('/auth/signup/credential').send(ada), 422, 'validation_failed');
  const browser = await app.signedIn({ name: 'Ada' });
  expect((await browser.get('/hello').expect(200)).text).toBe('Hello Ada');
});

test('users.md: an account has a row of the app, which is deleted with it', async () => {
  const names = async () => (await rows(database, 'SELECT name FROM users')).map(({ name }) => name);
  const app = await serve('users.md', { has: 'user: {\n    model: AppUser' });
  const browser = await app.signedIn({ name: 'Ada' });
  expect((await browser.get('/hello').expect(200)).text).toBe('Hello Ada');
  expect(await names()).toEqual(['Ada']);
  await browser.delete('/auth/me').send({ password: ada.password }).expect(204);
  expect(await names()).toEqual([]);
});

test('email.md: a forgotten password is reset by email', async () => {
  const mails: string[] = [];
  let arrived = () => {};
  const mailServer = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, _session, done) {
      const parts: Buffer[] = [];
      stream.on('data', (part) => parts.push(part));
      stream.on('end', () => {
        mails.push(Buffer.concat(parts).toString().replace(/=\r\n/g, '').replaceAll('=3D', '='));
        done();
        arrived();
      });
    },
  });
  mailServer.listen(0, '127.0.0.1');
  await once(mailServer.server, 'listening');
  const { port } = mailServer.server.address() as AddressInfo;
  stops.push(() => new Promise((resolve) => mailServer.close(() => resolve(undefined))));
  const mailWith = async (words: string, work: () => PromiseLike<unknown>) => {
    const arrival = new Promise<void>((resolve) => {
      arrived = () => mails.at(-1)?.includes(words) && resolve();
    });
    await work();
    await arrival;
    return /token=([\w-]+)/.exec(String(mails.at(-1)))?.[1];
  };
  const app = await serve('email.md', { text: (code) => code.replace('localhost:25', `127.0.0.1:${port}`) });
  const browser = app.browser();
  const token = await mailWith('/verify-email?token=', () =>
    browser.post('/auth/signup/credential').send(ada).expect(201),
  );
  await browser.post('/auth/verify-email').send({ token, password: ada.password }).expect(200);
  const reset = await mailWith('/reset-password?token=', () =>
    browser.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
  );
  const password = 'another engine, of differences';
  await browser.post('/auth/passwords/reset').send({ token: reset, new_password: password }).expect(204);
  const again = app.browser();
  await again
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password })
    .expect(401);
  await again.post('/auth/signin/credential').send({ credential: ada.email, password }).expect(200);
});
