import { resolve } from 'node:path';
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

/** What a source is written from. */
interface Given {
  readonly auth: Auth;
  readonly schema: ShownSchema;
  /** The path of the file to write, or its usual path. */
  readonly file: string;
  /** The content of the file. Empty if there is none. */
  readonly present: string;
}

/** A tool that the tables can be written for. */
interface Tool {
  /** The usual path of the file. */
  readonly usual: string;
  source(given: Given): string | Promise<string>;
}

const TOOLS = {
  prisma: {
    usual: 'prisma/latchkey.prisma',
    source: ({ schema, present }) => prismaSource(schema, present),
  },
  drizzle: {
    usual: 'src/db/latchkey.ts',
    source: ({ schema, file }) => drizzleSource(schema, isVersion1(file)),
  },
  sql: { usual: 'prisma/latchkey.sql', source: ({ auth, schema }) => sqlSource(auth, schema) },
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
  const { usual, source: sourceOf }: Tool = TOOLS[name];
  const schema = schemaOf(auth);
  const result = { for: name, tables: schema.tables.map((table) => table.name) };
  if (given === undefined) {
    if (check) throw usageError(`--check requires --out with the file to check, such as --out ${usual}`);
    const text = await sourceOf({ auth, schema, file: resolve(usual), present: '' });
    out.result({ ...result, text }, text.trimEnd());
    return;
  }
  const written = await WrittenFile.read(given, usual);
  const { file, shown, present } = written;
  const command = `npx latchkey schema --for ${name}`;
  // The file can be one of the app's own, such as prisma/schema.prisma.
  if (present.trim() !== '' && !present.includes(`To write this file again: ${command} `))
    throw new Refusal(
      `--out: ${shown} is not a file of ${command}: choose another file`,
      'exists',
      EXIT.usage,
    );
  const source = await sourceOf({ auth, schema, file, present });
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

/** Whether a file imports version 1 of Drizzle. */
function isVersion1(file: string): boolean {
  return Number.parseInt(installedVersion('drizzle-orm', file) ?? '0', 10) > 0;
}
