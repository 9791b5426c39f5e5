import type { Answer } from '../../../bench/load/http.mjs';
import { Browser } from '../../../bench/load/http.mjs';
import { random } from '../../../bench/load/random.mjs';
import type { AuthEventName } from '../../../lib/index.js';
import { rows } from '../database.js';
import { visitProvider } from '../oidc.js';
import { ADMIN_PASSWORD, adminEmail, PASSWORD_MARK, PROVIDER } from './app.js';
import { type Carried, GIVES_UP_MS, inWords, Unsure, Violation } from './lane.js';
import { Somebody } from './somebody.js';
import type { Storm } from './storm.js';

/** What an account is, as far as two clients can change it at the same time. */
interface State {
  /** Empty for none. */
  readonly password: string;
  readonly isSuspended: boolean;
  readonly isLinked: boolean;
  readonly passkeys: number;
  readonly keys: number;
  /** Unused recovery codes. */
  readonly codes: number;
  /** Names of sessions that are accepted. */
  readonly open: readonly string[];
  /** Whether the reset link works, which shows only when it is used. */
  readonly hasLink: boolean;
}

/** One way in which a change can end. */
interface Ending {
  /** The status, and the code of an error. */
  readonly answer: string;
  readonly state: State;
  /** The state if nobody got the answer. @default state */
  readonly lost?: State;
  /** Tells of it. */
  readonly event?: AuthEventName;
}

/** A change that one of the clients asks for. */
interface Move {
  readonly name: string;
  send(process: number): Promise<Answer | null>;
  /** How it can end if nothing else happens meanwhile. */
  from(state: State): readonly Ending[];
}

/** Two changes that were asked for at the same time. */
interface Duel {
  readonly before: State;
  readonly moves: readonly [Move, Move];
  /** Null for no answer: it may have happened or not. */
  readonly answers: readonly (string | null)[];
}

/** Which account two clients fight about. */
export type RivalKind = 'password' | 'sign-in methods' | 'recovery codes';
export const RIVAL_KINDS: readonly RivalKind[] = ['password', 'sign-in methods', 'recovery codes'];

const AT_PROVIDER = `/auth/oauth/${PROVIDER}`;
const SIGN_IN = '/auth/signin/credential';
/** A user is replaced before their sessions are not fresh any more. */
const REPLACED_MS = 5 * 60_000;
/** So many pairs of changes after each fault. */
const IN_CALM = 2;

/** The clients, by their sessions. */
const NAMES = ['a', 'b'];
const CODES = 10;
/** How often a password is reset, and how often by both with one link. */
const RESETS = 0.4;
const SAME_LINK = 0.2;

/**
 * A user whose account two clients change at the same time, each through a process of its own. Each two changes must end
 * as if one of them had come after the other, in either order.
 */
export class Rival {
  readonly random: () => number;
  /** Everybody that it was, since all of them are still there. The state is null until they are wholly made. */
  readonly people: { readonly person: Somebody; state: State | null }[] = [];
  duels = 0;
  #browsers = new Map<string, Browser>();
  /** The newest cookies of the sessions. */
  #cookies = new Map<string, string>();
  /** One of these is the password. */
  #passwords: string[] = [];
  #begunAt = 0;
  #isReady = false;
  #count = 0;
  #undecided: Duel | null = null;
  /** Whether the app might have given up waiting in the last request. */
  #isSlow = false;

  constructor(
    readonly storm: Storm,
    readonly kind: RivalKind,
    /** The number of its administrator. */
    private readonly number: number,
  ) {
    this.random = random(storm.seed * 1000 + number);
  }

  /** Makes somebody. */
  async prepare(): Promise<void> {
    const state = await this.#prepared();
    this.#current.state = state;
  }

