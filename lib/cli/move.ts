import type { Command } from 'commander';
import type { Sequelize } from 'sequelize';
import { type Auth, internalsOf } from '../auth.js';
import type { Core } from '../core/core.js';
import { ImportRows, importUsers, type SkippedRow } from '../moving-in/import.js';
import { fromTable } from '../moving-in/systems/table.js';
import type { ImportRow } from '../users/imported.js';
import { type AppModel, columnOf } from '../users/row-source.js';
import { type AppRows, keyOf } from '../users/rows.js';
import type { Acting, Call } from './call.js';
import { counted, Refusal, usageError } from './output.js';

const MAX_SHOWN = 50;

/** Adds `latchkey move`. */
export function addMove(parent: Command, acting: Acting): void {
  parent
    .command('move')
    .description(
      "Create an account for each row of the app's own table of users, with the password of the row. You can rerun it. It drops nothing.",
    )
    .requiredOption('--model <name>', 'the name of the model in user.model')
    .option('--column <key=column>', 'the column for a key, such as email=mail; can be repeated', collect)
    .option('--ignore <column>', 'a column to leave behind; can be repeated', collect)
    .option('--dry-run', 'print what would be done, check every row, and change nothing')
    .action(acting(move));
}

/** The keys of an imported row that come from columns, and the usual names of these columns, without `_`. */
const USUAL = {
  email: ['email', 'emailaddress', 'mail'],
  username: ['username', 'login', 'loginname'],
  passwordHash: [
    ...['passwordhash', 'hashedpassword', 'encryptedpassword', 'passworddigest'],
    ...['password', 'passwd', 'pwhash', 'hash'],
  ],
  emailVerified: [
    'emailverified',
    'emailverifiedat',
    'isemailverified',
    'emailconfirmed',
    'emailconfirmedat',
  ],
  createdAt: ['createdat', 'created', 'createdon', 'datejoined', 'insertedat'],
} as const;
type Key = keyof typeof USUAL;
type Mapping = Partial<Record<Key, string>>;

/** The names of columns with second factors, which this command does not move. */
const SECOND_FACTOR = /otp|two_?factor|2fa|mfa|recovery_?code|backup_?code/i;

/** The names of columns that can mean that a user must not sign in. */
const STATE =
  /^(is_?)?(banned|blocked|disabled|suspended|locked|active|enabled|deactivated)(_?(at|until))?$|^(status|state)$/i;

/** The names of columns that can mean a verified email, or something else. */
const VERIFIED = /^(is_?)?(verified|confirmed)(_?at)?$/i;

/** The columns of the app's table by name, as Sequelize describes them. */
type TableColumns = Readonly<Record<string, { readonly type: string; readonly allowNull: boolean }>>;

/** The tables that the command works on. */
interface Place {
  readonly core: Core;
  readonly rows: AppRows;
  readonly sequelize: Sequelize;
  readonly columns: TableColumns;
}

async function move({ auth, out, options, signal, fail }: Call): Promise<void> {
  const { dryRun = false } = options as { dryRun?: boolean };
  const place = await placeOf(auth, String(options.model));
  const mapping = mappingOf(place, options as GivenColumns);
  const statements = await missingIn(place);
  if (!dryRun) for (const statement of statements) await place.sequelize.query(statement);
  // `migrate` rejects the table until the statements have run.
  const pending = statements.length === 0 ? await auth.migrate({ dryRun }) : [];
  if (!dryRun && statements.length > 0) await auth.migrate();
  const rows = untilAborted(fromTable(place.sequelize, sourceOf(place, mapping)), signal);
  const isTrial = dryRun && statements.length + pending.length > 0;
  const { users, skipped } = isTrial
    ? await checkRows(place.core, rows)
    : await importUsers(place.core, rows, {
        dryRun,
        onProgress: (so) => out.progress(`${counted(so.rows, 'row')}: ${so.imported} with an account …`),
      });
  const left = leftIn(place, mapping);
  const more = skipped.length - MAX_SHOWN;
  const lines = [
    ...statements.map((statement) => `${dryRun ? 'Would run' : 'Ran'}: ${statement}`),
    ...Object.entries(mapping).map(([key, column]) => `${key}: from the column ${column}`),
    ...skipped.slice(0, MAX_SHOWN).map(({ ref, code, detail }) => `  ${ref}: ${code}: ${detail}`),
    ...(more > 0 ? [`  … and ${more.toLocaleString('en')} more, which --json lists`] : []),
    `${counted(users.length, 'row')} ${dryRun ? 'would have' : 'with'} an account, ${skipped.length} skipped.`,
    ...(left.length > 0
      ? ['For you to run, once the old app no longer runs:', ...left.map((one) => `  ${one}`)]
      : []),
  ];
  const printable = ({ ref, ...others }: (typeof skipped)[number]) => ({ ref: String(ref), ...others });
  const report = {
    dryRun,
    statements,
    columns: mapping,
    rows: users.length,
    skipped: skipped.map(printable),
    left,
  };
  out.result(report, lines.join('\n'));
  if (skipped.length > 0) fail();
}

