import type { Dialect } from '../../database/connect.js';
import {
  camelCase,
  HIDDEN,
  type Named,
  type Relation,
  type ShownColumn,
  type ShownSchema,
  type ShownTable,
  type ShownType,
  WRITES,
} from './tables.js';

/** The function that declares a column, and its options. */
type Declared = readonly [called: string, options?: string];

const MILLISECONDS = '{ fsp: 3 }';
const AS_NUMBER = "{ mode: 'number' }";

/** How each dialect of Drizzle declares a column. */
const COLUMNS: Readonly<Record<Dialect, Readonly<Record<ShownType, Declared>>>> = {
  mysql: {
    uuid: ['latchkeyId'],
    text: ['varchar'],
    'long-text': ['text'],
    'huge-text': ['mediumtext'],
    time: ['datetime', MILLISECONDS],
    integer: ['int'],
    'big-integer': ['bigint', AS_NUMBER],
    number: ['double'],
    boolean: ['boolean'],
  },
  postgres: {
    uuid: ['uuid'],
    text: ['varchar'],
    'long-text': ['text'],
    'huge-text': ['text'],
    time: ['timestamp', '{ precision: 3, withTimezone: true }'],
    integer: ['integer'],
    'big-integer': ['bigint', AS_NUMBER],
    number: ['doublePrecision'],
    boolean: ['boolean'],
  },
  sqlite: {
    uuid: ['text'],
    text: ['text'],
    'long-text': ['text'],
    'huge-text': ['text'],
    time: ['latchkeyTime'],
    integer: ['integer'],
    'big-integer': ['integer'],
    number: ['real'],
    boolean: ['integer', "{ mode: 'boolean' }"],
  },
};

const CORE = { mysql: 'mysql-core', postgres: 'pg-core', sqlite: 'sqlite-core' };
const TABLE = { mysql: 'mysqlTable', postgres: 'pgTable', sqlite: 'sqliteTable' };

/** The types of columns that a dialect of Drizzle does not have. */
const OWN_TYPES = {
  mysql: `/**
 * The type of latchkey's ids. Use it for your own columns with a foreign key, because MySQL compares the collations. Then
 * change your tables with drizzle-kit generate and migrate only: drizzle-kit push does not compare collations. It would see
 * a change of the column each time, and empty your table.
 */
export const latchkeyId = customType<{ data: string }>({
  dataType: () => 'char(36) character set utf8mb4 collate utf8mb4_bin',
});
`,
  postgres: null,
  sqlite: `/** The type of latchkey's times, which are text such as 2026-01-31 12:00:00.000 +00:00. */
export const latchkeyTime = customType<{ data: Date; driverData: string }>({
  dataType: () => 'datetime',
  fromDriver: (value) => new Date(value.replace(' ', 'T').replace(' ', '')),
  toDriver: (value) => value.toISOString().replace('T', ' ').replace('Z', ' +00:00'),
});
`,
};

/**
 * Returns the tables for Drizzle.
 *
 * @param isVersion1 whether the file is for version 1 of Drizzle, which has `defineRelationsPart` in place of `relations`
 */
export function drizzleSource(schema: ShownSchema, isVersion1: boolean): string {
  const { dialect, tables, relations, pgSchema } = schema;
  const hasSchema = pgSchema !== 'public';
  const tablesSource = tables.map((table) => tableSource(schema, table)).join('\n');
  const relationsSource = isVersion1
    ? relationsOfVersion1(tables, relations)
    : relationsOfVersion0(tables, relations);
  const body = [
    ...(OWN_TYPES[dialect] === null ? [] : [OWN_TYPES[dialect]]),
    ...(hasSchema ? [`const inSchema = pgSchema('${pgSchema}');\n`] : []),
    tablesSource,
    relationsSource,
  ].join('\n');
  return `${heading(schema)}
import { ${isVersion1 ? 'defineRelationsPart' : 'relations'} } from 'drizzle-orm';
import { ${functionsIn(body)} } from 'drizzle-orm/${CORE[dialect]}';

${body}`;
}

function heading({ tables: [first], timeZone }: ShownSchema): string {
  return `// latchkey's tables for Drizzle. To write this file again: npx latchkey schema --for drizzle --out <this file>
//
// The tables belong to latchkey: only npx latchkey migrate changes them. Import them into your own schema, such as for
// references(() => ${camelCase(first?.name ?? '')}.id). But keep this file outside the schema option of drizzle.config.ts, and do not export
// its tables from a file in that option. Otherwise, drizzle-kit takes the tables for yours, and creates and changes them.
//
// ${HIDDEN}
// ${WRITES}
${timeZone === null ? '' : `// Times are strings, because your Sequelize instance stores them in the time zone ${timeZone}.\n`}`;
}

