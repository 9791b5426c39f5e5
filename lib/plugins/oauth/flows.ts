import { randomBytes } from 'node:crypto';
import { serialize } from 'cookie';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { digestToken, isSessionToken } from '../../crypto/token.js';
import { cookieValues, trimWhitespace } from '../../sessions/carriers.js';
import type { RowOf } from '../../tables/column.js';
import { type Session, sessions } from '../../tables/core.js';
import type { Selection } from '../../tables/table.js';
import { WaitingInBrowsers } from '../../waiting/waiting.js';
import type { FlowSecrets } from './authorization-server.js';
import { FLOW_MS, flowsTable } from './declarations.js';
import type { Claims } from './provider.js';

/** The number of flows that a browser can have in progress. A further flow cancels the oldest one. */
const MAX_FLOWS = 16;
const NAME = /^[\w-]{16}$/;
const VALUE = /^[\w-]{43}$/;

/** Reads the cookie that binds a flow to its browser. Undefined if the cookie is missing or ambiguous. */
export function readFlowCookie(core: Core, { headers }: PlainRequest, state: string): string | undefined {
  // Apps that set the cookie themselves can use one cookie without a suffix for all flows of a browser.
  return (
    singleValue(headers.cookie, cookieName(core, state)) ??
    singleValue(headers.cookie, sharedCookieName(core))
  );
}

/**
 * Creates the `Set-Cookie` headers that bind a flow to the browser. Each flow has its own cookie, because tabs that
 * start flows at the same time would overwrite a shared one.
 */
export function setFlowCookie(
  core: Core,
  request: PlainRequest | null,
  state: string,
  value: string,
): string[] {
  // Browsers send the oldest cookies first (RFC 6265, 5.4).
  const surplus = flowCookiesOf(core, request).slice(0, 1 - MAX_FLOWS);
  return [
    serializeFlowCookie(core, cookieName(core, state), value, FLOW_MS / 1000),
    ...surplus.map((name) => serializeFlowCookie(core, name, '', 0)),
  ];
}

/** Creates the `Set-Cookie` headers that remove the cookie of a completed flow, if the request contains it. */
export function clearFlowCookie(core: Core, request: PlainRequest, state: string): string[] {
  return flowCookiesOf(core, request)
    .filter((name) => name === cookieName(core, state))
    .map((name) => serializeFlowCookie(core, name, '', 0));
}

function sharedCookieName({ settings }: Core): string {
  return settings.cookie.secure ? '__Host-latchkey-flow' : 'latchkey-flow';
}

/** Derives the name of a flow's cookie from the state, so that the callback can find the cookie. */
function cookieName(core: Core, state: string): string {
  const suffix = digestToken(state).subarray(0, 12).toString('base64url');
  return `${sharedCookieName(core)}-${suffix}`;
}

/** Lists the names of the flow cookies in a request, in the request's order. */
function flowCookiesOf(core: Core, request: PlainRequest | null): string[] {
  const prefix = `${sharedCookieName(core)}-`;
  const pairs = (request?.headers.cookie ?? '').split(';');
  const names = pairs.map((pair) => trimWhitespace(pair.split('=', 1)[0] ?? ''));
  return [...new Set(names)].filter(
    (name) => name.startsWith(prefix) && NAME.test(name.slice(prefix.length)),
  );
}

function singleValue(header: string | undefined, name: string): string | undefined {
  const [value, ...others] = cookieValues(header, name);
  return others.length === 0 && VALUE.test(value ?? '') ? value : undefined;
}

/** Always sets SameSite=Lax, even if the session cookie differs, because the browser returns from another site. */
function serializeFlowCookie(core: Core, name: string, value: string, maxAge: number): string {
  const { secure } = core.settings.cookie;
  return serialize(name, value, { httpOnly: true, secure, sameSite: 'lax', path: '/', maxAge });
}

/** A flow, which is stored while the browser is at the provider. */
export interface Flow extends FlowOptions {
  readonly provider: string;
  /** The session that started a link or a reauthentication. Null for a sign-in. */
  readonly sessionId: string | null;
  readonly callbackUrl: string;
  readonly redirectUri: string;
  readonly secrets: FlowSecrets;
}

/** The options of a flow, which are stored encrypted with its secrets. */
interface FlowOptions {
  /** Whether the session is kept when the browser is closed. */
  readonly remembered: boolean;
  /** Whether the flow only reauthenticates the session's user. */
  readonly reauthenticates: boolean;
  /** Claims from a form post, which arrives before the browser returns with its cookie. */
  readonly unsignedClaims?: Claims;
}

/** A consumed flow, and the browser's existing sessions. */
export interface TakenFlow extends Flow {
  readonly startedAt: Date;
  readonly presented: readonly { readonly userId: string; readonly sessionId: string }[];
}

