import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../../crypto/secret-box.js';
import { digestToken, isWellFormedToken, SESSION_TOKEN_PREFIX } from '../../crypto/token.js';
import { Database } from '../../database/database.js';
import { deleteInBatches } from '../../database/delete-in-batches.js';
import type { FlowSecrets } from './client.js';

/** How long a browser may take at the provider, in seconds. */
export const FLOW_SECONDS = 600;

/** What a flow remembers between leaving for the provider and coming back. */
export interface Flow {
  readonly provider: string;
  /** The session that a link began with; null for a sign-in. */
  readonly sessionId: string | null;
  readonly callbackUrl: string;
  readonly redirectUri: string;
  readonly secrets: FlowSecrets;
}

/** A flow that was taken, and the sessions that the browser brought along. */
export interface TakenFlow extends Flow {
  readonly carried: readonly { readonly userId: string; readonly sessionId: string }[];
}

interface FlowColumns {
  browser_hash: Buffer;
  provider: string;
  session_id: string | null;
  callback_url: string;
  redirect_uri: string;
  sealed: string;
  expires_at: Date | string;
  carried_id?: string | null;
  carried_user_id?: string | null;
}

/** Journeys to a provider and back: each is for one browser, one provider and one return. */
export class Flows {
  readonly #table: string;

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {
    this.#table = database.table('oauth_flows');
  }

  /** @param browser the value of the browser's flow cookie */
  async begin(flow: Omit<Flow, 'secrets'>, browser: string): Promise<FlowSecrets> {
    const secrets = { state: randomToken(), nonce: randomToken(), codeVerifier: randomToken() };
    const digest = digestToken(secrets.state);
    await this.database.change(
      `INSERT INTO ${this.#table} (state_hash, browser_hash, provider, session_id, callback_url, redirect_uri, sealed,
         expires_at)
       VALUES (${this.database.digestLiterals([digest])}, ${this.database.digestLiterals([digestToken(browser)])},
         :provider, :sessionId, :callbackUrl, :redirectUri, :sealed, :expiresAt)`,
      {
        ...flow,
        sealed: this.box.seal(JSON.stringify(secrets), contextOf(digest)),
        expiresAt: new Date(this.database.clock.now() + FLOW_SECONDS * 1000),
      },
    );
    return secrets;
  }

  /**
   * Takes a flow, for good: of any number of returns at once, one gets it. The browser is looked at before, so that
   * somebody who saw the state cannot use the flow up.
   *
   * @param tokens of sessions that the browser carries: a sign-in ends them, so they are looked up along the way
   */
  async take(
    state: string,
    browser: string,
    provider: string,
    tokens: readonly string[] = [],
  ): Promise<TakenFlow | null> {
    const digest = digestToken(state);
    const literal = this.database.digestLiterals([digest]);
    const rows = await this.#read(literal, tokens);
    const [row] = rows;
    if (!row || row.browser_hash.toString('hex') !== digestToken(browser) || row.provider !== provider)
      return null;
    const taken = await this.database.change(`DELETE FROM ${this.#table} WHERE state_hash = ${literal}`);
    const sealed = this.box.open(row.sealed, contextOf(digest));
    if (taken === 0 || sealed === null || !this.#isInTime(row)) return null;
    return {
      provider: row.provider,
      sessionId: row.session_id,
      callbackUrl: row.callback_url,
      redirectUri: row.redirect_uri,
      secrets: JSON.parse(sealed) as FlowSecrets,
      carried: rows.flatMap(({ carried_id: sessionId, carried_user_id: userId }) =>
        sessionId && userId ? { userId, sessionId } : [],
      ),
    };
  }

  /** Whether a flow is under way, whosever it is. It stays so. */
  async isUnderWay(state: string, provider: string): Promise<boolean> {
    const [row] = await this.#read(this.database.digestLiterals([digestToken(state)]), []);
    return row !== undefined && row.provider === provider && this.#isInTime(row);
  }

  #isInTime({ expires_at }: FlowColumns): boolean {
    return Database.toDate(expires_at).getTime() > Math.max(this.database.clock.now(), Date.now());
  }

  /** A row for each session that the browser carries, and one where it carries none. */
  #read(stateHash: string, tokens: readonly string[]): Promise<FlowColumns[]> {
    const columns =
      'f.browser_hash, f.provider, f.session_id, f.callback_url, f.redirect_uri, f.sealed, f.expires_at';
    const digests = tokens.filter((one) => isWellFormedToken(SESSION_TOKEN_PREFIX, one)).map(digestToken);
    if (digests.length === 0)
      return this.database.select(
        `SELECT ${columns} FROM ${this.#table} f WHERE f.state_hash = ${stateHash}`,
      );
    const sessions = this.database.table('sessions');
    return this.database.select(
      `SELECT ${columns}, s.id AS carried_id, s.user_id AS carried_user_id
       FROM ${this.#table} f LEFT JOIN ${sessions} s ON s.token_hash IN (${this.database.digestLiterals(digests)})
       WHERE f.state_hash = ${stateHash}`,
    );
  }

  /** Deletes flows that nobody came back from. @returns how many */
  prune(): Promise<number> {
    const now = new Date(this.database.clock.now());
    return deleteInBatches(this.database, this.#table, 'state_hash', 'expires_at <= :now', { now });
  }
}

/** 256 random bits. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function contextOf(stateDigest: string): string {
  return `oauth flow ${stateDigest}`;
}
