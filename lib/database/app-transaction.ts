import { AsyncLocalStorage } from 'node:async_hooks';
import type { Sequelize, Transaction } from 'sequelize';
import type { JoinedTransaction } from '../context/call.js';
import type { Dialect } from './connect.js';

/** The parts of Sequelize's Transaction that its types omit. */
interface Internals {
  readonly sequelize?: Sequelize;
  readonly connection?: unknown;
  readonly finished?: 'commit' | 'rollback';
  /** For a nested transaction, which is a savepoint. */
  readonly parent?: Transaction;
  readonly savepoints?: readonly Transaction[];
}

const inner = (transaction: Transaction) => transaction as unknown as Internals;

/**
 * Joins a transaction of the app, so that a call can take part in it.
 *
 * @throws TypeError if it is not a transaction, has ended, or belongs to another Sequelize instance
 */
export async function joinTransaction(
  sequelize: Sequelize,
  dialect: Dialect,
  transaction: Transaction,
): Promise<JoinedTransaction> {
  requireOpen(sequelize, transaction);
  const root = rootOf(transaction);
  const ending = endings.get(root) ?? new Ending(sequelize, dialect, root);
  endings.set(root, ending);
  await ending.setSavepoint();
  return {
    handle: transaction,
    exclusively: (work) => Section.current(root).run(work),
    afterCommit: (work) => ending.add(work),
  };
}

function requireOpen(sequelize: Sequelize, transaction: unknown): asserts transaction is Transaction {
  const it = transaction as Partial<Transaction> | null;
  // `instanceof` does not work here, because the app might use another copy of Sequelize.
  const isTransaction = typeof it === 'object' && typeof it?.commit === 'function' && 'sequelize' in it;
  if (!isTransaction)
    throw new TypeError('latchkey: transaction must be a transaction of Sequelize, or { connection }');
  if (inner(it as Transaction).sequelize !== sequelize) {
    throw new TypeError(
      'latchkey: transaction belongs to another Sequelize instance than the one in database. ' +
        'If database is a URL, set it to your Sequelize instance instead',
    );
  }
  for (let one: Transaction | undefined = it as Transaction; one; one = inner(one).parent) {
    if (isEnded(one))
      throw new TypeError('latchkey: transaction has already ended: await every call before it ends');
  }
}

/** Whether a transaction has been committed or rolled back, or never began. */
export function isEnded(transaction: Transaction): boolean {
  return inner(transaction).finished !== undefined || !inner(transaction).connection;
}

function rootOf(transaction: Transaction): Transaction {
  const { parent } = inner(transaction);
  return parent ? rootOf(parent) : transaction;
}

let savepoints = 0;

/** Returns a name that no other savepoint of the process has. */
export function savepointName(): string {
  return `latchkey_${++savepoints}`;
}

/**
 * Runs `work` in a savepoint, so that a failure undoes only its own changes. On PostgreSQL, every further statement of
 * the transaction would otherwise fail. Sequelize's own savepoints are not used, because nested savepoints can get the
 * same name.
 */
export async function inSavepoint<T>(
  sequelize: Sequelize,
  transaction: Transaction,
  work: () => Promise<T>,
): Promise<T> {
  const name = savepointName();
  const run = (verb: string) => sequelize.query(`${verb} SAVEPOINT ${name}`, { transaction, raw: true });
  await run('');
  let outcome: T;
  try {
    outcome = await work();
  } catch (error) {
    // This fails if the database has rolled back the whole transaction, as MySQL does after a deadlock. Further
    // statements would take effect outside of it.
    await run('ROLLBACK TO')
      .then(() => run('RELEASE'))
      .catch(() => abandon(transaction));
    throw error;
  }
  await run('RELEASE');
  return outcome;
}

/** Ends a transaction that no longer exists in the database, so that no further statement is sent. */
export async function abandon(transaction: Transaction): Promise<void> {
  const root = rootOf(transaction);
  if (!isEnded(root)) await root.rollback().catch(() => undefined);
  for (let one: Transaction | undefined = transaction; one; one = inner(one).parent)
    Object.assign(one, { finished: 'rollback' });
}

const hookUses = new WeakMap<Transaction, number>();

/** Whether a hook of the app uses the connection of a transaction. */
export function isUsedByHook(transaction: Transaction): boolean {
  return (hookUses.get(transaction) ?? 0) > 0;
}

