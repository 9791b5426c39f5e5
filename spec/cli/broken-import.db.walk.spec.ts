// `npx latchkey import` is killed (kill -9), and run again.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuth, credentialPassword, oauth, twoFactor } from '../../lib/index.js';
import { github } from '../../lib/providers.js';
import { memoryLogger, SECRET } from '../support/app.js';
import { type CliProject, type Ended, startProject } from '../support/cli.js';
import { dialect, rows, type SpecDatabase } from '../support/database.js';
import { databaseFor } from '../support/migrated.js';

/** A statement at which the process kills itself: the first one that begins so, after so many others. */
interface Death {
  readonly at: string;
  readonly spared: number;
  readonly isBefore: boolean;
}

const CONFIG = `import { createAuth, credentialPassword, oauth, twoFactor } from 'latchkey';
  import { movingIn } from 'latchkey/moving-in';
  import { github } from 'latchkey/providers';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    baseUrl: 'http://localhost:3000',
    plugins: [
      credentialPassword({ bcryptCost: 4 }),
      oauth(),
      github({ clientId: 'id', clientSecret: 'secret' }),
      twoFactor(),
      movingIn(),
    ],
  });
  const death = JSON.parse(process.env.DEATH ?? 'null');
  if (death) {
    const { atStatements } = await import('${new URL('../support/at-statements.mjs', import.meta.url)}');
    atStatements(auth.models.User.sequelize, (sql) => {
      const isLast = sql.startsWith(death.at) && death.spared-- === 0;
      if (isLast && death.isBefore) process.kill(process.pid, 'SIGKILL');
      return () => {
        if (isLast) process.kill(process.pid, 'SIGKILL');
      };
    });
  }`;

const BATCH = dialect === 'sqlite' ? 50 : 200;
// Several batches. Every hundredth row cannot be imported.
const ROWS = `export default async function* () {
    for (let n = 0; n < 1100; n++) {
      if (n === ${BATCH} && process.env.PAUSES) {
        console.error('A batch is written.');
        await new Promise((resolve) => setTimeout(resolve, 600_000));
      }
      yield {
        ref: n,
        email: n % 100 === 99 ? 'nobody' : 'user-' + n + '@example.com',
        emailVerified: n % 2 === 0,
        passwordHash: '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae',
        createdAt: new Date(Date.UTC(2021, 0, 1) + n * 1000),
        accounts: [{ provider: 'github', subject: 1000 + n }],
        ...(n % 10 === 0 && {
          totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
          recoveryCodes: ['first-code-' + n, 'second-code-' + n],
        }),
      };
    }
  }`;

let project: CliProject;
let whole: { readonly ended: Ended; readonly stored: Awaited<ReturnType<typeof storedIn>> };
beforeAll(async () => {
  project = await startProject();
  await project.write({
    'package.json': '{ "type": "module" }',
    'latchkey.config.js': CONFIG,
    'users.js': ROWS,
  });
  const database = await migrated();
  whole = { ended: await importInto(database), stored: await storedIn(database) };
  await database.drop();
}, 180_000);
afterAll(() => project.remove());

async function migrated(): Promise<SpecDatabase> {
  const plugins = [
    credentialPassword({ bcryptCost: 4 }),
    oauth(),
    github({ clientId: 'id', clientSecret: 'secret' }),
    twoFactor(),
  ];
  const { database, migrate } = await databaseFor({ plugins });
  const baseUrl = 'http://localhost:3000';
  const auth = createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl,
    plugins,
    logger: memoryLogger(),
  });
  await migrate(auth);
  await auth.close();
  return database;
}

const ARGUMENTS = ['import', 'users.js', '--json'];
async function importInto({ url: DATABASE_URL }: SpecDatabase, environment = {}) {
  const ended = await project.run(ARGUMENTS, { DATABASE_URL, ...environment });
  // On a busy machine, an import shows its progress.
  return { ...ended, stderr: ended.stderr.replace(/^[\d,]+ rows?: .*…\n/gm, '') };
}

/** All that an import writes, but for the time at which it did. */
async function storedIn(database: SpecDatabase) {
  const read = (sql: string) => rows(database, sql);
  return {
    users: await read(
      `SELECT id, email, password_hash, created_at, CASE WHEN email_verified_at IS NULL THEN 0 ELSE 1 END AS verified
       FROM users ORDER BY id`,
    ),
    links: await read('SELECT user_id, provider, issuer, subject FROM accounts ORDER BY user_id, subject'),
    secrets: await read('SELECT user_id FROM totp_secrets ORDER BY user_id'),
    codes: await read('SELECT user_id, code_hash FROM recovery_codes ORDER BY user_id, code_hash'),
  };
}

test('an import that nobody kills takes every row that can be', () => {
  expect([whole.ended.code, whole.ended.stderr]).toEqual([1, '']);
  const { users, skipped } = JSON.parse(whole.ended.stdout);
  expect([users.length, skipped.length]).toEqual([1089, 11]);
  const { stored } = whole;
  const counts = Object.values(stored).map(({ length }) => length);
  expect(counts).toEqual([1089, 1089, 110, 220]);
});

describe('an import that is killed', () => {
  let database: SpecDatabase;
  const usersOfBatches = [0, BATCH - Math.floor(BATCH / 100)];

  /** Whole batches are there. The same command ends as if it had never been killed. */
  async function expectTheRest(batches: 0 | 1): Promise<void> {
    const { users, links } = await storedIn(database);
    expect([users.length, links.length]).toEqual([usersOfBatches[batches], usersOfBatches[batches]]);
    expect(await importInto(database)).toEqual(whole.ended);
    expect(await storedIn(database)).toEqual(whole.stored);
    await database.drop();
  }

  test('between two batches leaves one, and the next run does the rest', async () => {
    database = await migrated();
    const child = project.start(ARGUMENTS, { DATABASE_URL: database.url, PAUSES: '1' });
    const ended = once(child, 'exit');
    let stderr = '';
    for await (const chunk of child.stderr as NodeJS.ReadableStream) {
      stderr += chunk;
      if (stderr.includes('A batch is written.')) child.kill('SIGKILL');
    }
    // A slow machine also says how far it is.
    const said = stderr.replace(/^\d+ rows: .*\n/gm, '');
    expect([said, await ended]).toEqual(['A batch is written.\n', [null, 'SIGKILL']]);
    await expectTheRest(1);
  });

  test.each<[string, Death, 0 | 1]>([
    ['before its first user', { at: 'INSERT INTO users', spared: 0, isBefore: true }, 0],
    ['after the users of its first batch', { at: 'INSERT INTO users', spared: 0, isBefore: false }, 0],
    ['before the links of its second batch', { at: 'INSERT INTO accounts', spared: 1, isBefore: true }, 1],
    ['before a commit', { at: 'COMMIT', spared: 1, isBefore: true }, 1],
    ['after a commit, of which it does not know', { at: 'COMMIT', spared: 0, isBefore: false }, 1],
  ])('%s leaves whole batches, and the next run does the rest', async (_when, death, batches) => {
    database = await migrated();
    const killed = await importInto(database, { DEATH: JSON.stringify(death) });
    expect(killed).toEqual({ code: null, stdout: '', stderr: '' });
    await expectTheRest(batches);
  });
});
