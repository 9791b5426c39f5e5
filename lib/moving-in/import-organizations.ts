import type { Transaction } from 'sequelize';
import { readOptions, schemaOf } from '../config/options.js';
import type { ImportsOrganizations } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { uuidv7 } from '../crypto/uuid.js';
import { inTurns, slicesOf } from '../database/batches.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError, invalidField } from '../errors.js';
import type { TransactionOption } from '../sessions/request.js';
import type { Refusal } from '../users/imported.js';
import { originKey, type Ref } from '../users/imported-users.js';
import {
  batchesOf,
  checkRef,
  type ImportProgress,
  optionsOfImports,
  type Rows,
  readTime,
  refOf,
  refusalOf,
  requireRows,
  type SkippedRow,
  sourceOf,
} from './import.js';
import { ImportedRows } from './imported-rows.js';

/** An organization of another system, for `auth.movingIn.importOrganizations`. */
export interface ImportOrganizationRow {
  /** The organization's identifier in the other system. Each is imported once. */
  ref: string | number | bigint;
  /** The name: 1 to 100 visible characters. */
  name: string;
  /** The name in addresses: 2 to 63 small letters, digits and single hyphens. It must not have the form of an id. */
  slug: string;
  /** When the organization was created: a Date, or a full ISO 8601 time. @default now */
  createdAt?: Date | string | null | undefined;
  /** The members. At least one of them is an owner. */
  members: readonly ImportMember[];
}

/** A member of an organization of another system. */
export interface ImportMember {
  /** The `ref` of the user's row, which `auth.movingIn.importUsers` has imported from the same source. */
  userRef: string | number | bigint;
  /** The role: one of those in the config of `organizations()`, or `owner`. */
  role: string;
}

/** Options of `auth.movingIn.importOrganizations`. */
export interface ImportOrganizationsOptions extends TransactionOption {
  /**
   * The name of the system that the rows come from, as `auth.movingIn.importUsers` had it.
   * @default the name of the importer, such as `better-auth`; otherwise `rows`
   */
  source?: string | undefined;
  /** Called after each batch; the import awaits its result. @default none */
  onProgress?: ((progress: ImportProgress) => unknown) | undefined;
  /** Whether to run the whole import, but roll back each organization. Hooks run too. @default false */
  dryRun?: boolean | undefined;
}

/** The result of an import of organizations. */
export interface ImportOrganizationsReport {
  /** The organizations of the rows, in their order: those that this run created, and those from an earlier run. */
  readonly organizations: readonly ImportedOrganization[];
  /** The rows that have no organization, in their order, with the reason. */
  readonly skipped: readonly SkippedRow[];
}

/** The organization of a row. */
export interface ImportedOrganization {
  /** The row's `ref`. */
  readonly ref: Ref;
  /** The organization's id. */
  readonly id: string;
}

const CALL = 'importOrganizations';

/** @internal */
export const schema = () => schemaOf<ImportOrganizationsOptions>()(optionsOfImports());

/** Imports organizations: see `auth.movingIn.importOrganizations`. */
export async function importOrganizations(
  core: Core,
  rows: Rows,
  options: ImportOrganizationsOptions = {},
): Promise<ImportOrganizationsReport> {
  requireRows(rows, CALL);
  const { source = sourceOf(rows) } = readOptions(`auth.movingIn.${CALL}`, schema, options);
  const organizations = core.contributions.flatMap(
    ({ importsOrganizations = [] }) => importsOrganizations,
  )[0];
  if (!organizations)
    throw new TypeError(
      `latchkey: auth.movingIn.${CALL} requires organizations: add organizations() to plugins`,
    );
  const run = new OrganizationsImport(core, organizations, source, options);
  return core.inTransaction(options.transaction, () => run.run(rows));
}

const MAX_ROUNDS = 10;