async function placeOf(auth: Auth, name: string): Promise<Place> {
  const { core } = internalsOf(auth);
  const { rows } = core.users;
  if (!rows)
    throw new Refusal(
      `the config has no user.model: set user: { model: ${name}, foreignKey: 'authId' }, and database to the Sequelize instance of the model`,
    );
  if (rows.model.name !== name)
    throw usageError(`--model ${name}: user.model in the config is ${rows.model.name}`);
  const { sequelize } = rows.model;
  const columns = await sequelize
    .getQueryInterface()
    .describeTable(rows.model.getTableName() as string)
    .catch((error: Error) => {
      throw new Refusal(`the table ${rows.table} cannot be read: ${error.message}`);
    });
  return { core, rows, sequelize, columns };
}

interface GivenColumns {
  readonly column?: readonly string[];
  readonly ignore?: readonly string[];
}

/** Finds the column of each key. @throws Refusal that names a column that would be left behind silently */
function mappingOf({ core, columns }: Place, { column = [], ignore = [] }: GivenColumns): Mapping {
  const names = Object.keys(columns).filter((name) => !ignore.includes(name));
  for (const name of ignore)
    if (!Object.hasOwn(columns, name)) throw usageError(`--ignore ${name}: there is no such column`);
  const given: Mapping = {};
  for (const one of column) {
    const [, key = '', name = ''] = /^([^=]+)=(.+)$/.exec(one) ?? [];
    if (!Object.hasOwn(USUAL, key))
      throw usageError(`--column ${one}: pass key=column; the keys are ${Object.keys(USUAL).join(', ')}`);
    if (!Object.hasOwn(columns, name))
      throw usageError(`--column ${one}: the table has ${Object.keys(columns).join(', ')}`);
    given[key as Key] = name;
  }
  const mapping: Mapping = {};
  for (const key of Object.keys(USUAL) as Key[]) {
    const usual: readonly string[] = USUAL[key];
    const found = names.filter((name) => usual.includes(name.toLowerCase().replaceAll('_', '')));
    // If usernames are not enabled, the app uses the column for something else.
    const isOff = key === 'username' && !core.usernames;
    if (found.length > 1 && !given[key])
      throw new Refusal(
        `${key} could come from ${found.join(' or ')}: pass --column ${key}=${found[0]}, or --ignore the others`,
      );
    const name = given[key] ?? (isOff ? undefined : found[0]);
    if (name !== undefined) mapping[key] = name;
  }
  if (mapping.email === undefined && mapping.username === undefined)
    throw new Refusal(
      'no column has an email or a username: pass --column email=<name>, or --column username=<name>',
    );
  const factors = names.filter((name) => SECOND_FACTOR.test(name));
  if (factors.length > 0)
    throw new Refusal(
      `${factors.join(', ')}: this command does not move second factors. Import them with fromTable, or pass --ignore ${factors[0]} to leave them behind`,
    );
  const states = names.filter((name) => STATE.test(name));
  if (states.length > 0)
    throw new Refusal(
      `${states.join(', ')}: this command does not move suspensions. Import them with fromTable and suspended, or pass --ignore ${states[0]} if every user can sign in`,
    );
  const verified = names.filter((name) => VERIFIED.test(name) && !Object.values(mapping).includes(name));
  if (verified.length > 0)
    throw new Refusal(
      `${verified.join(', ')}: if the column says that the user confirmed the email with a link or code from an email, pass --column emailVerified=${verified[0]}; otherwise, pass --ignore ${verified[0]}`,
    );
  return mapping;
}

