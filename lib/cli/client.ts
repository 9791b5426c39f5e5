import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { type Auth, internalsOf } from '../auth.js';
import type { FieldOptions } from '../config/user.js';
import { snakeCase } from '../tables/column.js';
import type { Acting, Call } from './call.js';
import { type Refusal, usageError } from './output.js';

const FILE = 'latchkey-shape.ts';

/** Adds `latchkey client`. */
export function addClient(parent: Command, acting: Acting): void {
  parent
    .command('client')
    .description(
      'Write a TypeScript interface with the parts of the config that clients of latchkey/client need.',
    )
    .option('--out <file>', 'the file to write; an existing file is replaced', FILE)
    .option('--check', 'write nothing, and exit with code 1 if the file is not up to date')
    .action(acting(writeShape));
}

async function writeShape({ auth, out, options, fail }: Call): Promise<void> {
  const { out: given, check = false } = options as { out: string; check?: boolean };
  const file = resolve(given);
  const shown = relative(process.cwd(), file);
  const source = shapeOf(auth);
  const present = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw fileError(given, 'read', error);
  });
  const isCurrent = withoutFormat(present) === withoutFormat(source);
  if (isCurrent) {
    out.result({ file, isCurrent }, `${shown} is up to date.`);
    return;
  }
  if (check) {
    fail();
    out.result({ file, isCurrent }, `${shown} is not up to date: run npx latchkey client --out ${shown}`);
    return;
  }
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, source);
  } catch (error) {
    throw fileError(given, 'written', error as NodeJS.ErrnoException);
  }
  out.result(
    { file, isCurrent },
    `Wrote ${shown}. To get a compile error when it is out of date:

  export const auth = createAuth({ … }) satisfies HasShape<Shape>;`,
  );
}

function fileError(given: string, verb: string, { code, message }: NodeJS.ErrnoException): Refusal {
  const example = code === 'EISDIR' ? join(given, FILE) : FILE;
  return usageError(
    `--out: ${given} cannot be ${verb}: ${message}. Pass the path of a file that can be written, such as ${example}`,
  );
}

/** Returns the source of the interface. */
function shapeOf(auth: Auth): string {
  const { core, routes } = internalsOf(auth);
  const plugins = new Set(routes().flatMap(({ plugin }) => plugin ?? []));
  const fields = Object.entries(core.settings.user.fields);
  const shown = fields.filter(([, { output = 'self' }]) => output === 'self');
  const open = fields.filter(([, { input = 'user' }]) => input === 'user');
  return `/** What this app's server has. Written by \`npx latchkey client\`. */
export interface Shape {
  plugins: ${[...plugins].sort().map(quoted).join(' | ') || 'never'};
  fields: ${membersOf(shown, () => '')};
  newFields: ${membersOf(open, ({ required, default: value }) => (required && value === undefined ? '' : '?'))};
  bearer: ${core.settings.bearerEnabled};
}
`;
}

function membersOf(
  fields: readonly (readonly [string, FieldOptions])[],
  suffixOf: (options: FieldOptions) => string,
): string {
  const members = fields.map(
    ([name, options]) => `    ${snakeCase(name)}${suffixOf(options)}: ${typeOf(options)};\n`,
  );
  return members.length > 0 ? `{\n${members.join('')}  }` : 'Record<never, never>';
}

function typeOf({ type, enum: values, required }: FieldOptions): string {
  if (type === 'json') return 'unknown';
  const one = values?.map((value) => (typeof value === 'string' ? quoted(value) : value)) ?? [TYPES[type]];
  return [...one, ...(required ? [] : ['null'])].join(' | ');
}

const TYPES = { string: 'string', date: 'string', integer: 'number', number: 'number', boolean: 'boolean' };

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}

/** Removes the characters that a formatter can change from a source. */
function withoutFormat(source: string): string {
  return source.replace(/[\s;,"']/g, '').replaceAll(':|', ':');
}
