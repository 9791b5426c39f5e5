import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { schemaIn, schemas } from '../support/schemas.js';

/** Where options are given, by the file of their schema: the config, or the call of a plugin. */
const ROOTS: readonly (readonly [path: string, file: string, schema: string])[] = [
  ['', 'config/config.ts', 'configSchema'],
  ['credentialPassword()', 'plugins/credential-password/options.ts', 'schema'],
  ['haveIBeenPwned()', 'plugins/credential-password/have-i-been-pwned.ts', 'schema'],
  ['emailSignIn()', 'plugins/email-sign-in/options.ts', 'optionsSchema'],
  ['admin()', 'plugins/admin/index.ts', 'schema'],
  ['oauth()', 'plugins/oauth/index.ts', 'schema'],
  ['apiKeys()', 'plugins/api-keys/index.ts', 'schema'],
  ['roles()', 'plugins/roles/index.ts', 'schema'],
  ['organizations()', 'plugins/organizations/options.ts', 'schema'],
  ['auditLog()', 'plugins/audit-log/index.ts', 'schema'],
  ['twoFactor()', 'plugins/two-factor/index.ts', 'schema'],
  ['passkeys()', 'plugins/passkeys/index.ts', 'optionsSchema'],
  ['pages()', 'pages/options.ts', 'schema'],
  ['movingIn()', 'moving-in/index.ts', 'schema'],
  ['altcha()', 'human-check/altcha.ts', 'schema'],
  ['turnstile()', 'human-check/services.ts', 'schema'],
  ['hcaptcha()', 'human-check/services.ts', 'schema'],
  ...['apple', 'github', 'gitlab', 'microsoft', 'oauth2', 'oidc', 'slack'].map(
    (provider) => [`${provider}()`, `plugins/oauth/providers/${provider}.ts`, 'schema'] as const,
  ),
  ['google()', 'plugins/oauth/providers/options.ts', 'discoveredSchema'],
  ['x()', 'plugins/oauth/providers/options.ts', 'endpointSchema'],
  ['auth.migrate()', 'migrations/migrate.ts', 'schema'],
  ['auth.prune()', 'upkeep.ts', 'schema'],
  ['auth.rotateSecrets()', 'upkeep.ts', 'schema'],
];
/** The options of these are on the pages about moving. */
const ELSEWHERE = /^moving-in\/(systems\/|import(-organizations)?\.ts)/;

const page = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../../docs/${name}.md`, import.meta.url)), 'utf8');
const section = (name: string, title: string) =>
  page(name)
    .replace(/^```[\s\S]*?^```/gm, '')
    .split(`# ${title}\n`)[1]
    ?.split('\n## ')[0] ?? '';
const codeIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const wordsIn = (text: string) => codeIn(text).flatMap((code) => code.match(/\w+/g) ?? []);

/** The words in code that describe an option, by its full path, such as `session.cookie.name`. */
const rows = new Map<string, readonly string[]>();
const shapes: (readonly [path: string, shape: z.core.$ZodShape])[] = [];
const options: string[] = [];

