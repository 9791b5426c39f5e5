// A steady mix of everything that users do. Each answer is compared with the model of what it must be.
import { adminEmail } from './app.mjs';
import { Browser, Client } from './http.mjs';
import { Person } from './person.mjs';
import { random } from './random.mjs';

/** How often each operation is chosen, in relation to the others. */
const WEIGHTS = {
  page: 60,
  keyPage: 10,
  stranger: 5,
  signIn: 14,
  signInAgain: 4,
  wrongPassword: 3,
  wrongCode: 2,
  leavePending: 2,
  signOut: 5,
  reauthenticate: 5,
  changePassword: 4,
  listSessions: 6,
  revokeOne: 4,
  revokeAll: 3,
  enableSecondFactor: 6,
  disableSecondFactor: 2,
  renewRecoveryCodes: 2,
  createKey: 4,
  listKeys: 3,
  revokeKey: 3,
  deleteAccount: 2,
  adminList: 2,
  adminRevokeOne: 2,
  adminRevokeAll: 2,
  adminDisableSecondFactor: 1,
  adminDelete: 1,
  prune: 0.3,
};
/** All kinds of operations. */
export const KINDS = Object.keys(WEIGHTS);

const MAX_KEYS = 5;
const TOTAL = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);

/** An answer that the model does not allow. The rest of its operation is left out. */
class Unexpected extends Error {}

/**
 * @typedef {object} MixOptions
 * @property {number} port of the app of bench/load/app.mjs
 * @property {number} lanes which run at the same time; each has its own users, and its own administrator
 * @property {number} people users of each lane; a deleted one is replaced
 * @property {number} seed of the choices
 * @property {string} adminPassword
 * @property {() => Promise<unknown>} prune calls `auth.prune()`
 * @property {() => Promise<void>} [pace] waits until the next request may be sent; by default, nothing waits
 * @property {(line: string) => void} [onUnexpected] gets each unexpected answer, without secrets
 */

/** Users who do what users do, and what must come of it. */
export class Mix {
  /** How often each kind of operation was done to its end. @type {Record<string, number>} */
  done = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  requests = 0;
  /** @type {string[]} the first hundred unexpected answers */
  unexpected = [];
  unexpectedCount = 0;
  #lanes;

  /** @param {MixOptions} options */
  constructor(options) {
    this.options = options;
    this.client = new Client(options.port, options.lanes * 4);
    this.#lanes = Array.from({ length: options.lanes }, (_, number) => new Lane(this, number));
  }

  /** Signs everybody up. */
  async prepare() {
    await Promise.all(this.#lanes.map((lane) => lane.prepare()));
  }

  /** @param {(done: number) => boolean} goesOn is asked before each operation, with the number that its lane has done */
  async run(goesOn) {
    await Promise.all(
      this.#lanes.map(async (lane) => {
        for (let done = 0; goesOn(done); done++) await lane.step();
      }),
    );
  }

  /** Asks for a page with every session and every key that must be accepted. */
  async checkAll() {
    await Promise.all(this.#lanes.map((lane) => lane.checkAll()));
  }

  /** All users that there must be, with the administrators. */
  get people() {
    return this.#lanes.flatMap((lane) => [lane.admin, ...lane.people]);
  }

  /**
   * Compares the rows of the database with the model.
   *
   * @param {(condition: string) => Promise<number>} count counts rows of `table WHERE …`
   * @returns {Promise<string[]>} what is left over or missing
   */
  async leftOver(count) {
    const { people } = this;
    const sum = (of) => people.reduce((total, person) => total + of(person), 0);
    const exact = {
      users: people.length,
      sessions: sum(({ sessions }) => sessions.length),
      api_keys: sum(({ keys }) => keys.length),
      totp_secrets: sum(({ hasSecondFactor }) => Number(hasSecondFactor)),
      'recovery_codes WHERE used_at IS NULL': sum(({ recoveryCodes }) => recoveryCodes.length),
      totp_enrolments: 0,
      one_time_tokens: 0,
      account_changes: 0,
    };
    const found = [];
    for (const [table, wanted] of Object.entries(exact)) {
      const rows = await count(table);
      if (rows !== wanted) found.push(`${table}: ${rows} rows, expected ${wanted}`);
    }
    const pending = await count('unfinished_sign_ins');
    const most = sum(({ pendingRows }) => pendingRows);
    if (pending > most) found.push(`unfinished_sign_ins: ${pending} rows, expected at most ${most}`);
    return found;
  }

  /** Sends a request, and reports an answer that is not one of the wanted ones. `wanted` is like `401 invalid_session`. */
  async send(kind, method, path, carried, ...wanted) {
    await this.options.pace?.();
    this.requests++;
    const answer = await this.client.send(method, path, carried).catch((error) => {
      this.report(kind, `${method} ${path}`, wanted, `no answer: ${error.message}`);
    });
    const got = [answer.status, ...(answer.status >= 400 ? [answer.body?.code] : [])].join(' ');
    if (!wanted.includes(got)) this.report(kind, answer.asked, wanted, got);
    return answer;
  }

  /** @throws Unexpected */
  report(kind, asked, wanted, got) {
    const line = `${kind}: ${asked}: expected ${[wanted].flat().join(' or ')}, got ${got}`;
    this.unexpectedCount++;
    if (this.unexpected.length < 100) this.unexpected.push(line);
    this.options.onUnexpected?.(line);
    throw new Unexpected(line);
  }

  close() {
    this.client.close();
  }
}