/** Returns the statements that add a column for the account's id to the table. None of them copies the table. */
async function missingIn({ core, rows, sequelize, columns }: Place): Promise<string[]> {
  const { model, table, column } = rows;
  const name = columnOf(model, rows.foreignKey);
  const statements: string[] = [];
  if (!Object.hasOwn(columns, name))
    statements.push(`ALTER TABLE ${table} ADD COLUMN ${column} ${ID_TYPE[core.database.dialect]}`);
  const indexes = (await sequelize.getQueryInterface().showIndex(model.getTableName() as string)) as Index[];
  const isUnique = indexes.some(
    ({ unique, fields }) => unique && fields.length === 1 && fields[0]?.attribute === name,
  );
  if (!isUnique) {
    const index = `${String(nameOf(model))}_${name}_unique`;
    const { queryGenerator } = sequelize.getQueryInterface() as unknown as Quoting;
    statements.push(`CREATE UNIQUE INDEX ${queryGenerator.quoteIdentifier(index)} ON ${table} (${column})`);
  }
  return statements;
}

/** The type of account ids. */
const ID_TYPE = {
  mysql: 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL',
  postgres: 'UUID NULL',
  sqlite: 'UUID NULL',
} as const;

interface Index {
  readonly unique: boolean;
  readonly fields: readonly { readonly attribute: string }[];
}
interface Quoting {
  readonly queryGenerator: { quoteIdentifier(name: string): string };
}

/** The name of a model's table, without a schema. */
function nameOf(model: AppModel): string {
  const name = model.getTableName() as string | { readonly tableName: string };
  return typeof name === 'string' ? name : name.tableName;
}

function sourceOf({ rows: { model } }: Place, mapping: Mapping) {
  const name = model.getTableName() as string | { readonly tableName: string; readonly schema?: string };
  const table = typeof name === 'string' ? name : [name.schema, name.tableName].filter(Boolean).join('.');
  return { table, columns: { ref: columnOf(model, keyOf(model)), ...mapping } };
}

/** Checks rows before the table can be changed: each row, and whether two rows have the same email or username. */
async function checkRows(
  core: Core,
  rows: AsyncIterable<ImportRow>,
): Promise<{ readonly users: readonly unknown[]; readonly skipped: SkippedRow[] }> {
  await core.database.ready();
  const reader = new ImportRows(core, 'rows', undefined);
  const owners = new Map<string, SkippedRow['ref']>();
  const users: unknown[] = [];
  const skipped: SkippedRow[] = [];
  for await (const row of rows) {
    const { ref, account, refusal, lost } = await reader.read(row, users.length);
    skipped.push(...lost.map((part) => ({ ref, ...part })));
    const names = (['email', 'username'] as const).flatMap((key) => {
      const value = account?.user[key];
      return value ? [{ key, name: `${key} ${value}` }] : [];
    });
    const taken = names.find(({ name }) => owners.has(name));
    if (refusal) skipped.push({ ref, code: refusal.code, detail: refusal.detail });
    else if (taken)
      skipped.push({
        ref,
        code: `${taken.key}_taken`,
        detail: `the row ${owners.get(taken.name)} has the same ${taken.name}`,
      });
    else {
      for (const { name } of names) owners.set(name, ref);
      users.push(ref);
    }
  }
  return { users, skipped };
}

/** Returns the statements that the command leaves to you, because the old app could not run after them. */
function leftIn({ core, rows, columns }: Place, { passwordHash }: Mapping): string[] {
  if (passwordHash === undefined) return [];
  const { queryGenerator } = rows.model.sequelize.getQueryInterface() as unknown as Quoting;
  const column = queryGenerator.quoteIdentifier(passwordHash);
  const { type, allowNull } = columns[passwordHash] as TableColumns[string];
  const relax = {
    mysql: `ALTER TABLE ${rows.table} MODIFY ${column} ${type} NULL`,
    postgres: `ALTER TABLE ${rows.table} ALTER COLUMN ${column} DROP NOT NULL`,
    sqlite: null,
  }[core.database.dialect];
  const drop = `ALTER TABLE ${rows.table} DROP COLUMN ${column}`;
  // The row of a new account has no hash, so the column must allow null.
  return allowNull || relax === null ? [drop] : [relax, drop];
}

async function* untilAborted(rows: AsyncIterable<ImportRow>, signal: AbortSignal): AsyncGenerator<ImportRow> {
  for await (const row of rows) {
    signal.throwIfAborted();
    yield row;
  }
}

function collect(one: string, others: readonly string[] = []): readonly string[] {
  return [...others, one];
}
