import { randomBytes } from 'node:crypto';
import type { Core } from '../../core/core.js';
import { digestToken, isWellFormedToken, SESSION_TOKEN_PREFIX } from '../../crypto/token.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import type { RowOf } from '../../models/column.js';
import { type Session, sessions } from '../../models/session.js';
import type { Selection, Table } from '../../models/table.js';
import type { FlowSecrets } from './authorization-server.js';
import { flowsTable } from './model.js';

/** How long a browser may take at the provider, in seconds. */
export const FLOW_SECONDS = 600;

/** What is remembered of a flow while the browser is at the provider. */
export interface Flow {
  readonly provider: string;
  /** The session that began a link; null for a sign-in. */
  readonly sessionId: string | null;
  readonly callbackUrl: string;
  readonly redirectUri: string;
  readonly secrets: FlowSecrets;
}

/** A flow that was taken, and the sessions that the browser already has. */
export interface TakenFlow extends Flow {
  readonly carried: readonly { readonly userId: string; readonly sessionId: string }[];
}

type Columns = typeof flowsTable.columns;

interface FoundFlow {
  readonly row: RowOf<Columns>;
  readonly carried: TakenFlow['carried'];
}

/** Authorization flows: each is for one browser, one provider and one return. */
export class Flows {
  readonly #core: Core;
  readonly #table: Table<Columns>;
  readonly #flow: Selection<RowOf<Columns>>;
  readonly #session: Selection<Session>;

  constructor(core: Core) {
    this.#core = core;
    this.#table = core.table(flowsTable);
    this.#flow = this.#table.whole('f');
    this.#session = core.table(sessions).shown('s');
  }

  /** @param browser the value of the browser's flow cookie */
  async begin(flow: Omit<Flow, 'secrets'>, browser: string): Promise<FlowSecrets> {
    const { box, database } = this.#core;
    const secrets = { state: randomToken(), nonce: randomToken(), codeVerifier: randomToken() };
    const stateHash = digestToken(secrets.state);
    await this.#table.insert({
      ...flow,
      stateHash,
      browserHash: digestToken(browser),
      sealed: box.seal(JSON.stringify(secrets), contextOf(stateHash)),
      expiresAt: database.clock.date(FLOW_SECONDS * 1000),
    });
    return secrets;
  }

  /**
   * Takes a flow for good: of any number of returns at once, one gets it. The browser is checked first, so that somebody
   * who has seen the state cannot use the flow up.
   *
   * @param tokens of sessions that the browser has: a sign-in ends them, so they are looked up in the same statement
   */
  async take(
    state: string,
    browser: string,
    provider: string,
    tokens: readonly string[],
  ): Promise<TakenFlow | null> {
    const stateHash = digestToken(state);
    const found = await this.#find(stateHash, tokens);
    if (!found?.row.browserHash.equals(digestToken(browser)) || found.row.provider !== provider) return null;
    const { sealed, expiresAt, sessionId, callbackUrl, redirectUri } = found.row;
    const taken = await this.#table.delete({ stateHash });
    const opened = this.#core.box.open(sealed, contextOf(stateHash));
    if (taken === 0 || opened === null || this.#core.database.clock.hasPassed(expiresAt)) return null;
    const secrets = JSON.parse(opened) as FlowSecrets;
    return { provider, sessionId, callbackUrl, redirectUri, secrets, carried: found.carried };
  }

  /** Whether a flow is in progress, in whatever browser. It stays so. */
  async isPending(state: string, provider: string): Promise<boolean> {
    const found = await this.#find(digestToken(state), []);
    return found?.row.provider === provider && !this.#core.database.clock.hasPassed(found.row.expiresAt);
  }

  /** Deletes flows that nobody came back from. @returns how many */
  prune(): Promise<number> {
    const { database } = this.#core;
    const now = database.clock.date();
    return deleteInBatches(database, this.#table.name, 'state_hash', 'expires_at <= :now', { now });
  }

  async #find(stateHash: Buffer, tokens: readonly string[]): Promise<FoundFlow | null> {
    const digests = tokens.filter((one) => isWellFormedToken(SESSION_TOKEN_PREFIX, one)).map(digestToken);
    if (digests.length === 0) {
      const [row] = await this.#flow.select('WHERE f.state_hash = :stateHash', { stateHash });
      return row ? { row, carried: [] } : null;
    }
    // A row for each of the sessions, and one if there are none.
    const rows = await this.#core.database.select<{ s_id: string | null }>(
      `SELECT ${this.#flow.columns}, ${this.#session.columns}
       FROM ${this.#flow.from} LEFT JOIN ${this.#session.from} ON s.token_hash IN (:digests)
       WHERE f.state_hash = :stateHash`,
      { stateHash, digests },
    );
    const carried = rows
      .filter(({ s_id }) => s_id !== null)
      .map((raw) => this.#session.read(raw))
      .map(({ id: sessionId, userId }) => ({ userId, sessionId }));
    return rows[0] ? { row: this.#flow.read(rows[0]), carried } : null;
  }
}

/** 256 random bits. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function contextOf(stateHash: Buffer): string {
  return `oauth flow ${stateHash.toString('hex')}`;
}
