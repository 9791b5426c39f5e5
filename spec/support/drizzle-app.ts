import { mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dialect } from '../../lib/database/connect.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What an app with Drizzle writes for its database. */
interface Written {
  readonly core: string;
  readonly table: string;
  readonly id: string;
  readonly text: string;
  /** The statements that open a database at `url`. */
  readonly open: string;
  readonly close: string;
  readonly imports: string;
}

const BY_DIALECT: Readonly<Record<Dialect, Written>> = {
  mysql: {
    core: 'mysql-core',
    table: 'mysqlTable',
    id: 'latchkeyId',
    text: 'varchar',
    imports: `import { drizzle } from 'drizzle-orm/mysql2';
      import { createPool } from 'mysql2/promise';`,
    // MariaDB does not have lateral joins.
    open: `const pool = createPool(url);
      const db = drizzle(pool, { schema: { ...latchkey, ...own }, mode: 'planetscale' });`,
    close: 'await pool.end();',
  },
  postgres: {
    core: 'pg-core',
    table: 'pgTable',
    id: 'uuid',
    text: 'varchar',
    imports: `import { drizzle } from 'drizzle-orm/node-postgres';
      import { Pool } from 'pg';`,
    open: `const pool = new Pool({ connectionString: url });
      const db = drizzle(pool, { schema: { ...latchkey, ...own } });`,
    close: 'await pool.end();',
  },
  sqlite: {
    core: 'sqlite-core',
    table: 'sqliteTable',
    id: 'text',
    text: 'text',
    imports: `import { drizzle } from 'drizzle-orm/sqlite-proxy';
      import { DatabaseSync } from '@photostructure/sqlite';`,
    open: `const sqlite = new DatabaseSync(url.replace('sqlite:', ''));
      const db = drizzle(
        async (text, values, method) => {
          const statement = sqlite.prepare(text);
          statement.setReturnArrays(true);
          const rows = statement.all(...values) as never[];
          return { rows: method === 'get' ? (rows[0] as never) : rows };
        },
        { schema: { ...latchkey, ...own } },
      );`,
    close: 'sqlite.close();',
  },
};

/** Returns the source of an app's own table `projects`, which refers to latchkey's table of users. */
export function ownTable(dialect: Dialect): string {
  const { core, table, id, text } = BY_DIALECT[dialect];
  const isOurs = id === 'latchkeyId';
  return `
    import { ${[...new Set([table, ...(isOurs ? [] : [id]), text])].join(', ')} } from 'drizzle-orm/${core}';
    import { authUsers${isOurs ? ', latchkeyId' : ''} } from './latchkey.js';
    export const projects = ${table}('projects', {
      id: ${id}('id').primaryKey(),
      ownerId: ${id}('owner_id').notNull().references(() => authUsers.id),
      title: ${text}('title', { length: 40 }).notNull(),
    });`;
}

/** Returns the files of an app that joins its own table with latchkey's tables, which have the prefix `auth_`. */
export function drizzleApp(dialect: Dialect): Readonly<Record<string, string>> {
  const { imports, open, close } = BY_DIALECT[dialect];
  return {
    'own.ts': `
      import { relations } from 'drizzle-orm';
      ${ownTable(dialect)}
      export const projectsRelations = relations(projects, ({ one }) => ({
        owner: one(authUsers, { fields: [projects.ownerId], references: [authUsers.id] }),
      }));`,
    'queries.ts': `
      import { eq } from 'drizzle-orm';
      ${imports}
      import * as latchkey from './latchkey.js';
      import * as own from './own.js';

      /** Reads the projects of a user, the user with their sessions, and the sessions that end then. */
      export async function read(url: string, userId: string, then: Date) {
        ${open}
        const { authUsers, authSessions } = latchkey;
        const joined = await db
          .select({ title: own.projects.title, email: authUsers.email, since: authUsers.createdAt })
          .from(own.projects)
          .innerJoin(authUsers, eq(own.projects.ownerId, authUsers.id))
          .where(eq(authUsers.id, userId));
        const [user] = await db.select().from(authUsers).where(eq(authUsers.id, userId));
        const related = await db.query.authUsers.findFirst({
          where: eq(authUsers.id, userId),
          with: { sessions: true },
        });
        const ending = await db.select().from(authSessions).where(eq(authSessions.expiresAt, then));
        ${close}
        return { joined, user, related, ending };
      }

      /** Reads a project with its owner and their sessions. Drizzle uses lateral joins for it. */
      export async function readProject(url: string) {
        ${open}
        const project = await db.query.projects.findFirst({
          with: { owner: { with: { sessions: true, totpSecret: true } } },
        });
        ${close}
        return project;
      }

      type Read = Awaited<ReturnType<typeof read>>;
      type Project = Awaited<ReturnType<typeof readProject>>;
      export const typed = {
        email: (it: Read): string | null | undefined => it.joined[0]?.email,
        since: (it: Read): Date | undefined => it.joined[0]?.since,
        ends: (it: Read): Date | undefined => it.related?.sessions[0]?.expiresAt,
        confirmed: (it: Project): Date | undefined => it?.owner.totpSecret?.confirmedAt,
        owner: (it: Project): string | undefined => it?.owner.sessions[0]?.userId,
        field: (it: Read): boolean | null | undefined => it.user?.newsletter,
        verified: (it: Read): Date | null | undefined => it.related?.emailVerifiedAt,
        // @ts-expect-error: it is hidden.
        hash: (it: Read) => it.user?.passwordHash,
      };`,
  };
}

/** A folder with files of an app, and the packages of this project. */
export class FilesOfApp {
  private constructor(readonly folder: string) {}

  static async create(): Promise<FilesOfApp> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-files-')));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    return new FilesOfApp(folder);
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, content] of Object.entries(files)) await writeFile(join(this.folder, name), content);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