/** Users whose operations follow one another. What a lane does depends on the seed and on nothing else. */
class Lane {
  /** @type {Person[]} */
  people = [];
  #count = 0;
  #kind = 'prepare';
  /** Every kind comes once before chance decides. @type {string[]} */
  #first;

  /** @param {Mix} mix @param {number} number */
  constructor(mix, number) {
    this.mix = mix;
    this.number = number;
    this.random = random(mix.options.seed * 1000 + number);
    this.#first = KINDS.map((kind) => ({ kind, at: this.random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ kind }) => kind);
    this.admin = new Person(adminEmail(number), mix.options.adminPassword);
  }

  async prepare() {
    await this.#signIn(this.admin, this.admin.browsers[0]);
    this.admin.id = (
      await this.#send('GET', '/auth/me', { browser: this.admin.browsers[0] }, '200')
    ).body.user.id;
    while (this.people.length < this.mix.options.people) {
      const person = await this.#signUp();
      this.people.push(person);
      await this.signIn(person);
      if (this.people.length % 2 === 0) await this.enableSecondFactor(person);
    }
  }

  async step() {
    this.#kind = this.#first.pop() ?? this.#choose();
    const start = Math.floor(this.random() * this.people.length);
    const inTurn = [...this.people.slice(start), ...this.people.slice(0, start)];
    for (const person of inTurn) {
      try {
        if (!(await this[this.#kind](person))) continue;
        this.mix.done[this.#kind]++;
      } catch (error) {
        if (!(error instanceof Unexpected)) throw error;
        // What is true of this user is not known any more.
        await this.#replace(person).catch(() => {});
      }
      return;
    }
  }

  async checkAll() {
    this.#kind = 'checkAll';
    try {
      for (const person of this.people) {
        for (const session of person.sessions) await this.#open(person, session);
        for (const key of person.keys) await this.#useKey(person, key);
      }
    } catch (error) {
      if (!(error instanceof Unexpected)) throw error;
    }
  }

  // What people do. Each says whether it was possible.

  async page(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    await this.#open(person, session);
    const strong = session.aal === 2 ? '200' : '403 second_factor_required';
    await this.#send('GET', '/strong', session, strong);
    return true;
  }

  async keyPage(person) {
    const key = this.#one(person.keys);
    if (!key) return false;
    await this.#useKey(person, key);
    await this.#send('GET', '/auth/sessions', { key: key.key }, '403 session_required');
    return true;
  }

  async stranger(person) {
    await this.#send('GET', '/page', {}, '401 unauthenticated');
    const session = this.#one(person.sessions);
    if (!session) return false;
    const cookie = session.browser.header.replace(/latchkey=lks_..../, 'latchkey=lks_AAAA');
    await this.#send('GET', '/page', { cookie }, '401 invalid_session');
    return true;
  }

  async signIn(person) {
    const browser = person.browsers.find((one) => !person.sessionOf(one));
    if (!browser) return false;
    const session = await this.#signIn(person, browser);
    if (session) await this.#open(person, session);
    return session !== null;
  }

  /** In a browser that has a session, which the new one replaces. */
  async signInAgain(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const cookie = session.browser.header;
    const next = await this.#signIn(person, session.browser);
    if (!next) return false;
    await this.#refused(cookie);
    await this.#open(person, next);
    return true;
  }

  async wrongPassword(person) {
    const body = { credential: person.email, password: 'not the password of anybody' };
    await this.#send('POST', '/auth/signin/credential', { body }, '401 invalid_credentials');
    return true;
  }

  async wrongCode(person) {
    const browser = new Browser();
    if (!person.hasSecondFactor) return false;
    await this.#firstStep(person, browser);
    const path = '/auth/signin/second-factor';
    const wrong = { method: 'totp', code: person.wrongCode() };
    await this.#send('POST', path, { browser, body: wrong }, '401 invalid_code');
    const unknown = { method: 'recovery_code', code: 'AAAA-AAAA-AAAA-AAAA-AAAA-AAAA' };
    await this.#send('POST', path, { browser, body: unknown }, '401 invalid_code');
    // It opens nothing, and ends with a sign-out.
    await this.#send('GET', '/page', { browser }, '401 unauthenticated');
    const pending = browser.header;
    await this.#send('POST', '/auth/signout', { browser }, '204');
    person.pendingRows--;
    await this.#expired(pending);
    return true;
  }

  async leavePending(person) {
    if (!person.hasSecondFactor || person.pending.length > 0) return false;
    const browser = new Browser();
    await this.#firstStep(person, browser);
    person.pending.push(browser.header);
    return true;
  }

  async signOut(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    await this.#ending(person, [session], () =>
      this.#send('POST', '/auth/signout', { cookie: session.browser.header }, '204'),
    );
    return true;
  }

  async reauthenticate(person) {
    const session = this.#one(person.sessions);
    return session ? this.#reauthenticate(person, session) : false;
  }

  async changePassword(person) {
    const session = await this.#fresh(person);
    if (!session) return false;
    const body = { current_password: person.password, new_password: this.#password() };
    const others = person.sessions.filter((one) => one !== session);
    const former = session.browser.header;
    const { id, aal } = await this.#ending(person, others, async () => {
      const answer = await this.#send(
        'POST',
        '/auth/passwords/change',
        { browser: session.browser, body },
        '200',
      );
      return answer.body.session;
    });
    const old = person.password;
    person.password = body.new_password;
    this.#same(person, session, { id, aal });
    session.at = Date.now();
    await this.#refused(former);
    await this.#open(person, session);
    await this.#allExpired(person);
    const attempt = { credential: person.email, password: old };
    await this.#send('POST', '/auth/signin/credential', { body: attempt }, '401 invalid_credentials');
    return true;
  }

  async listSessions(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const { body } = await this.#send('GET', '/auth/sessions', session, '200');
    const listed = body.sessions.map(({ id, current }) => `${id}${current ? ' current' : ''}`);
    const wanted = person.sessions.map((one) => `${one.id}${one === session ? ' current' : ''}`);
    this.#equal('GET /auth/sessions', wanted.sort(), listed.sort());
    return true;
  }

  async revokeOne(person) {
    const session = this.#one(person.sessions);
    const other = this.#one(person.sessions.filter((one) => one !== session));
    if (!session || !other) return false;
    const path = `/auth/sessions/${other.id}`;
    await this.#ending(person, [other], () => this.#send('DELETE', path, session, '204'));
    await this.#send('DELETE', path, session, '404 session_not_found');
    await this.#open(person, session);
    return true;
  }

  async revokeAll(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const ended = person.sessions.length;
    const { body } = await this.#ending(person, person.sessions, () =>
      this.#send('POST', '/auth/revoke-sessions', { cookie: session.browser.header }, '200'),
    );
    this.#equal('POST /auth/revoke-sessions', ended, body.revoked);
    await this.#allExpired(person);
    return true;
  }