  /** Two changes at the same time. While something fails, what is not answered is decided later. */
  async step(): Promise<boolean> {
    if (this.#undecided) return false;
    try {
      const before = await this.#prepared();
      this.#current.state = before;
      const moves = await this.#choose(before);
      const hasLink = moves.some(({ name }) => name === 'reset the password');
      const found = await Promise.all(moves.map((move, at) => move.send(at)));
      const answers = found.map((answer) => answer && inWords(answer));
      this.duels++;
      this.#undecided = { before: { ...before, hasLink }, moves, answers };
      if (this.storm.isCalm && answers.includes(null)) this.#violation('no answer although nothing is wrong');
      // What was not answered may still be under way.
      if (!answers.includes(null)) await this.#decide();
    } catch (error) {
      if (!(error instanceof Unsure)) throw error;
      // Without a pause, a rival who waits for a calm would keep everything else of this process from running.
      return false;
    }
    return true;
  }

  /** After the faults: decides what was left open, and goes on while nothing fails. */
  async settle(): Promise<void> {
    if (this.#undecided) await this.#decide();
    for (let n = 0; n < IN_CALM; n++) await this.step();
    this.#current.state = await this.#observe();
  }

  /** Compares what is there with what either order of the two changes comes to. */
  async #decide(): Promise<void> {
    const { before, moves, answers } = this.#undecided as Duel;
    const found = await this.#observe();
    const endings = [
      [0, 1],
      [1, 0],
    ].flatMap((order) =>
      order.reduce<{ state: State; events: AuthEventName[] }[]>(
        (ways, at) =>
          ways.flatMap((way) => {
            const { from } = moves[at] as Move;
            const answer = answers[at];
            const done = from(way.state)
              .filter((ending) => answer === null || ending.answer === answer)
              .map((ending) => ({
                state: answer === null ? (ending.lost ?? ending.state) : ending.state,
                events: [...way.events, ...(ending.event ? [ending.event] : [])],
              }));
            return answer === null ? [way, ...done] : done;
          }),
        [{ state: before, events: [] }],
      ),
    );
    const right = endings.filter(({ state }) => shown(state) === shown(found));
    const what = moves.map(({ name }, at) => `${name}: ${answers[at] ?? 'no answer'}`).join(', ');
    this.#log(`both: ${what}`);
    if (right.length === 0)
      this.#violation(
        `at the same time, ${what}, and then ${shown(found)}: no order of the two leads there from ${shown(before)}`,
      );
    this.#undecided = null;
    const { person } = this.#current;
    this.#current.state = found;
    // If both ways lead to the same, one event may have been or not.
    const all = new Set(right.flatMap(({ events }) => events));
    for (const event of all) {
      const counts = right.map(({ events }) => events.filter((one) => one === event).length);
      const least = Math.min(...counts);
      for (let n = 0; n < Math.max(...counts); n++)
        if (n < least) this.storm.happened(person.id, event);
        else this.storm.mayHaveHappened(person.id, event);
    }
  }

  // Before.