/** A run of an import. */
class OrganizationsImport {
  readonly #rows: ImportedRows;
  readonly #isTrial: boolean;
  readonly #organizations: ImportedOrganization[] = [];
  readonly #skipped: SkippedRow[] = [];
  /** The refs and slugs of the run's earlier organizations, because a trial leaves none in the database. */
  readonly #seen = new Set<string>();

  constructor(
    private readonly core: Core,
    private readonly organizations: ImportsOrganizations,
    private readonly source: string,
    private readonly options: ImportOrganizationsOptions,
  ) {
    this.#rows = new ImportedRows(core);
    this.#isTrial = options.dryRun === true;
  }

  async run(rows: Rows): Promise<ImportOrganizationsReport> {
    let count = 0;
    await this.core.database.ready();
    for await (const batch of inTurns(batchesOf(this.core, rows))) {
      for await (const row of inTurns(batch)) await this.#import(row, count++);
      const { length: imported } = this.#organizations;
      const progress = { rows: count, imported, skipped: count - imported };
      await this.core.context.forApp(() => this.options.onProgress?.(progress));
    }
    return { organizations: this.#organizations, skipped: this.#skipped };
  }

  async #import(given: unknown, index: number): Promise<void> {
    const ref = refOf(given);
    try {
      const row = readRow(given, this.core.database.clock.now());
      this.#organizations.push({ ref: row.ref, id: await this.#organizationOf(row) });
    } catch (error) {
      this.#skipped.push({ ref: ref ?? index, ...reasonOf(error) });
    }
  }

  /** Returns the id of a row's organization, which it creates unless an earlier run did. */
  async #organizationOf(row: RowOfOrganization): Promise<string> {
    const [ofRef, ofSlug] = [`ref ${row.ref}`, `slug ${row.slug}`];
    if (this.#seen.has(ofRef))
      throw invalidField('', 'duplicate_row', 'an earlier row is about the same organization');
    for (let round = 1; ; round++) {
      try {
        const id = await this.#transaction(row, ofSlug);
        for (const one of [ofRef, ofSlug]) this.#seen.add(one);
        return id;
      } catch (error) {
        // Another import or organization was faster, so the next round finds it.
        if (!violatedUnique(error)) throw error;
        if (round === MAX_ROUNDS) throw new AuthError('unavailable');
      }
    }
  }

