import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SECRET } from '../support/app.js';
import { type CliProject, type Ended, startProject } from '../support/cli.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the apps below use without declaring it. */
const GIVEN = `
  import express from 'express';
  import { admin, authRouter, createAuth, optionalSession, publicRoute, organizations, requireAdmin, requireMember, requireSession } from 'latchkey';
  const auth = createAuth({ database: 'sqlite::memory:', secret: '${SECRET}', plugins: [admin({ adminEmails: ['ada@example.com'] }), organizations()] });
  const guard = requireSession(auth);
  const answer = (req, res) => res.send('answered');
  export const app = express();
`;

describe.each([
  ['4', 'express4'],
  ['5', 'express'],
])('latchkey routes with Express %s', (version, installed) => {
  let project: CliProject;
  beforeAll(async () => {
    project = await startProject('tsx');
    await symlink(join(root, 'node_modules', installed), join(project.folder, 'node_modules/express'));
    await project.write({ 'package.json': '{ "type": "module" }' });
  }, 180_000);
  afterAll(() => project.remove());

  /** Runs the command on an app. Resolves to the lines before the empty one. */
  async function routesOf(code: string, ...args: string[]): Promise<string[]> {
    const { code: exit, stdout, stderr } = await runOn(`${GIVEN}${code}`, ...args);
    expect([exit, stderr]).toEqual([0, '']);
    return stdout.split('\n\n')[0]?.split('\n') ?? [];
  }

  async function runOn(code: string, ...args: string[]): Promise<Ended> {
    await project.write({ 'app.js': code });
    return project.run(['routes', ...args]);
  }

  test('lists routes that are added later, to a router of latchkey, or to another app', async () => {
    const routes = await routesOf(`
      const router = authRouter(auth);
      router.get('/debug', answer);
      app.use('/auth', router);
      const connect = Object.assign((req, res, next) => next(), { stack: [{ route: '/x', handle: answer }] });
      app.use('/connect', connect);
      const other = express();
      other.get('/metrics', answer);
      new Promise((resolve) => setTimeout(resolve, 100)).then(() => app.get('/late', guard, answer));
    `);
    expect(routes).toEqual([
      'USE /auth (router) latchkey',
      // Here, latchkey's router is not from the app's copy of Express if that is Express 4.
      `GET /auth${version === '4' ? '?' : '/debug'} unknown`,
      'USE /connect (anonymous) unknown',
      'GET /late guarded by requireSession',
      'GET /metrics unknown',
    ]);
  });

  test('knows the guards that --guards names', async () => {
    const code = `
      function isLoggedIn(req, res, next) { res.sendStatus(401); }
      const isOwner = (req, res, next) => res.sendStatus(403);
      app.get('/x', isLoggedIn, isOwner, answer);`;
    expect(await routesOf(code)).toEqual(['GET /x unknown']);
    expect(await routesOf(code, '--guards', 'isLoggedIn, isOwner')).toEqual([
      'GET /x guarded by isLoggedIn, isOwner',
    ]);
    const recovers =
      'function isLoggedIn(error, req, res, next) { next(); }\napp.get("/x", isLoggedIn, answer);';
    expect(await routesOf(recovers, '--guards', 'isLoggedIn')).toEqual(['GET /x unknown']);
    // The function that passport.session() returns admits every request.
    const { code: exit, stderr } = await runOn(code, '--guards', 'isLoggedIn,authenticate');
    expect([exit, stderr]).toEqual([2, expect.stringContaining('wrap passport.authenticate(…)')]);
  });

  test('--check fails for what is not in the list that --write has written', async () => {
    const code = `${GIVEN}app.get('/b', guard, answer);\napp.get('/a', publicRoute('two\\n  lines'), answer);`;
    const none = await runOn(code, '--check');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('there is no latchkey.routes.txt')]);
    expect((await runOn(code, '--write')).code).toBe(0);
    const list = await readFile(join(project.folder, 'latchkey.routes.txt'), 'utf8');
    expect(list).toBe('GET /a public: two lines\nGET /b guarded by requireSession\n');
    expect(await runOn(code, '--check')).toMatchObject({
      code: 0,
      stdout: 'Every route is in latchkey.routes.txt.\n',
    });

    const changed = `${GIVEN}app.get('/b', answer);\napp.get('/a', answer);\napp.get('/a', answer);`;
    const { code: exit, stdout } = await runOn(changed, '--check', '--json');
    expect([exit, JSON.parse(stdout)]).toMatchObject([
      1,
      {
        added: ['GET /a unknown', 'GET /a unknown', 'GET /b unknown'],
        removed: ['GET /a public: two lines', 'GET /b guarded by requireSession'],
      },
    ]);
    const text = await runOn(changed, '--check');
    expect(text.stdout).toMatch(
      /^Not in latchkey\.routes\.txt\. .*:(\n {2}GET \/a unknown){2}\n {2}GET \/b unknown\nIn /,
    );
    const fewer = await runOn(`${GIVEN}app.get('/b', guard, answer);`, '--check');
    expect([fewer.code, fewer.stdout]).toEqual([0, expect.stringContaining('but not in the app:')]);
  });

  test('--check --tenant fails for an unscoped route until it has a reason', async () => {
    const code = `${GIVEN}
      app.get('/:organization/open', guard, answer);
      app.get('/:organization/projects', requireMember(auth), answer);`;
    const listed = await runOn(code, '--tenant', 'organization');
    expect([listed.code, listed.stdout.split('\n').slice(0, 2)]).toEqual([
      0,
      [
        'GET /:organization/open guarded by requireSession → unscoped: organization',
        'GET /:organization/projects guarded by requireMember',
      ],
    ]);
    expect((await runOn(code, '--write')).code).toBe(0);
    expect((await runOn(code, '--check')).code).toBe(0);
    const checked = await runOn(code, '--check', '--tenant', 'organization', '--json');
    const line = 'GET /:organization/open guarded by requireSession';
    expect([checked.code, JSON.parse(checked.stdout).unscoped]).toEqual([1, [line]]);
    const list = 'latchkey.routes.txt';
    const text = await readFile(join(project.folder, list), 'utf8');
    await project.write({ [list]: text.replace(line, `${line} # shows only the logo`) });
    for (const more of [['--tenant', 'organization'], []])
      expect((await runOn(code, '--check', ...more)).code).toBe(0);
    // Writing the list again keeps the reason.
    expect((await runOn(code, '--write')).code).toBe(0);
    expect(await readFile(join(project.folder, list), 'utf8')).toContain(`${line} # shows only the logo`);
    const unknown = await runOn(code, '--tenant', 'organisation');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining(':organisation')]);
  });

  test('--probe asks without a session, and runs nothing behind guards', async () => {
    const { code, stdout, stderr } = await runOn(
      `${GIVEN}
      const run = (name) => (req, res, next) => { console.error('ran ' + name); next(); };
      function broken(req, res, next) { next(); }
      app.use(run('first'));
      app.use('/kept', guard, run('behind'), express.Router().post('/:id', run('parameter'), answer));
      app.get('/open/new', answer);
      app.get('/open/:id', answer);
      app.get('/refused', (req, res) => res.sendStatus(418), answer);
      app.get('/broken', broken, run('handler'), answer);
      app.get(/^\\/pattern/, answer);
      app.use('', express.Router().use('/inner', express.Router().get('/:id', guard, answer)));
      app.use('/auth', authRouter(auth));`,
      '--probe',
      '--json',
      '--guards',
      'broken',
    );
    expect([code, new Set(stderr.trim().split('\n'))]).toEqual([1, new Set(['ran first'])]);
    const { routes } = JSON.parse(stdout);
    expect(routes.map(({ path, name, probe }: Record<string, string>) => [name ?? path, probe])).toEqual([
      ['anonymous', null],
      ['anonymous', null],
      ['/kept/:id', { status: 401, isReached: false }],
      ['/open/new', { status: 200, isReached: true }],
      ['/open/:id', { status: 200, isReached: true }],
      ['/refused', { status: 418, isReached: false }],
      ['/broken', { status: 200, isReached: true }],
      ['/^\\/pattern/', null],
      ['/inner/:id', { status: 401, isReached: false }],
      ['router', null],
    ]);
  });

  test.each([
    ['exports nothing', '', 'app.listen(3000, () => console.error("listens"));\napp.get("/late", answer);'],
    ['waits until it listens', '', 'await new Promise((resolve) => app.listen(3000, resolve));'],
    ['has a server', '', 'createServer(app).listen(3000);'],
    ['exports a server, with which another module listens', '', 'export const server = createServer(app);'],
  ])('finds an app that %s, and does not let it listen', async (_what, _, code) => {
    const {
      code: exit,
      stdout,
      stderr,
    } = await runOn(
      `${GIVEN.replace('export ', "import { createServer } from 'node:http';\nconsole.log('starts');")}
      app.get('/x', guard, answer);\n${code}`,
      '--json',
    );
    expect([exit, stderr]).toEqual([0, 'starts\n']);
    expect(JSON.parse(stdout).routes[0]).toEqual({
      method: 'GET',
      path: '/x',
      access: 'guarded',
      by: ['requireSession'],
      name: null,
    });
  });

  test('loads TypeScript and CommonJS, by package.json or by name', async () => {
    await mkdir(join(project.folder, 'src'), { recursive: true });
    await project.write({
      'package.json': '{ "type": "module", "scripts": { "start": "tsx src/server.ts" } }',
      'src/server.ts': `${GIVEN}const path: string = '/typed';\napp.get(path, guard, answer);`,
      'old/app.cjs': `const express = require('express');
        module.exports = express().get('/common', answer);
        function answer() {}`,
    });
    expect((await project.run(['routes'])).stdout).toMatch(
      /^GET \/typed guarded by requireSession\n\n1 route: 1 guarded/,
    );
    expect((await project.run(['routes', 'old/app.cjs'])).stdout).toMatch(/^GET \/common unknown\n/);
    const missing = await project.run(['routes', 'nothing.js']);
    expect([missing.code, missing.stderr]).toEqual([2, 'latchkey: there is no file nothing.js\n']);
    await project.write({
      'package.json': '{ "type": "module" }',
      'two.js': `${GIVEN.replace('export ', '')}
      app.get('/x', guard, answer);
      express().get('/x', answer).listen(1);`,
    });
    const two = await project.run(['routes', 'two.js', '--probe']);
    expect([two.code, two.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^GET \/x guarded by requireSession → 401\nGET \/x unknown → reached .*\n\n2 routes/,
      ),
    ]);
  });
});
