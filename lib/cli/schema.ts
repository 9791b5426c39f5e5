import { type Command, Option } from 'commander';
import type { Auth } from '../auth.js';
import type { Acting, Call } from './call.js';
import { EXIT, Refusal, usageError } from './output.js';
import { drizzleSource } from './schema/drizzle.js';
import { prismaSource } from './schema/prisma.js';
import { sqlSource } from './schema/sql.js';
import { type ShownSchema, schemaOf } from './schema/tables.js';
import { installedVersion } from './versions.js';
import { WrittenFile } from './written-file.js';

/** A tool that the tables can be written for. */
interface Tool {
  /** The usual path of the file. */
  readonly file: string;
  /** @param present the content of the file. Empty if there is none */
  source(auth: Auth, schema: ShownSchema, present: string): string | Promise<string>;
}

const TOOLS = {
  prisma: {
    file: 'prisma/latchkey.prisma',
    source: (_auth, schema, present) => prismaSource(schema, present),
  },
  drizzle: { file: 'src/db/latchkey.ts', source: (_auth, schema) => drizzleSource(schema, hasParts()) },
  sql: { file: 'prisma/latchkey.sql', source: sqlSource },
} satisfies Readonly<Record<string, Tool>>;

interface SchemaOptions {
  readonly for: keyof typeof TOOLS;
  readonly out?: string;
  readonly check?: boolean;
}

/** Adds `latchkey schema`. */
export function addSchema(parent: Command, acting: Acting): void {
  parent
    .command('schema')
    .description(
      'Write the tables of the config for Prisma, for Drizzle or as SQL, so that you can join them.',
    )
    .addOption(new Option('--for <tool>', 'what to write').choices(Object.keys(TOOLS)).makeOptionMandatory())
    .option('--out <file>', 'write to this file instead of stdout')
    .option('--check', 'write nothing, and exit with code 1 if the file is not up to date')
    .action(acting(writeSchema));
}

async function writeSchema({ auth, out, options, fail }: Call): Promise<void> {
  const { for: name, out: given, check = false } = options as unknown as SchemaOptions;
  const { file: usual, source: sourceOf }: Tool = TOOLS[name];
  const schema = schemaOf(auth);
  const result = { for: name, tables: schema.tables.map((table) => table.name) };
  if (given === undefined) {
    if (check) throw usageError(`--check requires --out with the file to check, such as --out ${usual}`);
    const text = await sourceOf(auth, schema, '');
    out.result({ ...result, text }, text.trimEnd());
    return;
  }
  const written = await WrittenFile.read(given, usual);
  const { file, shown, present } = written;
  const command = `npx latchkey schema --for ${name}`;
  // The file can be one of the app's own, such as prisma/schema.prisma.
  if (present.trim() !== '' && !present.includes(command))
    throw new Refusal(
      `--out: ${shown} is not a file of ${command}: choose another file`,
      'exists',
      EXIT.usage,
    );
  const source = await sourceOf(auth, schema, present);
  const isCurrent = written.isSame(source);
  if (isCurrent) {
    out.result({ ...result, file, isCurrent }, `${shown} is up to date.`);
    return;
  }
  if (check) {
    fail();
    const state = present === '' ? 'does not exist' : 'is not up to date';
    out.result({ ...result, file, isCurrent }, `${shown} ${state}: run ${command} --out ${shown}`);
    return;
  }
  await written.write(source);
  out.result({ ...result, file, isCurrent }, `Wrote ${shown}. Its first lines say how to use it.`);
}

/** Whether the project's version of Drizzle has the relations of version 1. */
function hasParts(): boolean {
  return Number.parseInt(installedVersion('drizzle-orm', `${process.cwd()}/package.json`) ?? '0', 10) > 0;
}