type Columns = typeof flowsTable.columns;

interface FoundFlow {
  readonly row: RowOf<Columns>;
  readonly presented: TakenFlow['presented'];
}

/** Authorization flows. Each is bound to one browser and one provider, and can be completed once. */
export class Flows {
  readonly #core: Core;
  readonly #waiting: WaitingInBrowsers<Columns>;
  readonly #session: Selection<Session>;

  constructor(core: Core) {
    this.#core = core;
    this.#waiting = new WaitingInBrowsers(core, flowsTable);
    this.#session = core.table(sessions).shown('s');
  }

  /** @param browser the value of the browser's flow cookie */
  async begin(flow: Flow, browser: string): Promise<void> {
    const { secrets, remembered, reauthenticates, ...columns } = flow;
    const stateHash = digestToken(secrets.state);
    const sealed = this.#seal({ ...secrets, remembered, reauthenticates }, stateHash);
    await this.#waiting.begin({ ...columns, stateHash, browserHash: digestToken(browser), sealed });
  }

  /**
   * Consumes a flow. If several calls try at the same time, only one gets it. Someone else who knows the state cannot
   * consume the flow.
   *
   * @param tokens the browser's session tokens; a sign-in replaces these sessions, so the same statement looks them up
   */
  async take(
    state: string,
    browser: string,
    provider: string,
    tokens: readonly string[],
  ): Promise<TakenFlow | null> {
    const stateHash = digestToken(state);
    const browserHash = digestToken(browser);
    const found = await this.#findWithSessions(stateHash, tokens);
    if (!found || !(await this.#waiting.take({ stateHash, browserHash, provider }))) return null;
    const { row, presented } = found;
    const opened = this.#open(row);
    if (opened === null) return null;
    const { remembered, reauthenticates, unsignedClaims, ...secrets } = opened;
    const { sessionId, callbackUrl, redirectUri } = row;
    return {
      provider,
      sessionId,
      callbackUrl,
      redirectUri,
      secrets,
      remembered,
      reauthenticates,
      startedAt: this.#waiting.beganAt(row),
      presented,
      ...(unsignedClaims && { unsignedClaims }),
    };
  }

  /** Returns the redirect URI of a flow in progress, in any browser, without consuming it. Null if there is none. */
  async pending(state: string, provider: string): Promise<string | null> {
    const row = await this.#waiting.find(digestToken(state));
    return row?.provider === provider ? row.redirectUri : null;
  }

  /** Stores claims until the flow is completed, encrypted like its secrets. Does nothing if the flow has ended. */
  async keep(state: string, unsignedClaims: Claims): Promise<void> {
    const row = await this.#waiting.find(digestToken(state));
    const opened = row && this.#open(row);
    if (!opened) return;
    const { stateHash } = row;
    const sealed = this.#seal({ ...opened, unsignedClaims }, stateHash);
    await this.#waiting.table.update({ sealed }, { stateHash });
  }

  #seal(content: FlowSecrets & FlowOptions, stateHash: Buffer): string {
    return this.#core.box.seal(JSON.stringify(content), contextOf(stateHash));
  }

  #open({ sealed, stateHash }: RowOf<Columns>): (FlowSecrets & FlowOptions) | null {
    const opened = this.#core.box.open(sealed, contextOf(stateHash));
    return opened === null ? null : JSON.parse(opened);
  }

  async #findWithSessions(stateHash: Buffer, tokens: readonly string[]): Promise<FoundFlow | null> {
    const digests = tokens.filter(isSessionToken).map(digestToken);
    if (digests.length === 0) {
      const row = await this.#waiting.find(stateHash);
      return row && { row, presented: [] };
    }
    const flow = this.#waiting.row;
    // The result has one row per session, or a single row if there are no sessions.
    const rows = await this.#core.database.select<{ s_id: string | null }>(
      `SELECT ${flow.columns}, ${this.#session.columns}
       FROM ${flow.from} LEFT JOIN ${this.#session.from} ON s.token_hash IN (:digests)
       WHERE w.state_hash = :stateHash`,
      { stateHash, digests },
    );
    const presented = rows
      .filter(({ s_id }) => s_id !== null)
      .map((raw) => this.#session.read(raw))
      .map(({ id: sessionId, userId }) => ({ userId, sessionId }));
    return rows[0] ? { row: flow.read(rows[0]), presented } : null;
  }
}

/** Creates the secrets of a new flow. */
export function flowSecrets(): FlowSecrets {
  return { state: randomToken(), nonce: randomToken(), codeVerifier: randomToken() };
}

/** Creates a token with 256 random bits. */
export function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

function contextOf(stateHash: Buffer): string {
  return `oauth flow ${stateHash.toString('hex')}`;
}
