import { once } from 'node:events';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';

const CONFIG = `import { createAuth, credentialPassword } from 'latchkey';
  import { movingIn } from 'latchkey/moving-in';
  export const auth = createAuth({
    database: 'sqlite:./app.db',
    secret: '${SECRET}',
    plugins: [credentialPassword(), movingIn()],
  });`;
const HASH = '$2b$04$LAAkqIYrNmfCTGrV6XQkPeLvKa8mf0YDqNzJ3qUuEJwhvQkMzQpO2';
const ada = { ref: 7, email: 'ada@example.com', emailVerified: true, passwordHash: HASH };
const grace = { ref: 'g', email: 'grace@example.com', createdAt: '2020-02-02T20:20:20.000Z' };
const lines = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

let project: CliProject | undefined;
beforeEach(async () => {
  project ??= await startProject();
  await project.call(['migrate', '--undo', 'all', '--yes']);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.js': CONFIG });
  await project.call(['migrate']);
}, 180_000);
afterAll(() => project?.remove());

const latchkey = (args: readonly string[], input?: string) =>
  (project as CliProject).call(['import', ...args], {}, input);

/** The emails of all accounts. */
async function emails(): Promise<unknown[]> {
  const auth = createAuth({ database: `sqlite:${project?.folder}/app.db`, secret: SECRET });
  const users = await auth.models.User.findAll({ order: ['email'] });
  await auth.close();
  return users.map((user) => user.get('email'));
}

describe('latchkey import', () => {
  test('takes JSON lines, and can be run again', async () => {
    await project?.write({ 'users.jsonl': `${lines(ada)}\n${lines(grace)}` });
    const first = await latchkey(['users.jsonl']);
    expect(first).toEqual({ code: 0, stdout: '2 accounts imported, 0 rows skipped.\n', stderr: '' });
    expect(await latchkey(['users.jsonl'])).toEqual(first);
    expect(await emails()).toEqual(['ada@example.com', 'grace@example.com']);
  });

  test('takes a JSON array from stdin', async () => {
    const { code, stdout } = await latchkey(['-', '--json'], JSON.stringify([ada, grace], null, 2));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      dryRun: false,
      users: [
        { ref: 7, id: expect.any(String) },
        { ref: 'g', id: expect.any(String) },
      ],
      skipped: [],
    });
  });

  test.each([
    ['rows', `export default ${JSON.stringify([ada])};`],
    ['a function', `export default async function* () { yield ${JSON.stringify(ada)}; }`],
  ])('takes a module that exports %s', async (_what, source) => {
    await project?.write({ 'users.js': source });
    expect((await latchkey(['users.js'])).stdout).toBe('1 account imported, 0 rows skipped.\n');
  });

  test('--dry-run imports nobody', async () => {
    const { code, stdout } = await latchkey(['-', '--dry-run'], lines(ada));
    expect([code, stdout]).toEqual([0, '1 account would be imported, 0 rows skipped.\n']);
    expect(await emails()).toEqual([]);
  });

  test('--update applies what has changed, and lists what it leaves alone', async () => {
    await latchkey(['-', '--source', 'crm'], lines(ada, grace, { ref: 'x', email: 'x@example.com' }));
    const auth = createAuth({
      database: `sqlite:${project?.folder}/app.db`,
      secret: SECRET,
      plugins: [movingIn()],
    });
    const { id } = (await auth.users.find({ email: grace.email })) ?? {};
    await auth.users.changeEmail(String(id), 'mine@example.com');
    await auth.close();
    const newer = lines({ ...ada, email: 'countess@example.com' }, grace, { ref: 9, email: 'j@example.com' });
    const planned = await latchkey(['-', '--source', 'crm', '--update', '--dry-run'], newer);
    expect(planned.stdout).toContain('This would be done: 1 account imported, 1 updated');
    const { code, stdout } = await latchkey(['-', '--source', 'crm', '--update'], newer);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^ {2}g: conflict: email was changed here since the import\n {2}x: vanished: the account \S+ no longer has a row\n1 account imported, 1 updated, 0 unchanged, 1 conflict, 1 vanished, 0 rows skipped\.\n$/,
    );
    expect(await emails()).toEqual([
      'countess@example.com',
      'j@example.com',
      'mine@example.com',
      'x@example.com',
    ]);
    const { stdout: json } = await latchkey(['-', '--source', 'crm', '--update', '--json'], newer);
    expect(JSON.parse(json)).toMatchObject({
      imported: 0,
      updated: 0,
      unchanged: 2,
      skipped: [],
      conflicts: [{ ref: 'g', field: 'email' }],
      vanished: [{ ref: 'x', id: expect.any(String) }],
    });
  });

  test('names the rows that it skips, and goes on', async () => {
    const { code, stdout } = await latchkey(
      ['-'],
      lines({ ref: 1, email: 'nonsense' }, ada, { ...ada, ref: 8 }),
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}1: \w+: .*\n {2}8: \w+: .*\n1 account imported, 2 rows skipped\.\n$/);
    expect(await emails()).toEqual(['ada@example.com']);
  });

  test('names a line that is no JSON, but quotes nothing of it', async () => {
    const { code, stderr } = await latchkey(['-'], `${lines(grace)}{ "email": "ada@example.com", ${HASH}\n`);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^latchkey: stdin:2 is not JSON/)]);
    expect(stderr).not.toContain('$2b');
    expect((await latchkey(['nothing.json'])).code).toBe(2);
  });

  test('an interrupt ends it, and keeps what has been imported', async () => {
    const source = `export default async function* () {
      for (let n = 0; n < 620; n++) yield { email: 'u' + n + '@example.com' };
      console.error('waiting');
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }`;
    await project?.write({ 'endless.js': source });
    const child = (project as CliProject).start(['import', 'endless.js']);
    let stderr = '';
    for await (const chunk of child.stderr as NodeJS.ReadableStream) {
      if (stderr === '') child.kill('SIGINT');
      stderr += chunk;
    }
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode];
    expect([code, stderr]).toEqual([130, 'waiting\nInterrupted.\n']);
    // On SQLite, a batch has 50 rows.
    expect(await emails()).toHaveLength(600);
  });
});