function tableSource(schema: ShownSchema, table: ShownTable): string {
  const { dialect, relations, pgSchema } = schema;
  const called = pgSchema === 'public' ? TABLE[dialect] : 'inSchema.table';
  const columns = table.columns.map((column) => {
    const relation = relations.find(
      ({ from, attribute }) => from === table && attribute === column.attribute,
    );
    return `  ${column.attribute}: ${columnSource(column, relation, schema)},\n`;
  });
  const listed = (kind: string, { name, attributes }: Named) =>
    `  ${kind}('${name}').on(${attributes.map((attribute) => `table.${attribute}`).join(', ')}),\n`;
  const extras = [
    ...table.unique.map((one) => listed('unique', one)),
    ...table.indexes.map((one) => listed('index', one)),
  ];
  const extra = extras.length > 0 ? `, (table) => [\n${extras.join('')}]` : '';
  return `export const ${camelCase(table.name)} = ${called}('${table.name}', {\n${columns.join('')}}${extra});\n`;
}

function columnSource(
  { name, type, length, isNullable, isKey, byDefault }: ShownColumn,
  relation: Relation | undefined,
  { dialect, timeZone }: ShownSchema,
): string {
  const [called, options] = COLUMNS[dialect][type];
  const more = timeZone !== null && type === 'time' ? "{ mode: 'string', fsp: 3 }" : options;
  const given = [`'${name}'`, type === 'text' && length ? `{ length: ${length} }` : more];
  const calls = [
    ...(isKey ? ['primaryKey()'] : isNullable ? [] : ['notNull()']),
    ...(byDefault === undefined ? [] : [`default(${literal(byDefault)})`]),
    ...(relation
      ? [`references(() => ${columnOf(relation.to, relation.key)}, { onDelete: 'cascade' })`]
      : []),
  ];
  return [`${called}(${given.filter(Boolean).join(', ')})`, ...calls].join('.');
}

/** Returns a value as a literal that JavaScript reads. */
function literal(value: string | number | boolean): string {
  return JSON.stringify(value);
}

function columnOf(table: ShownTable, attribute: string): string {
  return `${camelCase(table.name)}.${attribute}`;
}

/** Relations for Drizzle before version 1. */
function relationsOfVersion0(tables: readonly ShownTable[], relations: readonly Relation[]): string {
  return tables
    .flatMap((table) => {
      const own = relations.filter(({ from }) => from === table);
      const others = relations.filter(({ to }) => to === table);
      if (own.length + others.length === 0) return [];
      const helpers = [
        ...(others.some(({ isOneToOne }) => !isOneToOne) ? ['many'] : []),
        ...(own.length > 0 || others.some(({ isOneToOne }) => isOneToOne) ? ['one'] : []),
      ];
      const lines = [
        ...own.map(
          (one) =>
            `  ${one.forwards}: one(${camelCase(one.to.name)}, { fields: [${columnOf(table, one.attribute)}], references: [${columnOf(one.to, one.key)}] }),\n`,
        ),
        ...others.map(
          ({ from, backwards, isOneToOne }) =>
            `  ${backwards}: ${isOneToOne ? 'one' : 'many'}(${camelCase(from.name)}),\n`,
        ),
      ];
      const name = camelCase(table.name);
      return `export const ${name}Relations = relations(${name}, ({ ${helpers.join(', ')} }) => ({\n${lines.join('')}}));\n`;
    })
    .join('\n');
}

/** Relations for Drizzle from version 1 on. */
function relationsOfVersion1(tables: readonly ShownTable[], relations: readonly Relation[]): string {
  const lines = tables.flatMap((table) => {
    const name = camelCase(table.name);
    const own = relations.filter(({ from }) => from === table);
    const others = relations.filter(({ to }) => to === table);
    const between = (from: ShownTable, attribute: string, to: ShownTable, other: string) =>
      `{ from: r.${columnOf(from, attribute)}, to: r.${columnOf(to, other)} }`;
    const members = [
      ...own.map(
        ({ forwards, attribute, to, key, isNullable }) =>
          `    ${forwards}: r.one.${camelCase(to.name)}(${between(table, attribute, to, key).replace(/ }$/, `, optional: ${isNullable} }`)}),\n`,
      ),
      ...others.map(
        ({ from, attribute, key, backwards, isOneToOne }) =>
          `    ${backwards}: r.${isOneToOne ? 'one' : 'many'}.${camelCase(from.name)}(${between(table, key, from, attribute)}),\n`,
      ),
    ];
    return members.length > 0 ? [`  ${name}: {\n${members.join('')}  },\n`] : [];
  });
  const names = tables.map(({ name }) => camelCase(name)).join(', ');
  return `export const latchkeyRelations = defineRelationsPart({ ${names} }, (r) => ({\n${lines.join('')}}));\n`;
}

/** The functions of Drizzle that can be in a source. */
const FUNCTIONS = [
  ...Object.values(COLUMNS).flatMap((columns) => Object.values(columns).map(([called]) => called)),
  ...Object.values(TABLE),
  'customType',
  'index',
  'pgSchema',
  'unique',
];

/** Returns the functions that a source calls, for its import. */
function functionsIn(body: string): string {
  const called = new Set([...body.matchAll(/(?<![.\w])(\w+)[<(]/g)].map(([, name]) => name));
  const imported = FUNCTIONS.filter((name) => called.has(name) && !body.includes(`const ${name} =`));
  return [...new Set(imported)].sort().join(', ');
}
