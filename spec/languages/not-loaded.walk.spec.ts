import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Prints the URL of every module that Node loads. */
const HOOKS = `import { writeSync } from 'node:fs';
  export async function load(url, context, next) {
    writeSync(1, url + '\\n');
    return next(url, context);
  }`;

/** An app with pages and emails, in which somebody signs up and opens a page. Prints what they see. */
const appWith = (locale: object | undefined) => `
  import express from 'express';
  import { authRouter, createAuth, credentialPassword, requireSession } from './lib/index.ts';
  import { pages } from './lib/pages.ts';
  const sent = [];
  const auth = createAuth({
    database: 'sqlite::memory:',
    secret: 'a secret for specs, of 32 bytes and more',
    baseUrl: 'http://localhost:3000',
    email: { send: ({ language }) => void sent.push(language) },
    plugins: [credentialPassword({ bcryptCost: 4, sendVerificationOnSignUp: true }), pages()],
    ${locale ? `locale: ${JSON.stringify(locale)},` : ''}
  });
  await auth.migrate();
  const app = express();
  app.get('/page', requireSession(auth), (_req, res) => void res.json({}));
  app.use('/auth', authRouter(auth));
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = 'http://127.0.0.1:' + server.address().port;
  const headers = { 'accept-language': 'fr', 'content-type': 'application/json' };
  const body = JSON.stringify({ email: 'ada@example.com', password: 'an analytical engine' });
  const { status } = await fetch(origin + '/auth/signup/credential', { method: 'POST', headers, body });
  const html = await (await fetch(origin + '/auth/sign-in', { headers })).text();
  const { detail } = await (await fetch(origin + '/page', { headers })).json();
  server.closeAllConnections();
  server.close();
  await auth.close();
  console.log('seen ' + JSON.stringify({ status, lang: /<html lang="([^"]*)"/.exec(html)[1], detail, sent }));`;

const asModule = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;

/** Returns what an app shows, and the files with words that it loads. */
async function outputOf(app: string) {
  const hooks = `import { register } from "node:module"; register(${JSON.stringify(asModule(HOOKS))});`;
  const imports = ['tsx', asModule(hooks)].map((one) => `--import=${one}`);
  const given = [...imports, '--input-type=module', '--eval', app];
  const { stdout } = await run(process.execPath, given, { cwd: root });
  const loaded = [...stdout.matchAll(/\/lib\/languages\/([\w-]+\/\w+)\.ts/g)].map(([, file]) => file);
  expect(stdout).toContain('/lib/http/admit.ts');
  return { seen: JSON.parse(/^seen (.*)$/m.exec(stdout)?.[1] ?? '{}'), loaded: [...new Set(loaded)].sort() };
}

test.each([
  ['without the option', undefined],
  ['with English alone', { languages: ['en'] }],
  ['with own words in English', { words: { en: { 'error.problems.unavailable': 'Not now.' } } }],
])('an app %s loads no other language', async (_what, locale) => {
  const { seen, loaded } = await outputOf(appWith(locale));
  expect(seen).toMatchObject({ status: 201, lang: 'en', sent: ['en'] });
  expect(loaded).toEqual([]);
});

test('an app with one other language loads only that one', async () => {
  const { seen, loaded } = await outputOf(appWith({ default: 'de' }));
  expect(seen).toMatchObject({ status: 201, lang: 'de', sent: ['de'] });
  expect(loaded).toEqual(['de/emails', 'de/errors', 'de/pages']);
});

test('an app with several loads those of its config', async () => {
  const { seen, loaded } = await outputOf(appWith({ languages: ['en', 'fr', 'pt-BR'] }));
  expect(seen).toMatchObject({ status: 201, lang: 'fr', sent: ['fr'] });
  const tags = new Set(loaded.map((file) => file?.replace(/\/.*/, '')));
  expect([...tags]).toEqual(['fr', 'pt-BR']);
});