  async enableSecondFactor(person) {
    if (person.hasSecondFactor) return false;
    const session = await this.#fresh(person);
    if (!session) return false;
    const { browser } = session;
    const begun = await this.#send('POST', '/auth/two-factor/totp', { browser, body: {} }, '201');
    const { code, accept } = person.firstCode(begun.body.secret);
    const former = browser.header;
    const others = person.sessions.filter((one) => one !== session);
    const { body } = await this.#ending(person, others, () =>
      this.#send('POST', '/auth/two-factor/totp/confirm', { browser, body: { code } }, '200'),
    );
    accept(body.recovery_codes);
    this.#same(person, session, { ...body.session, aal: 2 });
    session.at = Date.now();
    await this.#refused(former);
    await this.#open(person, session);
    return true;
  }

  async disableSecondFactor(person) {
    if (!person.hasSecondFactor) return false;
    const session = await this.#fresh(person);
    if (!session) return false;
    const former = session.browser.header;
    const others = person.sessions.filter((one) => one !== session);
    await this.#ending(person, others, () =>
      this.#send('DELETE', '/auth/two-factor/totp', { browser: session.browser }, '204'),
    );
    const { pending } = person;
    person.disable();
    await this.#refused(former);
    for (const cookie of pending) await this.#expired(cookie);
    await this.#open(person, session);
    return true;
  }

  async renewRecoveryCodes(person) {
    if (!person.hasSecondFactor) return false;
    const session = await this.#fresh(person);
    if (!session) return false;
    const { body } = await this.#send('POST', '/auth/two-factor/recovery-codes', session, '200');
    person.recoveryCodes = body.recovery_codes;
    const status = await this.#send('GET', '/auth/two-factor', session, '200');
    this.#equal('GET /auth/two-factor', person.recoveryCodes.length, status.body.recovery_codes_left);
    return true;
  }

  async createKey(person) {
    if (person.keys.length >= MAX_KEYS) return false;
    const session = await this.#fresh(person);
    if (!session) return false;
    const body = { name: `key ${person.keys.length}` };
    const { browser } = session;
    const made = await this.#send('POST', '/auth/api-keys', { browser, body }, '201');
    const key = { id: made.body.api_key.id, key: made.body.key };
    person.keys.push(key);
    await this.#useKey(person, key);
    return true;
  }

  async listKeys(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const { body } = await this.#send('GET', '/auth/api-keys', session, '200');
    const listed = body.api_keys.map(({ id }) => id);
    this.#equal('GET /auth/api-keys', person.keys.map(({ id }) => id).sort(), listed.sort());
    return true;
  }

  async revokeKey(person) {
    const key = this.#one(person.keys);
    const session = key && (await this.#fresh(person));
    if (!session) return false;
    await this.#send('DELETE', `/auth/api-keys/${key.id}`, session, '204');
    person.keys = person.keys.filter((one) => one !== key);
    await this.#send('GET', '/page', { key: key.key }, '401 invalid_api_key');
    return true;
  }

  async deleteAccount(person) {
    const session = await this.#fresh(person);
    if (!session) return false;
    await this.#deleting(person, () =>
      this.#send('DELETE', '/auth/me', { cookie: session.browser.header, body: {} }, '204'),
    );
    return true;
  }

  // What administrators do.

  async adminList(person) {
    const [browser] = this.admin.browsers;
    const page = await this.#send('GET', '/auth/admin/users?limit=20', { browser }, '200');
    this.#equal('GET /auth/admin/users', 20, page.body.users.length);
    const search = `/auth/admin/users?search=${encodeURIComponent(person.email)}`;
    const found = await this.#send('GET', search, { browser }, '200');
    this.#equal(
      'GET /auth/admin/users?search=',
      [person.id],
      found.body.users.map(({ id }) => id),
    );
    const path = `/auth/admin/users/${person.id}/sessions`;
    const { body } = await this.#send('GET', path, { browser }, '200');
    const listed = body.sessions.map(({ id }) => id);
    this.#equal(`GET ${path}`, person.sessions.map(({ id }) => id).sort(), listed.sort());
    const session = this.#one(person.sessions);
    if (session) await this.#send('GET', path, session, '403 admin_required');
    return true;
  }

  async adminRevokeOne(person) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const path = `/auth/admin/users/${person.id}/sessions/${session.id}`;
    await this.#ending(person, [session], () => this.#asAdmin('DELETE', path, '204'));
    return true;
  }

  async adminRevokeAll(person) {
    const ended = person.sessions.length;
    const path = `/auth/admin/users/${person.id}/revoke-sessions`;
    const { body } = await this.#ending(person, person.sessions, () => this.#asAdmin('POST', path, '200'));
    this.#equal(`POST ${path}`, ended, body.revoked);
    await this.#allExpired(person);
    return true;
  }

  async adminDisableSecondFactor(person) {
    if (!person.hasSecondFactor) return false;
    await this.#freshAdmin();
    const path = `/auth/admin/users/${person.id}/disable-second-factor`;
    await this.#ending(person, person.sessions, () => this.#asAdmin('POST', path, '204'));
    person.disable();
    return true;
  }

  async adminDelete(person) {
    await this.#freshAdmin();
    const path = `/auth/admin/users/${person.id}`;
    await this.#deleting(person, () => this.#asAdmin('DELETE', path, '204'));
    await this.#asAdmin('GET', path, '404 user_not_found');
    return true;
  }

  async prune() {
    await this.mix.options.prune();
    return true;
  }

  // Their parts.

  #asAdmin(method, path, ...wanted) {
    return this.#send(method, path, { browser: this.admin.browsers[0] }, ...wanted);
  }

  async #freshAdmin() {
    const session = this.admin.sessions[0];
    if (!this.admin.isFresh(session)) await this.#reauthenticate(this.admin, session);
  }

  async #signUp() {
    const email = `person-${this.number}-${this.#count++}@example.com`;
    const person = new Person(email, this.#password());
    const body = { email, password: person.password };
    const { body: made } = await this.#send('POST', '/auth/signup/credential', { body }, '201');
    person.id = made.user.id;
    return person;
  }

  #password() {
    return `the password ${Math.floor(this.random() * 1e9)} of somebody`;
  }

  async #replace(person) {
    this.people.splice(this.people.indexOf(person), 1, await this.#signUp());
  }

  async #firstStep(person, browser, ...wanted) {
    const body = { credential: person.email, password: person.password };
    const path = '/auth/signin/credential';
    const { body: answered } = await this.#send('POST', path, { browser, body }, ...['200', ...wanted]);
    this.#equal(`POST ${path}`, person.hasSecondFactor, 'second_factor' in answered);
    if (person.hasSecondFactor) person.pendingRows++;
    return answered;
  }

  /** Both steps. @returns the session; null if there is no code at the moment */
  async #signIn(person, browser) {
    const proof = person.hasSecondFactor ? person.proof() : null;
    if (person.hasSecondFactor && !proof) return null;
    const first = await this.#firstStep(person, browser);
    if (!proof) return this.#begun(person, browser, first, 1);
    const path = '/auth/signin/second-factor';
    const { body } = await this.#send('POST', path, { browser, body: proof }, '200');
    person.pendingRows--;
    return this.#begun(person, browser, body, 2);
  }

  #begun(person, browser, { user, session }, aal) {
    this.#equal('the user of a new session', person.email, user.email);
    return person.begin(browser, { id: session.id, aal });
  }

  /** A session whose user has authenticated recently, also with the second factor. */
  async #fresh(person) {
    const session = this.#one(person.sessions);
    if (!session) return null;
    if (person.isStale(session)) {
      const body = {};
      const { browser } = session;
      await this.#send('POST', '/auth/two-factor/totp', { browser, body }, '403 reauthentication_required');
    }
    if (person.isFresh(session) || (await this.#reauthenticate(person, session))) return session;
    return null;
  }

  /** @returns whether the user had what it takes */
  async #reauthenticate(person, session) {
    const { browser } = session;
    const path = '/auth/reauthenticate';
    if (!person.hasSecondFactor) {
      await this.#send('POST', path, { browser, body: { password: person.password } }, '204');
      session.at = Date.now();
      return true;
    }
    const byPassword = { browser, body: { password: person.password } };
    await this.#send('POST', path, byPassword, '403 second_factor_required');
    const proof = person.proof();
    if (!proof) return false;
    const former = browser.header;
    const body = proof.method === 'totp' ? { code: proof.code } : { recovery_code: proof.code };
    await this.#send('POST', path, { browser, body }, '204');
    session.aal = 2;
    session.at = Date.now();
    await this.#refused(former);
    await this.#open(person, session);
    return true;
  }

  /** A session that must be accepted, as its user's. */
  async #open(person, session) {
    const { body } = await this.#send('GET', '/page', { cookie: session.browser.header }, '200');
    this.#isOf(person, session, body);
  }

  async #useKey(person, { key }) {
    const { body } = await this.#send('GET', '/page', { key }, '200');
    this.#equal('GET /page with a key', [person.id, null, 'api-key'], [body.user, body.session, body.via]);
  }

  #isOf(person, session, { user, email, session: id, aal }) {
    this.#equal('GET /page', [person.id, person.email, session.id, session.aal], [user, email, id, aal]);
  }

  /** A session that continues with a new token. */
  #same(person, session, { id, aal }) {
    this.#equal('the session that goes on', session.id, id);
    if (aal !== undefined) session.aal = aal;
    person.end((one) => one !== session);
  }

  /**
   * Ends sessions. Pages that are asked for meanwhile may come or not; those that are asked for afterwards must be refused.
   */
  async #ending(person, ended, act) {
    const headers = ended.map(({ browser }) => browser.header);
    const meanwhile = ended.slice(0, 2).map(async (session) => {
      const { status, body } = await this.#send('GET', '/page', session, '200', '401 invalid_session');
      if (status === 200) this.#isOf(person, session, body);
    });
    const [result] = await Promise.all([act(), ...meanwhile]);
    for (const { browser } of ended) {
      browser.cookies.delete([...browser.cookies.keys()].find((name) => name.endsWith('latchkey')) ?? '');
    }
    const gone = new Set(ended);
    person.end((session) => gone.has(session));
    for (const header of headers) await this.#refused(header);
    return result;
  }

  async #refused(cookie) {
    await this.#send('GET', '/page', { cookie }, '401 invalid_session');
  }

  /** Deletes a person: nothing of theirs is accepted any more. Another one signs up. */
  async #deleting(person, act) {
    await this.#ending(person, person.sessions, act);
    for (const { key } of person.keys) await this.#send('GET', '/page', { key }, '401 invalid_api_key');
    const body = { credential: person.email, password: person.password };
    await this.#send('POST', '/auth/signin/credential', { body }, '401 invalid_credentials');
    await this.#allExpired(person);
    await this.#replace(person);
  }

  /** None of the pending sign-ins can be completed. */
  async #allExpired(person) {
    for (const cookie of person.pending) await this.#expired(cookie);
    person.pending = [];
  }

  async #expired(cookie) {
    const body = { method: 'totp', code: '000000' };
    await this.#send('POST', '/auth/signin/second-factor', { cookie, body }, '401 sign_in_expired');
  }

  #equal(what, wanted, got) {
    const [left, right] = [JSON.stringify(wanted), JSON.stringify(got)];
    if (left !== right) this.mix.report(this.#kind, what, left, right);
  }

  /** `carried` is what the client sends, or a session, which is sent with its browser's cookies. */
  #send(method, path, carried, ...wanted) {
    return this.mix.send(this.#kind, method, path, carried, ...wanted);
  }

  #one(list) {
    return list[Math.floor(this.random() * list.length)];
  }

  #choose() {
    let at = this.random() * TOTAL;
    for (const kind of KINDS) {
      at -= WEIGHTS[kind];
      if (at < 0) return kind;
    }
    return 'page';
  }
}