  /** A user with two sessions, and with what the changes need. @throws Unsure if that takes a calm, or an answer */
  async #prepared(): Promise<State> {
    const isOld = performance.now() - this.#begunAt > REPLACED_MS;
    if (this.#isReady && !isOld) {
      const state = await this.#restored(await this.#observe());
      // The storm counts what this user has, also after another has taken the place.
      this.#current.state = state;
      if (NAMES.every((name) => state.open.includes(name))) return state;
    }
    // Somebody new is not made while something fails, since nobody would know how far that went.
    if (!this.storm.isCalm) throw new Unsure();
    await this.#begin();
    return this.#restored(await this.#observe());
  }

  /** Puts back what earlier changes have taken. */
  async #restored(before: State): Promise<State> {
    const { kind } = this;
    if (kind === 'recovery codes') return before;
    if (before.isSuspended) await this.#making('user.reinstated', () => this.#asAdmin('reinstate', '200'));
    for (const name of NAMES) if (!before.open.includes(name)) await this.#signIn(name);
    const browser = this.#browser('a');
    if (kind === 'sign-in methods' && !before.isLinked)
      await this.#making('account.linked', () => this.#viaProvider('link', browser));
    if (kind === 'sign-in methods' && before.passkeys === 0) await this.#addPasskey(browser);
    return this.#observe();
  }

  /** Somebody new, by the provider; with a password and a second factor as far as they need that. */
  async #begin(): Promise<void> {
    const person = new Somebody(`rival-${this.number}-${this.#count++}@example.com`, '');
    this.#isReady = false;
    this.#cookies = new Map();
    this.#browsers = new Map([...NAMES, 'admin'].map((name) => [name, new Browser()]));
    this.people.push({ person, state: null });
    const [browser, admin] = [this.#browser('a'), this.#browser('admin')];
    await this.#viaProvider('authorize', browser);
    person.id = (await this.#sure('GET', '/auth/me', { browser }, '200')).body.user.id;
    this.storm.happened(person.id, 'user.created');
    this.storm.happened(person.id, 'account.linked');
    this.#passwords = [];
    if (this.kind !== 'sign-in methods') {
      person.password = this.#password();
      this.#passwords.push(person.password);
      const body = { new_password: person.password };
      await this.#making('password.changed', () =>
        this.#sure('PUT', '/auth/passwords', { browser, body }, '204'),
      );
    }
    if (this.kind === 'recovery codes') await this.#enableSecondFactor(browser);
    await this.#signIn('b');
    const body = { credential: adminEmail(this.number), password: ADMIN_PASSWORD };
    await this.#sure('POST', SIGN_IN, { browser: admin, body }, '200');
    this.#begunAt = performance.now();
    this.#isReady = true;
  }

  async #enableSecondFactor(browser: Browser): Promise<void> {
    const { person } = this.#current;
    const path = '/auth/two-factor/totp';
    const begun = await this.#sure('POST', path, { browser, body: {} }, '201');
    const { code, accept } = person.firstCode(begun.body.secret);
    const { body } = await this.#making('second_factor.enabled', () =>
      this.#sure('POST', `${path}/confirm`, { browser, body: { code } }, '200'),
    );
    accept(body.recovery_codes);
  }

  async #signIn(name: string): Promise<void> {
    const { person } = this.#current;
    const browser = new Browser();
    this.#browsers.set(name, browser);
    if (!person.password) return void (await this.#viaProvider('authorize', browser));
    const body = { credential: person.email, password: person.password };
    await this.#sure('POST', SIGN_IN, { browser, body }, '200');
    if (!person.hasSecondFactor) return;
    const proof = { method: 'recovery_code', code: person.recoveryCodes.pop() };
    await this.#sure('POST', '/auth/signin/second-factor', { browser, body: proof }, '200');
  }

  async #addPasskey(browser: Browser): Promise<void> {
    const { device } = this.#current.person;
    const begun = await this.#sure('POST', '/auth/passkeys/options', { browser, body: {} }, '200');
    const body = { response: device.create(begun.body.options), name: 'of a rival' };
    await this.#making('passkey.added', () => this.#sure('POST', '/auth/passkeys', { browser, body }, '201'));
  }

  /** A change by one client, of which an event tells. */
  async #making<T>(event: AuthEventName, make: () => Promise<T>): Promise<T> {
    const { id } = this.#current.person;
    try {
      const made = await make();
      this.storm.happened(id, event);
      return made;
    } catch (error) {
      if (error instanceof Unsure) this.storm.mayHaveHappened(id, event);
      throw error;
    }
  }

  // The changes.

  async #choose(state: State): Promise<[Move, Move]> {
    if (this.kind === 'recovery codes') return [this.#renewCodes('a'), this.#renewCodes('b')];
    const [first, second] = this.random() < 0.5 ? ['a', 'b'] : ['b', 'a'];
    if (this.kind === 'sign-in methods')
      return [this.#unlink(first as string), await this.#removePasskey(second as string)];
    const { password } = state;
    // Both are there once, so that a third session is not begun twice.
    const moves = [
      (name: string) => this.#changePassword(name, password),
      (name: string) => this.#changePassword(name, password),
      (name: string) => this.#revokeAll(name),
      (name: string) => this.#createKey(name),
      () => this.#adminRevokeAll(),
      () => this.#signInAsThird(password),
      () => this.#suspend(),
    ];
    const take = (name: string) =>
      moves.splice(Math.floor(this.random() * moves.length), 1)[0]?.(name) as Move;
    const link = this.random() < RESETS ? await this.#resetLink() : null;
    const isSame = this.random() < SAME_LINK;
    return [link ? this.#reset(link) : take('a'), link && isSame ? this.#reset(link) : take('b')];
  }

  #changePassword(name: string, current: string): Move {
    const password = this.#password();
    this.#passwords.push(password);
    return {
      name: 'change the password',
      send: (at) => {
        const body = { current_password: current, new_password: password };
        return this.#send(at, 'POST', '/auth/passwords/change', { browser: this.#browser(name), body });
      },
      from: (state) => {
        if (!state.open.includes(name) || state.password !== current) return refusals(state);
        const changed = { ...state, password, hasLink: false, open: [name] };
        // The session goes on with a token that nobody has.
        const lost = { ...changed, open: [] };
        return [{ answer: '200', state: changed, lost, event: 'password.changed' }];
      },
    };
  }

  #reset(token: string): Move {
    const password = this.#password();
    this.#passwords.push(password);
    return {
      name: 'reset the password',
      send: (at) =>
        this.#send(at, 'POST', '/auth/passwords/reset', { body: { token, new_password: password } }),
      from: (state) => {
        if (!state.hasLink) return [{ answer: '400 invalid_token', state }];
        if (state.isSuspended) return refusals(state);
        const reset = { ...state, password, hasLink: false, open: [] };
        return [{ answer: '204', state: reset, event: 'password.reset' }];
      },
    };
  }

  /** It may still do so if its own session has ended meanwhile, since that harms nobody. */
  #revokeAll(name: string): Move {
    return {
      name: 'revoke all sessions',
      send: (at) => this.#send(at, 'POST', '/auth/revoke-sessions', { browser: this.#browser(name) }),
      from: (state) => [
        { answer: '200', state: { ...state, open: [] } },
        ...(state.open.includes(name) ? [] : refusals(state)),
      ],
    };
  }

  #adminRevokeAll(): Move {
    return {
      name: 'revoke all sessions as an administrator',
      send: (at) => this.#sendAsAdmin(at, 'revoke-sessions'),
      from: (state) => [{ answer: '200', state: { ...state, open: [] } }],
    };
  }

  #signInAsThird(password: string): Move {
    const { email } = this.#current.person;
    const browser = new Browser();
    const name = `c${this.duels}`;
    this.#browsers.set(name, browser);
    return {
      name: 'sign in',
      send: (at) => this.#send(at, 'POST', SIGN_IN, { browser, body: { credential: email, password } }),
      from: (state) => {
        if (state.isSuspended || state.password !== password) return refusals(state);
        return [{ answer: '200', state: { ...state, open: [...state.open, name] }, lost: state }];
      },
    };
  }

  #createKey(name: string): Move {
    return {
      name: 'create an API key',
      send: (at) => {
        const body = { name: 'of a rival' };
        return this.#send(at, 'POST', '/auth/api-keys', { browser: this.#browser(name), body });
      },
      from: (state) =>
        state.open.includes(name)
          ? [{ answer: '201', state: { ...state, keys: state.keys + 1 }, event: 'api_key.created' }]
          : refusals(state),
    };
  }

  #suspend(): Move {
    return {
      name: 'suspend',
      send: (at) => this.#sendAsAdmin(at, 'suspend'),
      from: (state) => [
        { answer: '200', state: { ...state, isSuspended: true, open: [] }, event: 'user.suspended' },
      ],
    };
  }

  #unlink(name: string): Move {
    return {
      name: 'unlink the provider',
      send: (at) => this.#send(at, 'DELETE', `${AT_PROVIDER}/unlink`, { browser: this.#browser(name) }),
      from: (state) =>
        state.passkeys > 0
          ? [{ answer: '204', state: { ...state, isLinked: false }, event: 'account.unlinked' }]
          : [{ answer: '409 last_sign_in_method', state }],
    };
  }

  async #removePasskey(name: string): Promise<Move> {
    const browser = this.#browser(name);
    const { body } = await this.#sure('GET', '/auth/passkeys', { browser }, '200');
    const [{ id }] = body.passkeys;
    return {
      name: 'remove the passkey',
      send: (at) => this.#send(at, 'DELETE', `/auth/passkeys/${id}`, { browser }),
      from: (state) =>
        state.isLinked
          ? [{ answer: '204', state: { ...state, passkeys: 0 }, event: 'passkey.removed' }]
          : [{ answer: '409 last_sign_in_method', state }],
    };
  }

  #renewCodes(name: string): Move {
    const path = '/auth/two-factor/recovery-codes';
    return {
      name: 'renew the recovery codes',
      send: (at) => this.#send(at, 'POST', path, { browser: this.#browser(name) }),
      from: (state) => [{ answer: '200', state: { ...state, codes: CODES } }],
    };
  }

  async #resetLink(): Promise<string> {
    const { email } = this.#current.person;
    const since = this.storm.inbox.length;
    await this.#sure('POST', '/auth/passwords/request-reset', { body: { email } }, '202');
    const token = await this.storm.mail(email, 'reset-password', since, 0);
    if (!token) throw new Unsure();
    return token;
  }

  // Looking.

  /** What is stored, and what is accepted. */
  async #observe(): Promise<State> {
    const { person } = this.#current;
    const count = (from: string) => `(SELECT COUNT(*) FROM ${from} AND user_id = '${person.id}')`;
    const sql = `SELECT ${count('accounts WHERE 1 = 1')} AS links, ${count('passkeys WHERE 1 = 1')} AS passkeys,
      ${count('api_keys WHERE 1 = 1')} AS api_keys, ${count('recovery_codes WHERE used_at IS NULL')} AS codes,
      suspended_at FROM users WHERE id = '${person.id}'`;
    const [row] = await rows(this.storm.database, sql).catch((error) => {
      if (this.storm.isCalm) throw error;
      throw new Unsure();
    });
    const { links, passkeys, api_keys: keys, codes, suspended_at: suspendedAt } = row ?? {};
    const open: string[] = [];
    for (const [name, browser] of this.#browsers) {
      if (name === 'admin') continue;
      // An answer may have cleared a cookie that is accepted all the same.
      if (browser.cookies.has('latchkey')) this.#cookies.set(name, browser.header);
      const cookie = this.#cookies.get(name);
      const wanted = ['200', '401 invalid_session'];
      const isOpen =
        cookie !== undefined && (await this.#sure('GET', '/page', { cookie }, ...wanted)).status === 200;
      if (isOpen) open.push(name);
      else if (!NAMES.includes(name)) this.#browsers.delete(name);
    }
    person.password = await this.#currentPassword();
    return {
      password: person.password,
      isSuspended: suspendedAt !== null,
      isLinked: Number(links) > 0,
      passkeys: Number(passkeys),
      keys: Number(keys),
      codes: Number(codes),
      open: open.sort(),
      hasLink: false,
    };
  }

  /** Exactly one of those that it can be signs in. */
  async #currentPassword(): Promise<string> {
    const { email } = this.#current.person;
    if (this.#passwords.length < 2) return this.#passwords[0] ?? '';
    const right: string[] = [];
    for (const password of this.#passwords) {
      const browser = new Browser();
      const wanted = ['200', '401 invalid_credentials', '403 account_suspended'];
      const body = { credential: email, password };
      const { status } = await this.#sure('POST', SIGN_IN, { browser, body }, ...wanted);
      if (status !== 401) right.push(password);
      if (status === 200) await this.#sure('POST', '/auth/signout', { browser }, '204');
    }
    if (right.length !== 1) this.#violation(`${right.length} passwords`);
    this.#passwords = right;
    return right[0] as string;
  }

  // Asking.

  get #current() {
    return this.people.at(-1) as (typeof this.people)[number];
  }

  #browser(name: string): Browser {
    return this.#browsers.get(name) as Browser;
  }

  #sendAsAdmin(at: number, what: string): Promise<Answer | null> {
    const path = `/auth/admin/users/${this.#current.person.id}/${what}`;
    return this.#send(at, 'POST', path, { browser: this.#browser('admin'), body: {} });
  }

  async #asAdmin(what: string, ...wanted: string[]): Promise<Answer> {
    const path = `/auth/admin/users/${this.#current.person.id}/${what}`;
    return this.#sure('POST', path, { browser: this.#browser('admin'), body: {} }, ...wanted);
  }

  /** Sends a request of a duel to one of the processes. @returns null for no answer and for 503 */
  async #send(at: number, method: string, path: string, carried: Carried): Promise<Answer | null> {
    const { answer, ms, process } = await this.storm.sendTo(at, method, path, carried);
    const got = answer ? inWords(answer) : 'no answer';
    this.#log(`process ${process}: ${method} ${path}: ${got} (${ms} ms)`);
    this.#isSlow = answer !== null && ms > GIVES_UP_MS;
    return got === '503 unavailable' || got.endsWith(' provider_error') ? null : answer;
  }

  /**
   * Sends a request that nothing interferes with; again, if the app of a busy machine has given up waiting, since it has
   * done nothing then.
   *
   * @throws Unsure if it is not answered while something fails
   */
  async #sure(method: string, path: string, carried: Carried, ...wanted: string[]): Promise<Answer> {
    let answer: Answer | null = null;
    for (let left = 3; answer === null; left--) {
      answer = await this.#send(Math.floor(this.random() * 2), method, path, carried);
      if (answer === null && !this.storm.isCalm) throw new Unsure();
      if (answer === null && (!this.#isSlow || left === 0))
        this.#violation(`${method} ${path} has no answer although nothing is wrong`);
    }
    const got = inWords(answer);
    if (!wanted.includes(got)) this.#violation(`${method} ${path}: ${got}, not ${wanted.join(' or ')}`);
    return answer;
  }

  /** Sends a browser to the provider and back; again, if the app did not reach the provider in time. */
  async #viaProvider(purpose: 'authorize' | 'link', browser: Browser): Promise<void> {
    const { person } = this.#current;
    const claims = { sub: person.subject, email: person.email, email_verified: true };
    for (let left = 3; ; left--) {
      const begun = await this.#sure('GET', `${AT_PROVIDER}/${purpose}`, { browser }, '302');
      const back = new URL(await visitProvider(begun.location ?? '', claims));
      const at = Math.floor(this.random() * 2);
      const answer = await this.#send(at, 'GET', back.pathname + back.search, { browser });
      if (answer && inWords(answer) === '303') return;
      if (answer) this.#violation(`at the provider: ${inWords(answer)}`);
      if (!this.storm.isCalm) throw new Unsure();
      if (left === 0) this.#violation('the provider is not reached');
    }
  }

  #password(): string {
    return `${PASSWORD_MARK} ${Math.floor(this.random() * 1e9)}`;
  }

  #log(text: string): void {
    this.#current.person.log.push(`${this.storm.clock} ${text}`);
  }

  #violation(text: string): never {
    throw new Violation(text, this.#current.person);
  }
}

/** What a client gets whose session has ended meanwhile, or whose account is suspended. */
function refusals(state: State): Ending[] {
  const answers = ['401 invalid_session', '401 invalid_credentials', '403 account_suspended'];
  return answers.map((answer) => ({ answer, state }));
}

function shown({ hasLink: _, ...state }: State): string {
  return JSON.stringify({ ...state, open: [...state.open].sort() });
}
