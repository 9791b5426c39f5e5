import { type Auth, internalsOf } from '../../auth.js';
import { creationScript } from '../../migrations/script.js';
import type { ShownSchema } from './tables.js';

const HEADING = `-- latchkey's tables. To write this file again: npx latchkey schema --for sql --out <this file>
--
-- It is for databases that only need the empty tables, such as the shadow database of Prisma Migrate. Do not run it in the
-- database of your app: npx latchkey migrate creates the tables there, and records its migrations.`;

/** Returns the statements that create the tables in an empty database. */
export async function sqlSource(auth: Auth, { pgSchema }: ShownSchema): Promise<string> {
  const { core, migrations } = internalsOf(auth);
  const created = await creationScript(core.database, migrations, core.users.fieldColumns);
  const statements =
    pgSchema === 'public'
      ? created
      : [
          `CREATE SCHEMA IF NOT EXISTS ${pgSchema}`,
          `SET search_path TO ${pgSchema}`,
          ...created,
          'RESET search_path',
        ];
  return `${HEADING}\n\n${statements.map((sql) => `${sql};\n`).join('\n')}`;
}
