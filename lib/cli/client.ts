import type { Command } from 'commander';
import { type Auth, internalsOf } from '../auth.js';
import type { FieldOptions } from '../config/user.js';
import { snakeCase } from '../tables/column.js';
import type { Acting, Call } from './call.js';
import { WrittenFile } from './written-file.js';

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
  const written = await WrittenFile.read(given, FILE);
  const { file, shown } = written;
  const source = shapeOf(auth);
  const isCurrent = written.isSame(source);
  if (isCurrent) {
    out.result({ file, isCurrent }, `${shown} is up to date.`);
    return;
  }
  if (check) {
    fail();
    out.result({ file, isCurrent }, `${shown} is not up to date: run npx latchkey client --out ${shown}`);
    return;
  }
  await written.write(source);
  out.result(
    { file, isCurrent },
    `Wrote ${shown}. To get a compile error when it is out of date:

  export const auth = createAuth({ … }) satisfies HasShape<Shape>;`,
  );
}

/** Returns the source of the interface. */
function shapeOf(auth: Auth): string {
  const { core, routes } = internalsOf(auth);
  // A plugin can add a method to the object of another one.
  const plugins = new Set(routes().flatMap(({ client }) => /^(\w+)\./.exec(client ?? '')?.[1] ?? []));
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

const TYPES = {
  string: 'string',
  date: 'string',
  plainDate: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
};

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}