beforeAll(async () => {
  for (const [path, file, name] of ROOTS) shapes.push(...shapesIn(await schemaIn(file, name), path));
  for (const [path, shape] of shapes) options.push(...Object.keys(shape).map((name) => join(path, name)));
  readRows(page('configuration'));
  readRows(section('pages', 'The look'), 'pages()');
  for (const [name, plugin] of [
    ['credential-password', 'credentialPassword()'],
    ['email-sign-in', 'emailSignIn()'],
    ['oauth', 'oauth()'],
    ['passkeys', 'passkeys()'],
    ['two-factor', 'twoFactor()'],
    ['api-keys', 'apiKeys()'],
    ['admin', 'admin()'],
    ['roles', 'roles()'],
    ['organizations', 'organizations()'],
    ['audit-log', 'auditLog()'],
  ] as const)
    readRows(section(name, 'Options'), plugin);
  for (const check of ['humanCheck', 'altcha()', 'turnstile()', 'hcaptcha()'])
    rows.set(check, wordsIn(section('human-check', 'Options')));
  rows.set('rateLimit', wordsIn(section('limits', 'Options')));
  rows.set('haveIBeenPwned()', wordsIn(section('credential-password', 'Passwords from data breaches')));
  rows.set('movingIn()', wordsIn(section('bridges', 'Bridges: take over active sessions')));
  readRows(section('email', 'Options'), 'email');
  readRows(section('email', 'How emails look'), 'email.brand');
  readRows(section('languages', 'Options'), 'locale');
  readRows(section('webhooks', 'Options'), 'webhooks');
  readRows(section('limits', 'Options'), 'rateLimit');
  readRows(section('users', 'Fields'), 'user.fields');
  readRows(section('users', 'Hooks').replace(/^(\| `\w+)\(.*?`/gm, '$1`'), 'hooks');
  for (const [line, name, given] of page('code').matchAll(/^\| `(auth\.\w+)\((.*?)\)`.*$/gm))
    rows.set(`${name}()`, wordsIn(`\`${given}\` ${line}`));
  // This section describes the options of all providers in sentences.
  const ofProviders = wordsIn(section('oauth-reference', 'Options of providers'));
  const providers = ROOTS.flatMap(([path, file]) => (file.includes('/providers/') ? path : []));
  for (const [path] of shapes) if (providers.includes(path.split('.')[0] ?? '')) rows.set(path, ofProviders);
});

/** Reads tables of options. */
function readRows(text: string, prefix = ''): void {
  expect([prefix, text.length > 0]).toEqual([prefix, true]);
  for (const [line, first = ''] of text.matchAll(/^\| (.*?) \|.*$/gm))
    for (const name of codeIn(first)) rows.set(join(prefix, name), wordsIn(line.slice(`| ${first}`.length)));
}

test('every option is documented, in a row of its own or in the row of what contains it', () => {
  expect(options.length).toBeGreaterThan(200);
  expect(options).toEqual(expect.arrayContaining(['session.cookie.name', 'pages().theme.accent']));
  const missing = options.filter((path) => {
    const [, outer = '', name = ''] = /^(?:(.*)\.)?([^.]+)$/.exec(path) ?? [];
    const isDescribed = [...rows.keys()].some((row) => row === path || row.startsWith(`${path}.`));
    return !isDescribed && !rows.get(outer)?.includes(name);
  });
  expect(missing).toEqual([]);
});

test('every option that is documented exists', () => {
  const isOption = (path: string) => !path.endsWith('()');
  expect([...rows.keys()].filter((path) => isOption(path) && !options.includes(path))).toEqual([]);
});

test('no schema of options is left out', async () => {
  const namesIn = (shape: z.core.$ZodShape) => Object.keys(shape).sort().join();
  const known = new Set(shapes.map(([, shape]) => namesIn(shape)));
  const left: string[] = [];
  for (const { file, name, options: of } of schemas)
    if (!ELSEWHERE.test(file) && !known.has(namesIn((await schemaIn(file, name)).shape))) left.push(of);
  expect(left).toEqual([]);
});

/** The options of a schema and of all schemas within it, with their full path. */
function* shapesIn(schema: z.core.$ZodType, path: string): Generator<readonly [string, z.core.$ZodShape]> {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'object') {
    yield [path, def.shape];
    for (const [name, inner] of Object.entries(def.shape)) yield* shapesIn(inner, join(path, name));
  } else if (def.type === 'union') for (const one of def.options) yield* shapesIn(one, path);
  else if (def.type === 'array') yield* shapesIn(def.element, path);
  else if (def.type === 'record') yield* shapesIn(def.valueType, path);
  else if (def.type === 'pipe') yield* shapesIn(def.in, path);
  else if ('innerType' in def) yield* shapesIn(def.innerType, path);
}

function join(path: string, name: string): string {
  return [path, name].filter(Boolean).join('.');
}
