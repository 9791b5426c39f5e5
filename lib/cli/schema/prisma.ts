import type { Dialect } from '../../database/connect.js';
import { Refusal } from '../output.js';
import {
  HIDDEN,
  type Named,
  type Relation,
  type ShownColumn,
  type ShownSchema,
  type ShownTable,
  type ShownType,
  WRITES,
} from './tables.js';

/** The type of a field, and the attribute with the column's type. */
type Typed = readonly [type: string, native?: string];

const SQLITE: Readonly<Record<ShownType, Typed>> = {
  uuid: ['String'],
  text: ['String'],
  'long-text': ['String'],
  'huge-text': ['String'],
  // Prisma would write times in another format, so that comparisons with the stored times would be wrong.
  time: ['String'],
  integer: ['Int'],
  'big-integer': ['BigInt'],
  number: ['Float'],
  boolean: ['Boolean'],
};

const FIELDS: Readonly<Record<Dialect, Readonly<Record<ShownType, Typed>>>> = {
  sqlite: SQLITE,
  mysql: {
    ...SQLITE,
    uuid: ['String', '@db.Char(36)'],
    text: ['String', '@db.VarChar'],
    'long-text': ['String', '@db.Text'],
    'huge-text': ['String', '@db.MediumText'],
    time: ['DateTime', '@db.DateTime(3)'],
  },
  postgres: {
    ...SQLITE,
    uuid: ['String', '@db.Uuid'],
    text: ['String', '@db.VarChar'],
    time: ['DateTime', '@db.Timestamptz(3)'],
  },
};

/** The line below which the app adds its own fields to a model. */
const OWN = '// Relations to your own models:';

/**
 * Returns the models for Prisma, with the lines that the app has added to them.
 *
 * @param present the content of the file. Empty if there is none
 * @throws Refusal if the app has added lines to a model that does not exist
 */
export function prismaSource(schema: ShownSchema, present: string): string {
  const models = schema.tables.filter(hasModel);
  const own = ownLines(present);
  for (const [model, lines] of own)
    if (lines.length > 0 && !models.some((one) => one.model === model))
      throw new Refusal(
        `--out: the file has your own lines in the model ${model}, which does not exist with this config: remove these lines first, and the relation to it in your own model`,
      );
  const sources = models.map((table) => modelSource(schema, table, own.get(table.model) ?? []));
  return [heading(schema), ...sources].join('\n');
}

/** Returns the lines that the app has added to each model. */
function ownLines(present: string): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...present.matchAll(/^model (\w+) \{\r?\n([\s\S]*?)^\}/gm)].map(([, model = '', body = '']) => {
      const [, own] = body.split(OWN);
      if (own === undefined)
        throw new Refusal(
          `--out: the model ${model} of the file has lost the line ${OWN}. Add it again, above the fields that you have added to the model, so that they stay`,
        );
      const lines = own.split(/\r?\n/).filter((line) => line.trim() !== '' && !/^\s*@@/.test(line));
      return [model, lines];
    }),
  );
}

/** Whether a table has a model. Prisma requires that a model has its primary key. */
function hasModel({ columns }: ShownTable): boolean {
  return columns.some(({ isKey }) => isKey);
}

function heading({ dialect, tables, pgSchema, timeZone }: ShownSchema): string {
  const named = tables.map(({ name }) => (dialect === 'postgres' ? `${pgSchema}.${name}` : name));
  const without = tables.filter((table) => !hasModel(table)).map(({ name }) => `//   ${name}\n`);
  const zone =
    timeZone === null
      ? ''
      : `// Times are wrong, because Prisma reads them as UTC, and your Sequelize instance stores them in ${timeZone}.\n`;
  const schema = pgSchema === 'public' ? '' : `// Add ${pgSchema} to the schemas of your datasource.\n`;
  return `// latchkey's tables for Prisma. To write this file again: npx latchkey schema --for prisma --out <this file>
//
// The tables belong to latchkey: only npx latchkey migrate changes them. Add this to prisma.config.ts before you run Prisma
// Migrate. Otherwise, it drops the columns that are left out here:
//
//   experimental: { externalTables: true },
//   tables: {
//     external: [
${named.map((name) => `//       '${name}',\n`).join('')}//     ],
//   },
//   // For its shadow database, written by npx latchkey schema --for sql --out prisma/latchkey.sql
//   migrations: { initShadowDb: readFileSync('prisma/latchkey.sql', 'utf8') },
//
// The fields that you add to a model below its comment stay when you write this file again.
//
// ${HIDDEN}
// ${WRITES} These tables have no model, because their primary key is left out:
//
${without.join('')}${schema}${zone}`;
}

function modelSource(schema: ShownSchema, table: ShownTable, own: readonly string[]): string {
  const { dialect, relations, pgSchema } = schema;
  const fields = table.columns.map((column) => fieldOf(column, dialect));
  const forwards = relations.filter(({ from }) => from === table).map((one) => forwardsOf(one, dialect));
  const backwards = relations
    .filter(({ from, to }) => to === table && hasModel(from))
    .map(({ backwards, from, isOneToOne }) => [backwards, `${from.model}${isOneToOne ? '?' : '[]'}`]);
  const listed = (kind: string, { name, attributes }: Named) =>
    `  @@${kind}([${attributes.join(', ')}], map: "${name}")`;
  return [
    `model ${table.model} {`,
    ...aligned([...fields, ...forwards, ...backwards]),
    '',
    // `prisma format` adds fields here.
    `  ${OWN}`,
    ...own,
    '',
    ...table.unique.map((one) => listed('unique', one)),
    ...table.indexes.map((one) => listed('index', one)),
    `  @@map("${table.name}")`,
    ...(pgSchema === 'public' ? [] : [`  @@schema("${pgSchema}")`]),
    '}',
    '',
  ].join('\n');
}

/** Aligns the parts of fields, as `prisma format` does. */
function aligned(fields: readonly (readonly string[])[]): string[] {
  const widthOf = (part: number) => Math.max(...fields.map((field) => field[part]?.length ?? 0));
  const [names, types] = [widthOf(0), widthOf(1)];
  return fields.map(([name = '', type = '', rest = '']) =>
    `  ${name.padEnd(names)} ${type.padEnd(types)} ${rest}`.trimEnd(),
  );
}

function fieldOf(column: ShownColumn, dialect: Dialect): string[] {
  const { attribute, name, isNullable, isKey, byDefault } = column;
  const [type, native] = FIELDS[dialect][column.type];
  const attributes = [
    ...(isKey ? ['@id'] : []),
    ...(byDefault === undefined ? [] : [`@default(${JSON.stringify(byDefault)})`]),
    ...(name === attribute ? [] : [`@map("${name}")`]),
    ...(native ? [native === '@db.VarChar' ? `${native}(${column.length})` : native] : []),
  ];
  return [attribute, `${type}${isNullable ? '?' : ''}`, attributes.join(' ')];
}

function forwardsOf(relation: Relation, dialect: Dialect): string[] {
  const { name, forwards, attribute, isNullable, to, key } = relation;
  // Prisma has no names of foreign keys on SQLite.
  const map = dialect === 'sqlite' ? '' : `, map: "${name}"`;
  return [
    forwards,
    `${to.model}${isNullable ? '?' : ''}`,
    `@relation(fields: [${attribute}], references: [${key}], onDelete: Cascade, onUpdate: NoAction${map})`,
  ];
}