/**
 * While a hook of the app uses the connection of a transaction, makes the end of the transaction close the connection.
 * Otherwise, a later statement of the hook could take effect in another transaction of the pool.
 *
 * @returns the function that ends this
 */
export function keepFromPool(transaction: Transaction): () => void {
  const it = transaction as Transaction & Record<'cleanup' | 'forceCleanup', () => unknown>;
  // On SQLite, Sequelize closes the connection in any case.
  if (inner(transaction).sequelize?.getDialect() === 'sqlite') return () => undefined;
  hookUses.set(transaction, (hookUses.get(transaction) ?? 0) + 1);
  it.cleanup = it.forceCleanup;
  return () => {
    const count = (hookUses.get(transaction) ?? 1) - 1;
    hookUses.set(transaction, count);
    if (count === 0) Reflect.deleteProperty(it, 'cleanup');
  };
}

/**
 * A section of a transaction. Its units of statements run one after another, because their savepoints must not overlap.
 */
export class Section {
  static readonly #sections = new AsyncLocalStorage<Section>();
  static readonly #whole = new WeakMap<object, Section>();
  #last: Promise<unknown> = Promise.resolve();

  private constructor(private readonly root: object) {}

  /**
   * Returns the unit that the caller is a part of, such as a hook that calls latchkey. Outside a unit, returns the
   * whole transaction.
   *
   * @param root what identifies the transaction
   */
  static current(root: object): Section {
    const around = Section.#sections.getStore();
    if (around?.root === root) return around;
    const whole = Section.#whole.get(root) ?? new Section(root);
    Section.#whole.set(root, whole);
    return whole;
  }

  run<T>(work: () => Promise<T>): Promise<T> {
    const unit = () => Section.#sections.run(new Section(this.root), work);
    const turn = this.#last.then(unit, unit);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Returns whether the app has rolled back to one of the savepoints that were open when the check was created. */
type Check = () => boolean;

const endings = new WeakMap<Transaction, Ending>();

/** Runs work after a transaction's commit. Sequelize's `afterCommit` also runs after a COMMIT that failed. */
class Ending {
  readonly #waiting: { readonly work: () => void; readonly isUndone: Check }[] = [];
  #savepoint: { readonly name: string; readonly isUndone: Check } | undefined;
  #isCommitted = false;

  constructor(
    private readonly sequelize: Sequelize,
    private readonly dialect: Dialect,
    private readonly root: Transaction,
  ) {
    const commit = root.commit;
    root.commit = async () => {
      const holds = await this.#holds();
      await commit.call(root);
      this.#isCommitted = holds;
      if (holds) this.#flush();
    };
  }

  add(work: () => void): void {
    if (this.#isCommitted) work();
    else this.#waiting.push({ work, isUndone: undoOf(this.root) });
  }

  /** Sets a savepoint on MySQL. It no longer exists after a deadlock, which rolls back the whole transaction. */
  async setSavepoint(): Promise<void> {
    if (this.dialect !== 'mysql' || (this.#savepoint && !this.#savepoint.isUndone())) return;
    const name = savepointName();
    this.#savepoint = { name, isUndone: undoOf(this.root) };
    await this.#send(`SAVEPOINT ${name}`);
  }

  #flush(): void {
    for (const { work, isUndone } of this.#waiting.splice(0)) if (!isUndone()) work();
  }

  /** Whether a COMMIT will store anything. After a failed statement, PostgreSQL responds to COMMIT with a rollback. */
  async #holds(): Promise<boolean> {
    if (this.#waiting.length === 0 || inner(this.root).finished || this.dialect === 'sqlite') return true;
    const probe = this.dialect === 'postgres' ? 'SELECT 1' : `RELEASE SAVEPOINT ${this.#savepoint?.name}`;
    return this.#send(probe).then(
      () => true,
      () => false,
    );
  }

  #send(sql: string): Promise<unknown> {
    return this.sequelize.query(sql, { transaction: this.root, raw: true });
  }
}

function undoOf(root: Transaction): Check {
  const open = openSavepoints(root);
  return () => open.some((savepoint) => inner(savepoint).finished === 'rollback');
}

function openSavepoints(transaction: Transaction): Transaction[] {
  const open = (inner(transaction).savepoints ?? []).filter((one) => !inner(one).finished);
  return open.flatMap((one) => [one, ...openSavepoints(one)]);
}