  async #transaction(row: RowOfOrganization, ofSlug: string): Promise<string> {
    const undone = new AuthError('unavailable');
    let id = '';
    try {
      await this.core.database.transaction(async (transaction) => {
        id = (await this.#find(row, transaction)) ?? (await this.#create(row, ofSlug, transaction));
        if (this.#isTrial) throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    return id;
  }

  /** @throws AuthError `validation_failed` if the organization was deleted here */
  async #find({ ref }: RowOfOrganization, transaction: Transaction): Promise<string | null> {
    const id = await this.#rows.organizationId(ref, this.source, transaction);
    if (id !== null && !(await this.organizations.exists(id, transaction)))
      throw invalidField('', 'organization_deleted', 'it was deleted here, and is not re-created');
    return id;
  }

  async #create(row: RowOfOrganization, ofSlug: string, transaction: Transaction): Promise<string> {
    const { ref, fault, name, slug, members, createdAt = this.core.database.clock.date() } = row;
    if (fault) throw fault;
    if (this.#isTrial && this.#seen.has(ofSlug))
      throw invalidField('/slug', 'slug_taken', 'is taken by an earlier organization in the list');
    const id = uuidv7(createdAt.getTime());
    const withIds = await this.#withIds(members, transaction);
    await this.#rows.rememberOrganization(id, ref, this.source, transaction);
    await this.organizations.create({ id, name, slug, createdAt, members: withIds }, transaction);
    return id;
  }

  /** Finds the accounts of the members. @throws AuthError `validation_failed` with `unknown_user` */
  async #withIds(
    members: RowOfOrganization['members'],
    transaction: Transaction,
  ): Promise<{ readonly userId: string; readonly role: string }[]> {
    const { imported } = this.core;
    const found: { userId: string; role: string }[] = [];
    for await (const some of slicesOf(members)) {
      const origins = some.map(({ userRef }) => ({ source: this.source, ref: userRef }));
      const lines = await imported.find(origins, transaction);
      for (const { userRef, role } of some) {
        const line = lines.get(originKey({ ref: userRef }));
        const pointer = `/members/${found.length}/userRef`;
        if (!line) throw invalidField(pointer, 'unknown_user', 'is not a user that was imported');
        if (line.userId === null)
          throw invalidField(pointer, 'unknown_user', 'is a user whose account was deleted here');
        found.push({ userId: line.userId, role });
      }
    }
    return found;
  }
}

/** A row that was read. */
interface RowOfOrganization
  extends Readonly<Pick<ImportOrganizationRow, 'ref' | 'name' | 'slug' | 'members'>> {
  readonly createdAt: Date | undefined;
  /** Why it cannot be imported. It does not matter if an earlier run has imported the row. */
  readonly fault: unknown;
}

const KEYS: ReadonlySet<string> = new Set<keyof ImportOrganizationRow>([
  ...(['ref', 'name', 'slug', 'createdAt', 'members'] as const),
]);
const KEYS_OF_MEMBERS: ReadonlySet<string> = new Set<keyof ImportMember>(['userRef', 'role']);

/** Reads a row. @throws AuthError `validation_failed` if it cannot be identified */
function readRow(given: unknown, now: number): RowOfOrganization {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalidField('', 'invalid_row', 'a row must be an object');
  const row = given as Readonly<Record<keyof ImportOrganizationRow, unknown>>;
  checkRef(row.ref, '/ref');
  const ref = refOf(row);
  if (ref === null)
    throw invalidField('/ref', 'missing_ref', 'is missing: it identifies the organization in a rerun');
  const [name, slug] = [textOf(row.name), textOf(row.slug)];
  try {
    checkKeys(row, KEYS, '', 'the row has');
    const createdAt = readTime(row.createdAt, now);
    return { ref, name, slug, createdAt, members: readMembers(row.members), fault: null };
  } catch (fault) {
    return { ref, name, slug, createdAt: undefined, members: [], fault };
  }
}

function readMembers(given: unknown): ImportMember[] {
  if (!Array.isArray(given)) throw invalidMembers('/members', 'must be a list');
  return given.map((one: unknown, index) => {
    const pointer = `/members/${index}`;
    if (typeof one !== 'object' || one === null) throw invalidMembers(pointer, 'must be an object');
    checkKeys(one, KEYS_OF_MEMBERS, pointer, 'has');
    const { userRef, role } = one as Readonly<Record<keyof ImportMember, unknown>>;
    checkRef(userRef, `${pointer}/userRef`);
    const ref = refOf({ ref: userRef });
    if (ref === null) throw invalidMembers(`${pointer}/userRef`, 'is missing');
    return { userRef: ref, role: textOf(role) };
  });
}

function invalidMembers(pointer: string, detail: string): AuthError {
  return invalidField(pointer, 'invalid_members', detail);
}

function checkKeys(given: object, keys: ReadonlySet<string>, pointer: string, has: string): void {
  const unknown = Object.entries(given).find(([key, value]) => !keys.has(key) && value !== undefined);
  if (unknown)
    throw invalidField(pointer, 'unknown_key', `${has} an unknown key, ${unknown[0]}: check its spelling`);
}

/** Anything but a string is no valid name, slug or role, and neither is an empty string. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the reason why a row is skipped. @throws any other error */
function reasonOf(error: unknown): Pick<Refusal, 'code' | 'detail'> {
  if (!(error instanceof AuthError) || error.code === 'unavailable') throw error;
  const { code, detail } = error.errors ? refusalOf(error) : error;
  return { code, detail };
}
