import type { Answer } from '../../../bench/load/http.mjs';
import { Browser } from '../../../bench/load/http.mjs';
import { random } from '../../../bench/load/random.mjs';
import type { AuthEventName } from '../../../lib/index.js';
import { visitProvider } from '../oidc.js';
import { ADMIN_PASSWORD, adminEmail, PASSWORD_MARK, PROVIDER } from './app.js';
import { type Former, type HeldSession, Somebody } from './somebody.js';
import type { Storm } from './storm.js';

/** How often each operation is chosen, in relation to the others. */
const WEIGHTS = {
  page: 8,
  keyPage: 3,
  signIn: 12,
  signInAgain: 4,
  signOut: 5,
  reauthenticate: 3,
  changePassword: 6,
  resetPassword: 5,
  changeEmail: 5,
  undo: 5,
  revokeOne: 4,
  revokeAll: 3,
  enableSecondFactor: 5,
  disableSecondFactor: 3,
  renewRecoveryCodes: 2,
  addPasskey: 4,
  passkeySignIn: 5,
  removePasskey: 2,
  providerSignIn: 5,
  mailSignIn: 4,
  link: 5,
  linkTaken: 2,
  unlink: 4,
  unlinkLast: 2,
  createKey: 4,
  revokeKey: 4,
  deleteAccount: 2,
  passBy: 2,
  adminRevokeAll: 2,
  adminRevokeOne: 2,
  adminDisableSecondFactor: 1,
  adminDelete: 2,
  adminRequirePassword: 2,
  suspend: 2,
  reinstate: 3,
};
export type Kind = keyof typeof WEIGHTS;
/** All kinds of operations. */
export const KINDS = Object.keys(WEIGHTS) as Kind[];
const TOTAL = Object.values(WEIGHTS).reduce((sum, weight) => sum + weight, 0);
const SIGN_IN = '/auth/signin/credential';
const AT_PROVIDER = `/auth/oauth/${PROVIDER}`;
const MAX_KEYS = 4;
/** So many cookies and keys that must open nothing are tried at each look. */
const DEAD = 4;
/** So many of the identities at the provider are tried at each look, beside those that were linked or unlinked. */
const LINKS = 0.2;
/** How long after the end of a fault everything must work again. */
const RECOVERY_MS = 10_000;

/** What a lane needs of the storm that it is in. */
export type StormOfLanes = Pick<
  Storm,
  'seed' | 'isCalm' | 'byMail' | 'inbox' | 'clock' | 'send' | 'mail' | 'owe' | 'happened'
>;

/** Something that must never be. */
export class Violation extends Error {
  constructor(
    message: string,
    readonly person: Somebody,
  ) {
    super(message);
  }
}

/** No answer, or 503: what was asked for may have happened or not. The rest of the operation is left out. */
export class Unsure extends Error {}

/** How long the app waits for a statement; for a provider, longer. A busy machine is reason enough that it gives up. */
export const GIVES_UP_MS = 4000;

/** A sign-in waits for an emailed code. */
class CodeNeeded extends Error {}

/** A link or code that signs nobody in. */
class Dead extends Error {}

/** What a sign-in comes to. */
type Outcome = 'yes' | 'no' | 'second_factor' | 'suspended' | 'new_password';

/** What a sign-in of somebody must come to. */
function outcomeFor({ isSuspended, hasSecondFactor }: Somebody): Outcome {
  if (isSuspended) return 'suspended';
  return hasSecondFactor ? 'second_factor' : 'yes';
}

/** The error with which a flow has ended; null if it has succeeded. */
function errorIn({ location }: Answer): string | null {
  return new URLSearchParams(location?.split('?')[1]).get('error');
}

/** The status of an answer, and the code of its error. */
export function inWords(answer: Answer): string {
  return `${answer.status} ${(answer.status >= 400 ? answer.body?.code : errorIn(answer)) ?? ''}`.trim();
}

/** Whether a sign-in waits for the code of an unknown browser. */
function isEmailCode({ body }: Answer): boolean {
  return body?.second_factor?.methods?.includes('email_code') === true;
}

/** Whether a flow has led to the second factor. */
function isSecondStep({ location }: Answer): boolean {
  return new URLSearchParams(location?.split('?')[1]).has('second_factor');
}

export type Carried = { browser?: Browser; cookie?: string; key?: string; body?: object };

/** Users whose operations follow one another. What a lane chooses depends on the seed. */
export class Lane {
  readonly people: Somebody[] = [];
  readonly admin: Somebody;
  /** Whether the last answer took so long that the app might have given up. */
  #isSlow = false;
  readonly done = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
  unsure = 0;
  readonly random: () => number;
  #count = 0;

  constructor(
    readonly storm: StormOfLanes,
    readonly number: number,
    /** The one operation that is chosen. @default any */
    private readonly only?: Kind,
  ) {
    this.random = random(storm.seed * 1000 + number);
    this.admin = new Somebody(adminEmail(number), ADMIN_PASSWORD);
    this.admin.isVerified = true;
  }

  async prepare(people: number): Promise<void> {
    while (this.admin.sessions.length === 0)
      await this.#beginWithPassword(this.admin, new Browser()).catch((error) => {
        if (!(error instanceof Unsure)) throw error;
      });
    while (this.people.length < people) {
      // One of them has no password.
      const isLast = this.people.length === people - 1;
      this.people.push(await (isLast ? this.#newcomerByProvider() : this.#newcomer()));
    }
  }

  /** One operation of one of the people. @returns false if none of them could do it */
  async step(): Promise<boolean> {
    const kind = this.#choose();
    const start = Math.floor(this.random() * this.people.length);
    for (const person of [...this.people.slice(start), ...this.people.slice(0, start)]) {
      if (person.unresolved) continue;
      if (person.isSuspended !== (kind === 'reinstate')) continue;
      try {
        person.log.push(`— ${kind}`);
        if (!person.isVerified) await this.#verify(person);
        else if (!(await this[kind](person))) continue;
        else this.done[kind]++;
      } catch (error) {
        if (!(error instanceof Unsure)) throw error;
        this.unsure++;
      }
      return true;
    }
    return false;
  }

  /** After the faults: finds out what has happened, and compares everything with what was acknowledged. */
  async settle(): Promise<void> {
    for (const person of [...this.people]) {
      const { unresolved } = person;
      person.log.push(unresolved ? '— what was not answered' : '— look');
      person.unresolved = null;
      try {
        await unresolved?.();
        if (this.people.includes(person)) await this.#look(person);
      } catch (error) {
        if (!(error instanceof Unsure)) throw error;
        // It needs a session, and there is no code of a second factor to begin one with at the moment.
        person.unresolved = unresolved;
      }
    }
  }

  // What people do. Each says whether it was possible.

  async page(person: Somebody) {
    const session = this.#one(person.sessions);
    if (session) await this.#open(person, session);
    return !!session;
  }

  async keyPage(person: Somebody) {
    const key = this.#one(person.keys.filter((one) => one.key));
    if (key) await this.#useKey(person, key.key);
    return !!key;
  }

  async signIn(person: Somebody) {
    const browser = person.browsers.find((one) => !person.sessionOf(one));
    return !!browser && this.#signIn(person, browser);
  }

  /** In a browser that has a session, which the new one replaces. */
  async signInAgain(person: Somebody) {
    const session = this.#one(person.sessions);
    return !!session && this.#signIn(person, session.browser);
  }

  async signOut(person: Somebody) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const carried = { cookie: session.browser.header };
    await this.#ending(person, [session], () =>
      this.#change(person, 'POST', '/auth/signout', carried, '204'),
    );
    return true;
  }

  async reauthenticate(person: Somebody) {
    const session = this.#one(person.sessions);
    return !!session && this.#reauthenticate(person, session);
  }

  async changePassword(person: Somebody) {
    const session = await this.#fresh(person);
    if (!session) return false;
    await this.#changePassword(person, session);
    return true;
  }

  async resetPassword(person: Somebody) {
    const since = this.storm.inbox.length;
    const asked = { body: { email: person.email } };
    await this.#ask(person, 'POST', '/auth/passwords/request-reset', asked, '202');
    const mail = { to: person.email, kind: 'reset-password', since };
    await this.#byMail(person, mail, (token) => this.#reset(person, token));
    return true;
  }

  async changeEmail(person: Somebody) {
    const session = await this.#fresh(person);
    if (!session) return false;
    await this.#changeEmail(person, session);
    return true;
  }

  /** A change, a new API key, and the way back by the notice of the change. */
  async undo(person: Somebody) {
    const session = await this.#fresh(person);
    if (!session) return false;
    const former = person.now();
    const since = this.storm.inbox.length;
    const changes: Record<string, () => Promise<void>> = {
      'password-changed': () => this.#changePassword(person, session),
      'email-changed': () => this.#changeEmail(person, session),
      ...(person.isLinked
        ? { 'provider-unlinked': () => this.#unlink(person, session) }
        : { 'provider-linked': () => this.#link(person, session) }),
    };
    const kind = this.#one(Object.keys(changes)) as string;
    await changes[kind]?.();
    if (person.isFresh(session) && this.random() < 0.5) await this.#createKey(person, session);
    const code = former.factor ? this.#proof(person) : undefined;
    // They would have to wait for the next code.
    if (code === null) return true;
    const given = {
      ...(former.password && { password: former.password }),
      ...(code && { [code.method === 'totp' ? 'code' : 'recovery_code']: code.code }),
    };
    // The browser of the first sign-in must be known, and a passkey would be asked for where there is nothing else.
    const isProven = person.first !== null && (Object.keys(given).length > 0 || former.passkeys.length === 0);
    await this.#byMail(person, { to: former.email, kind, since }, async (token) => {
      // An older notice does not take the password of this time.
      const refused = [
        '400 invalid_token',
        '401 invalid_credentials',
        ...(isProven ? [] : ['403 proof_required']),
      ];
      const carried = { cookie: person.first?.header, body: { token, ...given } };
      const undo = () => this.#change(person, 'POST', '/auth/undo-change', carried, '200', ...refused);
      const unresolved = async () => {
        // Used up, or done now. An older notice does neither.
        if (![401, 403].includes((await undo()).status)) this.#undone(person, former);
      };
      const { status } = await this.#unsure(person, unresolved, undo);
      if (status === 200) this.#undone(person, former);
      return status === 200 || status === 403;
    });
    return true;
  }

  async revokeOne(person: Somebody) {
    const session = this.#one(person.sessions);
    const other = this.#one(person.sessions.filter((one) => one !== session));
    if (!session || !other) return false;
    await this.#ending(person, [other], () =>
      this.#change(person, 'DELETE', `/auth/sessions/${other.id}`, session, '204'),
    );
    return true;
  }

  async revokeAll(person: Somebody) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const carried = { cookie: session.browser.header };
    await this.#ending(person, 'all', () =>
      this.#change(person, 'POST', '/auth/revoke-sessions', carried, '200'),
    );
    return true;
  }

  async enableSecondFactor(person: Somebody) {
    const session = person.hasSecondFactor ? null : await this.#fresh(person);
    if (!session) return false;
    const { browser } = session;
    const begun = await this.#ask(person, 'POST', '/auth/two-factor/totp', { browser, body: {} }, '201');
    const { code, accept } = person.firstCode(begun.body.secret);
    const path = '/auth/two-factor/totp/confirm';
    const enabled = (codes: string[] | null) => {
      accept(codes ?? []);
      if (codes) person.giveCodes(codes);
      else person.forgetCodes();
    };
    const answer = await this.#renewing(
      person,
      session,
      'second_factor.enabled',
      (carried) => this.#change(person, 'POST', path, { ...carried, body: { code } }, '200'),
      async () => {
        const isDone = (await this.#accepts(person)) === 'second_factor';
        if (isDone) enabled(null);
        return isDone;
      },
    );
    enabled(answer.body.recovery_codes);
    session.aal = 2;
    this.storm.owe(person.email, 'second-factor-enabled');
    return true;
  }

  async disableSecondFactor(person: Somebody) {
    const session = person.hasSecondFactor ? await this.#fresh(person) : null;
    if (!session) return false;
    await this.#renewing(
      person,
      session,
      'second_factor.disabled',
      (carried) => this.#change(person, 'DELETE', '/auth/two-factor/totp', carried, '204'),
      async () => {
        const isDone = (await this.#accepts(person)) === 'yes';
        if (isDone) person.disable();
        return isDone;
      },
    );
    person.disable();
    this.storm.owe(person.email, 'second-factor-disabled');
    return true;
  }

  async renewRecoveryCodes(person: Somebody) {
    const session = person.hasSecondFactor ? await this.#fresh(person) : null;
    if (!session) return false;
    const unresolved = async () => person.forgetCodes();
    const renew = () => this.#change(person, 'POST', '/auth/two-factor/recovery-codes', session, '200');
    const { body } = await this.#unsure(person, unresolved, renew);
    person.giveCodes(body.recovery_codes);
    return true;
  }

  async addPasskey(person: Somebody) {
    const session = person.passkeys.length > 0 ? null : await this.#fresh(person);
    if (!session) return false;
    const { browser } = session;
    const begun = await this.#ask(person, 'POST', '/auth/passkeys/options', { browser, body: {} }, '200');
    const body = { response: person.device.create(begun.body.options), name: 'in the storm' };
    const unresolved = async () => {
      person.passkeys = await this.#listed(person, '/auth/passkeys', 'passkeys');
      if (person.passkeys.length > 0) this.storm.happened(person.id, 'passkey.added');
    };
    const add = () => this.#change(person, 'POST', '/auth/passkeys', { browser, body }, '201');
    person.passkeys = [(await this.#unsure(person, unresolved, add)).body.passkey.id];
    this.storm.happened(person.id, 'passkey.added');
    this.storm.owe(person.email, 'passkey-added');
    return true;
  }

  async passkeySignIn(person: Somebody) {
    const browser = person.browsers.find((one) => !person.sessionOf(one));
    if (!browser || person.passkeys.length === 0) return false;
    const path = '/auth/signin/passkey';
    const begun = await this.#ask(person, 'POST', `${path}/options`, { browser, body: {} }, '200');
    const body = { response: person.device.get(begun.body.options) };
    await this.#beginning(person, browser, () =>
      this.#change(person, 'POST', path, { browser, body }, '200'),
    );
    return true;
  }

  async removePasskey(person: Somebody) {
    const session = person.passkeys.length > 0 ? await this.#fresh(person) : null;
    if (!session) return false;
    const path = `/auth/passkeys/${person.passkeys[0]}`;
    const unresolved = async () => {
      person.passkeys = await this.#listed(person, '/auth/passkeys', 'passkeys');
      if (person.passkeys.length === 0) this.storm.happened(person.id, 'passkey.removed');
    };
    await this.#unsure(person, unresolved, () => this.#change(person, 'DELETE', path, session, '204'));
    person.passkeys = [];
    this.storm.happened(person.id, 'passkey.removed');
    this.storm.owe(person.email, 'passkey-removed');
    return true;
  }

  async providerSignIn(person: Somebody) {
    const browser = person.browsers.find((one) => !person.sessionOf(one));
    return !!browser && this.#signIn(person, browser, true);
  }

  /** With the link of an email, in the browser that asked for it. */
  async mailSignIn(person: Somebody) {
    if (!this.storm.byMail) return false;
    const browser = person.browsers.find((one) => !person.sessionOf(one));
    const proof = browser && person.hasSecondFactor ? this.#proof(person) : null;
    if (!browser || (person.hasSecondFactor && !proof)) return false;
    const since = this.storm.inbox.length;
    const asked = { browser, body: { email: person.email } };
    await this.#ask(person, 'POST', '/auth/signin/email', asked, '202');
    const mail = { to: person.email, kind: 'sign-in-code', since };
    await this.#byMail(person, mail, (token) => this.#beginByMail(person, browser, token, proof));
    return true;
  }

  async link(person: Somebody) {
    const session = person.isLinked ? null : await this.#fresh(person);
    if (!session) return false;
    await this.#link(person, session);
    await this.#lookAtProvider(person);
    return true;
  }

  /** An identity that opens somebody else's account. */
  async linkTaken(person: Somebody) {
    const other = this.#one(this.people.filter((one) => one !== person && one.isLinked && !one.unresolved));
    const session = other && (await this.#fresh(person));
    if (!session) return false;
    const refused = ['303 account_linked_elsewhere'];
    await this.#viaProvider(person, 'link', session.browser, refused, other.subject);
    return true;
  }

  async unlink(person: Somebody) {
    const session = person.isLinked ? await this.#fresh(person) : null;
    if (!session) return false;
    await this.#unlink(person, session);
    await this.#lookAtProvider(person);
    return true;
  }

  async unlinkLast(person: Somebody) {
    if (this.storm.byMail) return false;
    const session = this.#one(person.sessions);
    const hasOther = person.password !== '' || person.passkeys.length > 0;
    if (!session || !person.isLinked || hasOther || person.hasSecondFactor || person.needsPassword)
      return false;
    await this.#ask(person, 'DELETE', `${AT_PROVIDER}/unlink`, session, '409 last_sign_in_method');
    return true;
  }

  async createKey(person: Somebody) {
    const session = person.keys.length < MAX_KEYS ? await this.#fresh(person) : null;
    if (!session) return false;
    await this.#createKey(person, session);
    return true;
  }

  async revokeKey(person: Somebody) {
    const key = this.#one(person.keys);
    const session = key && (await this.#fresh(person));
    if (!session) return false;
    const unresolved = async () => {
      const left = await this.#listed(person, '/auth/api-keys', 'api_keys');
      if (left.includes(key.id)) return;
      person.dropKeys((id) => id === key.id);
      this.storm.happened(person.id, 'api_key.revoked');
    };
    const path = `/auth/api-keys/${key.id}`;
    await this.#unsure(person, unresolved, () => this.#change(person, 'DELETE', path, session, '204'));
    person.dropKeys((id) => id === key.id);
    this.storm.happened(person.id, 'api_key.revoked');
    if (key.key) await this.#ask(person, 'GET', '/page', { key: key.key }, '401 invalid_api_key');
    return true;
  }

  async deleteAccount(person: Somebody) {
    const session = await this.#fresh(person);
    if (!session) return false;
    const carried = { cookie: session.browser.header, body: {} };
    return this.#deleting(person, () => this.#change(person, 'DELETE', '/auth/me', carried, '204'));
  }

  /** Somebody else signs up at the provider, and leaves again. */
  async passBy(person: Somebody) {
    const other = new Somebody(this.#address(), '');
    const comeAndGo = async () => {
      if (!other.id) {
        await this.#signUpByProvider(other);
        this.storm.happened(other.id, 'user.created');
      }
      const carried = { cookie: other.sessions[0]?.browser.header ?? '', body: {} };
      // An earlier attempt may have been done.
      if (await this.#isOpen(other, carried.cookie))
        await this.#change(other, 'DELETE', '/auth/me', carried, '204');
      await this.#refused(other, carried.cookie);
      this.storm.happened(other.id, 'user.deleted');
    };
    await this.#unsure(person, comeAndGo, comeAndGo);
    return true;
  }

  // What administrators do.

  async adminRevokeOne(person: Somebody) {
    const session = this.#one(person.sessions);
    if (!session) return false;
    const path = `/auth/admin/users/${person.id}/sessions/${session.id}`;
    await this.#ending(person, [session], () => this.#asAdmin(person, 'DELETE', path, '204'));
    return true;
  }

  async adminRevokeAll(person: Somebody) {
    const path = `/auth/admin/users/${person.id}/revoke-sessions`;
    await this.#ending(person, 'all', () => this.#asAdmin(person, 'POST', path, '200'));
    return true;
  }

  async adminDisableSecondFactor(person: Somebody) {
    if (!person.hasSecondFactor || !person.password) return false;
    await this.#freshAdmin(person);
    const path = `/auth/admin/users/${person.id}/disable-second-factor`;
    const disabled = () => {
      person.endAll();
      person.disable();
      this.storm.happened(person.id, 'second_factor.disabled');
    };
    const unresolved = async () => {
      if ((await this.#accepts(person)) === 'yes') disabled();
    };
    await this.#unsure(person, unresolved, () => this.#asAdmin(person, 'POST', path, '204'));
    disabled();
    return true;
  }

  async adminDelete(person: Somebody) {
    await this.#freshAdmin(person);
    return this.#deleting(person, () =>
      this.#asAdmin(person, 'DELETE', `/auth/admin/users/${person.id}`, '204'),
    );
  }

  async adminRequirePassword(person: Somebody) {
    if (!person.password) return false;
    await this.#freshAdmin(person);
    const { password } = person;
    const path = `/auth/admin/users/${person.id}/require-new-password`;
    const required = () => {
      person.endAll();
      person.needsPassword = true;
      person.password = '';
      this.storm.happened(person.id, 'password.new_required');
    };
    const unresolved = async () => {
      if ((await this.#accepts(person, password)) === 'new_password') required();
    };
    await this.#unsure(person, unresolved, () => this.#asAdmin(person, 'POST', path, '204'));
    required();
    this.storm.owe(person.email, 'new-password-required');
    this.#equal(person, 'the former password', 'new_password', await this.#accepts(person, password));
    return true;
  }

  async suspend(person: Somebody) {
    return this.#suspending(person, true);
  }

  async reinstate(person: Somebody) {
    return this.#suspending(person, false);
  }

  // Their parts.

  #address(): string {
    return `person-${this.number}-${this.#count++}@example.com`;
  }

  /** Somebody with a password and a verified email. */
  async #newcomer(): Promise<Somebody> {
    const person = new Somebody(this.#address(), this.#password());
    const body = { email: person.email, password: person.password };
    const { body: made } = await this.#ask(person, 'POST', '/auth/signup/credential', { body }, '201');
    person.id = made.user.id;
    this.storm.happened(person.id, 'user.created');
    await this.#verify(person);
    return person;
  }

  /** Somebody with an identity at the provider, and no password. */
  async #newcomerByProvider(): Promise<Somebody> {
    const person = new Somebody(this.#address(), '');
    await this.#signUpByProvider(person);
    this.storm.happened(person.id, 'user.created');
    return person;
  }

  async #verify(person: Somebody): Promise<void> {
    const since = this.storm.inbox.length;
    const browser = person.browsers[0] as Browser;
    if (person.sessions.length === 0) await this.#beginWithPassword(person, browser);
    const [session] = person.sessions as [HeldSession];
    await this.#ask(
      person,
      'POST',
      '/auth/email-verifications',
      { browser: session.browser, body: {} },
      '202',
    );
    const unresolved = async () => {
      const { body } = await this.#ask(person, 'GET', '/auth/me', session, '200');
      person.isVerified = body.user.email_verified_at !== null;
    };
    await this.#byMail(person, { to: person.email, kind: 'verify-email', since }, async (token) => {
      const carried = { browser: session.browser, body: { token } };
      const { status } = await this.#unsure(person, unresolved, () =>
        this.#change(person, 'POST', '/auth/verify-email', carried, '200', '400 invalid_token'),
      );
      person.isVerified = status === 200;
      return person.isVerified;
    });
  }

  async #changePassword(person: Somebody, session: HeldSession): Promise<void> {
    const old = person.password;
    const body = { current_password: old, new_password: this.#password() };
    await this.#renewing(
      person,
      session,
      'password.changed',
      (carried) => this.#change(person, 'POST', '/auth/passwords/change', { ...carried, body }, '200'),
      () => this.#replacedPassword(person, old, body.new_password),
    );
    person.password = body.new_password;
    session.at = Date.now();
    this.storm.owe(person.email, 'password-changed');
  }

  /** @returns whether the new password is the account's. Exactly one of the two must be. */
  async #replacedPassword(person: Somebody, old: string, replacement: string): Promise<boolean> {
    const before = old !== '' && (await this.#accepts(person, old)) !== 'no';
    const after = (await this.#accepts(person, replacement)) !== 'no';
    if (old !== '' && before === after)
      this.#violation(person, `${before ? 'both' : 'neither'} of the old and the new password`);
    if (after) person.password = replacement;
    return after;
  }

  /** @returns false if the link was dead */
  async #reset(person: Somebody, token: string): Promise<boolean> {
    const old = person.password;
    const body = { token, new_password: this.#password() };
    const applied = () => {
      person.endAll();
      person.password = body.new_password;
      person.needsPassword = false;
      person.isVerified = true;
      this.storm.happened(person.id, 'password.reset');
    };
    const reset = (...more: string[]) =>
      this.#change(person, 'POST', '/auth/passwords/reset', { body }, '204', ...more);
    const unresolved = async () => {
      // Used up with the new password, or good with the old one.
      const isDone = await this.#replacedPassword(person, old, body.new_password);
      const { status } = await reset('400 invalid_token');
      if (isDone && status === 204) this.#violation(person, 'half a reset: the link works twice');
      if (isDone || status === 204) applied();
    };
    const { status } = await this.#unsure(person, unresolved, () => reset('400 invalid_token'));
    if (status === 204) applied();
    return status === 204;
  }

  async #changeEmail(person: Somebody, session: HeldSession): Promise<void> {
    const since = this.storm.inbox.length;
    const email = this.#address();
    const asked = { browser: session.browser, body: { new_email: email } };
    await this.#ask(person, 'POST', '/auth/email-changes', asked, '202');
    const old = person.email;
    const isDone = async () => {
      const before = (await this.#accepts(person, person.password, old)) !== 'no';
      const after = (await this.#accepts(person, person.password, email)) !== 'no';
      if (before === after) this.#violation(person, `${before ? 'both' : 'neither'} of the emails`);
      if (after) person.email = email;
      return after;
    };
    const path = '/auth/email-changes/confirm';
    await this.#byMail(person, { to: email, kind: 'verify-new-email', since }, async (token) => {
      const confirm = (carried: Carried) =>
        this.#change(person, 'POST', path, { ...carried, body: { token } }, '200');
      await this.#renewing(person, session, 'user.email_changed', confirm, isDone);
      return true;
    });
    person.email = email;
    this.storm.owe(old, 'email-changed');
    // It does not count as a recent sign-in.
    session.at = 0;
  }

  async #link(person: Somebody, session: HeldSession): Promise<void> {
    await this.#linking(person, () => this.#viaProvider(person, 'link', session.browser, ['303']));
    this.#linked(person, true);
    this.storm.owe(person.email, 'provider-linked');
  }

  async #unlink(person: Somebody, session: HeldSession): Promise<void> {
    await this.#linking(person, () =>
      this.#change(person, 'DELETE', `${AT_PROVIDER}/unlink`, session, '204'),
    );
    this.#linked(person, false);
    this.storm.owe(person.email, 'provider-unlinked');
  }

  /** A change after which the identity is linked, or not. */
  async #linking(person: Somebody, act: () => Promise<Answer>): Promise<void> {
    const unresolved = async () => {
      const linked = await this.#listed(person, '/auth/oauth/accounts', 'accounts', 'provider_account_id');
      if (linked.some((one) => one !== person.subject)) this.#violation(person, `${linked} is linked`);
      if (person.isLinked === linked.length > 0) person.setLinked(person.isLinked);
      else this.#linked(person, !person.isLinked);
    };
    await this.#unsure(person, unresolved, act);
  }

  #linked(person: Somebody, isLinked: boolean): void {
    person.setLinked(isLinked);
    this.storm.happened(person.id, isLinked ? 'account.linked' : 'account.unlinked');
  }

  /** An undo has put this back. */
  #undone(person: Somebody, former: Former): void {
    this.storm.happened(person.id, 'account.recovered');
    if (person.email !== former.email) this.storm.happened(person.id, 'user.email_changed');
    person.restore(former);
  }

  async #createKey(person: Somebody, session: HeldSession): Promise<void> {
    const unresolved = async () => {
      const known = new Set(person.keys.map(({ id }) => id));
      const listed = await this.#listed(person, '/auth/api-keys', 'api_keys');
      // Nobody has its text.
      for (const id of listed.filter((one) => !known.has(one))) {
        person.keys.push({ id, key: '' });
        this.storm.happened(person.id, 'api_key.created');
      }
    };
    const carried = { browser: session.browser, body: { name: 'in the storm' } };
    const create = () => this.#change(person, 'POST', '/auth/api-keys', carried, '201');
    const { body } = await this.#unsure(person, unresolved, create);
    person.keys.push({ id: body.api_key.id, key: body.key });
    this.storm.happened(person.id, 'api_key.created');
    this.storm.owe(person.email, 'api-key-created');
  }

  async #suspending(person: Somebody, isSuspended: boolean): Promise<boolean> {
    if (!person.password) return false;
    await this.#freshAdmin(person);
    const path = `/auth/admin/users/${person.id}/${isSuspended ? 'suspend' : 'reinstate'}`;
    const applied = (is: boolean) => {
      if (is) person.endAll();
      if (is === isSuspended) this.storm.happened(person.id, is ? 'user.suspended' : 'user.reinstated');
      person.isSuspended = is;
    };
    const unresolved = async () => applied((await this.#accepts(person)) === 'suspended');
    await this.#unsure(person, unresolved, () => this.#asAdmin(person, 'POST', path, '200'));
    applied(isSuspended);
    return true;
  }

  /** Somebody else signs up with the address, or with the identity at the provider: whether anything is left shows there. */
  async #deleting(person: Somebody, act: () => Promise<Answer>): Promise<boolean> {
    if (!person.password) return false;
    const isByProvider = this.random() < 0.5;
    const other = new Somebody(person.email, isByProvider ? '' : this.#password(), person.subject);
    const replace = async () => {
      person.endAll();
      person.dropKeys(() => true);
      await this.#lookAtDead(person);
      // What an earlier attempt may have left, such as a session whose cookie was lost.
      await other.unresolved?.();
      other.unresolved = null;
      await (isByProvider ? this.#signUpByProvider(other) : this.#signUp(other));
      if (other.id === person.id) this.#violation(person, 'a deleted account is there again');
      this.storm.happened(person.id, 'user.deleted');
      this.storm.happened(other.id, 'user.created');
      other.log.push(...person.log, '— deleted; somebody else has signed up');
      other.dead.push(...person.dead);
      other.revoked.push(...person.revoked);
      other.deadKeys.push(...person.deadKeys);
      this.people.splice(this.people.indexOf(person), 1, other);
    };
    const unresolved = async () => {
      if ((await this.#accepts(person)) === 'no') await replace();
    };
    await this.#unsure(person, unresolved, act);
    // What follows may not be answered either, and is done again then.
    await this.#unsure(person, replace, replace);
    return true;
  }

  /** Can be done again. */
  async #signUp(person: Somebody): Promise<void> {
    const body = { email: person.email, password: person.password };
    const path = '/auth/signup/credential';
    const { status, body: made } = await this.#ask(person, 'POST', path, { body }, '201', '409 email_taken');
    if (status === 201) person.id = made.user.id;
    else {
      await this.#beginWithPassword(person, person.browsers[0] as Browser);
      person.id = await this.#idOf(person);
    }
  }

  /** Can be done again: then it is a sign-in. */
  async #signUpByProvider(person: Somebody): Promise<void> {
    person.isVerified = true;
    person.setLinked(true);
    await this.#beginByProvider(person, person.browsers[0] as Browser);
    person.id = await this.#idOf(person);
    this.storm.happened(person.id, 'account.linked');
  }

  async #idOf(person: Somebody): Promise<string> {
    const [session] = person.sessions as [HeldSession];
    return (await this.#ask(person, 'GET', '/auth/me', session, '200')).body.user.id;
  }

  /** @returns whether there was what it takes: a way in, and a second factor if one is needed */
  async #signIn(person: Somebody, browser: Browser, isByProvider = person.password === ''): Promise<boolean> {
    if (isByProvider ? !person.isLinked : person.password === '') return false;
    const proof = person.hasSecondFactor ? this.#proof(person) : null;
    if (person.hasSecondFactor && !proof) return false;
    if (!proof && isByProvider) await this.#beginByProvider(person, browser);
    else if (!proof) await this.#beginWithPassword(person, browser);
    else {
      if (!(await this.#firstStep(person, browser, isByProvider)))
        this.#violation(person, 'no second factor was asked for');
      const path = '/auth/signin/second-factor';
      await this.#beginning(person, browser, () =>
        this.#change(person, 'POST', path, { browser, body: proof }, '200'),
      );
      if (proof.method === 'recovery_code') person.unsureCodes--;
    }
    return true;
  }

  /** @returns whether a second factor is asked for */
  async #firstStep(person: Somebody, browser: Browser, isByProvider: boolean): Promise<boolean> {
    if (isByProvider) return isSecondStep(await this.#viaProvider(person, 'authorize', browser, ['303']));
    const body = { credential: person.email, password: person.password };
    return 'second_factor' in (await this.#ask(person, 'POST', SIGN_IN, { browser, body }, '200')).body;
  }

  /** A second factor, which counts as used or not until it is answered. */
  #proof(person: Somebody) {
    const proof = person.proof();
    if (proof?.method === 'recovery_code') person.unsureCodes++;
    return proof;
  }

  /** With the code that is emailed where the account does not know the browser, if the app asks for one. */
  async #beginWithPassword(person: Somebody, browser: Browser): Promise<void> {
    const since = this.storm.inbox.length;
    const body = { credential: person.email, password: person.password };
    const { first } = person;
    try {
      await this.#beginning(person, browser, async () => {
        const answer = await this.#change(person, 'POST', SIGN_IN, { browser, body }, '200');
        if (isEmailCode(answer)) throw new CodeNeeded();
        return answer;
      });
    } catch (error) {
      if (!(error instanceof CodeNeeded)) throw error;
      person.first = first;
      const path = '/auth/signin/second-factor';
      await this.#byMail(person, { to: person.email, kind: 'browser-code', since }, async (code) => {
        const carried = { browser, body: { method: 'email_code', code } };
        const dead = ['401 invalid_code', '401 sign_in_expired'];
        return this.#beginUnlessDead(person, browser, () =>
          this.#change(person, 'POST', path, carried, '200', ...dead),
        );
      });
    }
  }

  /**
   * @param proof of the second factor, if there is one
   * @returns false if the link is that of an earlier request, whose answer was lost
   */
  async #beginByMail(
    person: Somebody,
    browser: Browser,
    token: string,
    proof: ReturnType<Somebody['proof']>,
  ): Promise<boolean> {
    const carried = { browser, body: { token } };
    const dead = ['401 sign_in_expired', '403 other_browser'];
    const confirm = () => this.#change(person, 'POST', '/auth/signin/email/confirm', carried, '200', ...dead);
    if (proof) {
      // Without an answer, the link may be used up, and nothing else has happened.
      const { status, body } = await this.#unsure(person, async () => {}, confirm);
      if (status !== 200) return false;
      if (!('second_factor' in body)) this.#violation(person, 'no second factor was asked for');
      const path = '/auth/signin/second-factor';
      await this.#beginning(person, browser, () =>
        this.#change(person, 'POST', path, { browser, body: proof }, '200'),
      );
      if (proof.method === 'recovery_code') person.unsureCodes--;
      return true;
    }
    try {
      return await this.#beginUnlessDead(person, browser, confirm);
    } finally {
      // The mailbox alone is no recent sign-in of an account that has another proof.
      const session = person.sessionOf(browser);
      if (session) session.at = 0;
    }
  }

  /** If it is not known which session has begun, its cookie counts as lost. */
  async #beginByProvider(person: Somebody, browser: Browser): Promise<void> {
    await this.#beginning(person, browser, async () => {
      const former = new Map(browser.cookies);
      await this.#viaProvider(person, 'authorize', browser, ['303']);
      try {
        const { body } = await this.#ask(person, 'GET', '/page', { browser }, '200');
        return { body: { session: { id: body.session, aal: body.aal } } };
      } catch (error) {
        browser.cookies = former;
        throw error;
      }
    });
  }

  /** A sign-in with what an email has brought. @returns false if it is of an earlier one, so that nobody is signed in */
  async #beginUnlessDead(person: Somebody, browser: Browser, act: () => Promise<Answer>): Promise<boolean> {
    const { first } = person;
    try {
      await this.#beginning(person, browser, async () => {
        const answer = await act();
        if (answer.status !== 200) throw new Dead();
        return answer;
      });
      return true;
    } catch (error) {
      if (!(error instanceof Dead)) throw error;
      person.first = first;
      return false;
    }
  }

  /** A sign-in, which ends the session that the browser has. */
  async #beginning(
    person: Somebody,
    browser: Browser,
    act: () => Promise<Pick<Answer, 'body'>>,
  ): Promise<void> {
    const former = person.sessionOf(browser);
    const cookie = browser.header;
    const isFirst = person.first === undefined;
    // If the answer is lost, no browser has what the account knows the first one by.
    if (isFirst) person.first = null;
    const unresolved = async () => {
      person.ghosts++;
      if (former && !(await this.#isOpen(person, cookie))) person.ended([former]);
    };
    const { body } = await this.#unsure(person, unresolved, act);
    if (!body.session) this.#violation(person, 'a second factor was asked for');
    const { id, aal } = body.session;
    if (former) person.dead.push(cookie);
    const session = person.begin(browser, { id, aal });
    if (isFirst) person.first = browser;
    if (former) await this.#refused(person, cookie);
    await this.#open(person, session);
  }

  /** Ends sessions: all of these, or none. */
  async #ending(
    person: Somebody,
    which: readonly HeldSession[] | 'all',
    act: () => Promise<Answer>,
  ): Promise<void> {
    const sessions = which === 'all' ? person.sessions : which;
    const ended = () => (which === 'all' ? person.endAll() : person.ended(sessions));
    const headers = sessions.map(({ browser }) => browser.header);
    const unresolved = async () => {
      const open = await this.#countOpen(person, headers);
      if (open > 0 && open < headers.length)
        this.#violation(person, `${open} of ${headers.length} sessions live`);
      // Without a session that is known, nothing tells what has become of those that nobody knows.
      if (open === 0 && headers.length > 0) ended();
    };
    await this.#unsure(person, unresolved, act);
    ended();
    for (const header of headers.slice(0, 2)) await this.#refused(person, header);
  }

  /**
   * A change that ends all other sessions, and gives this one a new token.
   *
   * @param event tells of it
   * @param isDone finds out whether it was done, and takes it over
   */
  async #renewing(
    person: Somebody,
    session: HeldSession,
    event: AuthEventName,
    act: (carried: { browser: Browser }) => Promise<Answer>,
    isDone: () => Promise<boolean>,
  ): Promise<Answer> {
    const others = person.sessions.filter((one) => one !== session);
    const former = session.browser.header;
    const unresolved = async () => {
      if (!(await isDone())) return;
      this.storm.happened(person.id, event);
      person.ended(others);
      person.lost([session]);
      person.ghosts = 1;
    };
    const answer = await this.#unsure(person, unresolved, () => act({ browser: session.browser }));
    this.storm.happened(person.id, event);
    const { aal } = answer.body?.session ?? {};
    if (aal !== undefined) session.aal = aal;
    person.ended(others);
    person.ghosts = 0;
    person.dead.push(former);
    return answer;
  }

  /** A session whose user has authenticated recently, also with the second factor. */
  async #fresh(person: Somebody): Promise<HeldSession | null> {
    const session = this.#one(person.sessions);
    if (!session || !person.password) return null;
    return person.isFresh(session) || (await this.#reauthenticate(person, session)) ? session : null;
  }

  /** @returns whether the user had what it takes */
  async #reauthenticate(person: Somebody, session: HeldSession): Promise<boolean> {
    const { browser } = session;
    const path = '/auth/reauthenticate';
    if (!person.hasSecondFactor) {
      if (!person.password) return false;
      await this.#ask(person, 'POST', path, { browser, body: { password: person.password } }, '204');
      session.at = Date.now();
      return true;
    }
    const proof = this.#proof(person);
    if (!proof) return false;
    const former = browser.header;
    const body = proof.method === 'totp' ? { code: proof.code } : { recovery_code: proof.code };
    const unresolved = async () => {
      if (await this.#isOpen(person, former)) return;
      person.lost([session]);
      person.ghosts++;
    };
    await this.#unsure(person, unresolved, () =>
      this.#change(person, 'POST', path, { browser, body }, '204'),
    );
    if (proof.method === 'recovery_code') person.unsureCodes--;
    person.dead.push(former);
    session.aal = 2;
    session.at = Date.now();
    await this.#refused(person, former);
    return true;
  }

  #asAdmin(person: Somebody, method: string, path: string, wanted: string): Promise<Answer> {
    const { browser } = this.admin.sessions[0] as HeldSession;
    return this.#change(person, method, path, { browser, body: {} }, wanted);
  }

  async #freshAdmin(person: Somebody): Promise<void> {
    const [session] = this.admin.sessions as [HeldSession];
    if (this.admin.isFresh(session)) return;
    const carried = { browser: session.browser, body: { password: ADMIN_PASSWORD } };
    await this.#ask(person, 'POST', '/auth/reauthenticate', carried, '204');
    session.at = Date.now();
  }

  // Looking.

  /** Compares everything that can be asked for. */
  async #look(person: Somebody): Promise<void> {
    for (const session of person.sessions) await this.#open(person, session);
    for (const { key } of person.keys) if (key) await this.#useKey(person, key);
    await this.#lookAtDead(person);
    if (person.password) this.#equal(person, 'a sign-in', outcomeFor(person), await this.#accepts(person));
    if (person.isLinkNew || this.random() < LINKS) await this.#lookAtProvider(person);
    const [session] = person.sessions;
    if (!session) return;
    const { body: me } = await this.#ask(person, 'GET', '/auth/me', session, '200');
    const { email, email_verified_at: verifiedAt } = me.user;
    this.#equal(person, 'GET /me', [person.email, person.isVerified], [email, verifiedAt !== null]);
    const listed = await this.#listed(person, '/auth/sessions', 'sessions');
    const known = person.sessions.map(({ id }) => id);
    if (!known.every((id) => listed.includes(id)) || listed.length > known.length + person.ghosts)
      this.#violation(
        person,
        `${listed.length} sessions are listed, not ${known.length} to ${known.length + person.ghosts}`,
      );
    person.ghosts = listed.length - known.length;
    const keys = await this.#listed(person, '/auth/api-keys', 'api_keys');
    this.#equal(person, 'GET /api-keys', person.keys.map(({ id }) => id).sort(), keys.sort());
    const { body: ways } = await this.#ask(person, 'GET', '/auth/sign-in-methods', session, '200');
    const { password, passkeys, totp, providers, recovery_codes_left: codes } = ways;
    const { isLinked, hasSecondFactor } = person;
    const hasPassword = person.password !== '' || person.needsPassword;
    const has = [hasPassword, person.passkeys.length, hasSecondFactor, isLinked ? [PROVIDER] : []];
    this.#equal(person, 'GET /sign-in-methods', has, [password, passkeys, totp, providers]);
    const [least, most] = [person.recoveryCodes.length, person.recoveryCodes.length + person.unsureCodes];
    if (person.hasSecondFactor && person.knowsCodes && !(codes >= least && codes <= most))
      this.#violation(person, `${codes} recovery codes, not ${least} to ${most}`);
  }

  /** Some of what was ended, the newest among it, opens nothing. */
  async #lookAtDead(person: Somebody): Promise<void> {
    const some = (list: readonly string[]) => [
      ...list.slice(-DEAD / 2),
      ...Array.from({ length: DEAD / 2 }, () => this.#one(list) ?? ''),
    ];
    for (const cookie of some(person.dead)) if (cookie) await this.#refused(person, cookie);
    for (const key of some(person.deadKeys))
      if (key) await this.#ask(person, 'GET', '/page', { key }, '401 invalid_api_key');
  }

  /** An identity that is linked signs in, and one that is not opens nothing. */
  async #lookAtProvider(person: Somebody): Promise<void> {
    const wanted = person.isLinked ? outcomeFor(person) : 'no';
    this.#equal(person, 'a sign-in at the provider', wanted, await this.#acceptsIdentity(person));
    person.isLinkNew = false;
  }

  /** What a sign-in at the provider comes to. It leaves nothing behind. */
  async #acceptsIdentity(person: Somebody): Promise<Outcome> {
    const browser = new Browser();
    this.#signsInElsewhere(person);
    // Nobody is found by the identity then, but somebody by its email.
    const refused = ['303 account_exists', '303 account_suspended'];
    const answer = await this.#viaProvider(person, 'authorize', browser, ['303', ...refused]);
    const error = errorIn(answer);
    if (error) return error === 'account_exists' ? 'no' : 'suspended';
    // Unless it is signed out.
    person.ghosts++;
    await this.#ask(person, 'POST', '/auth/signout', { browser }, '204');
    person.ghosts--;
    return isSecondStep(answer) ? 'second_factor' : 'yes';
  }

  /** What a sign-in with a password comes to. It leaves nothing behind. */
  async #accepts(person: Somebody, password = person.password, email = person.email): Promise<Outcome> {
    const browser = new Browser();
    const body = { credential: email, password };
    const refused = ['401 invalid_credentials', '403 account_suspended', '403 new_password_required'];
    this.#signsInElsewhere(person);
    const answer = await this.#ask(person, 'POST', SIGN_IN, { browser, body }, '200', ...refused);
    if (answer.status === 401) return 'no';
    if (answer.status === 403) return answer.body.code === 'account_suspended' ? 'suspended' : 'new_password';
    await this.#ask(person, 'POST', '/auth/signout', { browser }, '204');
    return 'second_factor' in answer.body && !isEmailCode(answer) ? 'second_factor' : 'yes';
  }

  /** The first sign-in of an account in a browser that nobody keeps leaves none that proves who undoes a change. */
  #signsInElsewhere(person: Somebody): void {
    person.first ??= null;
  }

  /** The ids of a list, by a session of the person, or one that is begun for it. */
  async #listed(person: Somebody, path: string, name: string, key = 'id'): Promise<string[]> {
    let [session] = person.sessions;
    if (!session) {
      if (!(await this.#signIn(person, person.browsers[0] as Browser))) throw new Unsure();
      [session] = person.sessions;
    }
    const { body } = await this.#ask(person, 'GET', path, session as HeldSession, '200');
    return body[name].map((one: Record<string, string>) => one[key]);
  }

  async #open(person: Somebody, session: HeldSession): Promise<void> {
    const { body } = await this.#ask(person, 'GET', '/page', { cookie: session.browser.header }, '200');
    const wanted = [person.id || body.user, person.email, session.id, session.aal, 'cookie'];
    this.#equal(person, 'GET /page', wanted, [body.user, body.email, body.session, body.aal, body.via]);
  }

  async #useKey(person: Somebody, key: string): Promise<void> {
    const held = person.needsPassword ? '403 task_required' : '200';
    const wanted = person.isSuspended ? '403 account_suspended' : held;
    const { status, body } = await this.#ask(person, 'GET', '/page', { key }, wanted);
    if (status === 200)
      this.#equal(person, 'GET /page with a key', [person.id, 'api-key'], [body.user, body.via]);
  }

  async #isOpen(person: Somebody, cookie: string): Promise<boolean> {
    return (await this.#ask(person, 'GET', '/page', { cookie }, '200', '401 invalid_session')).status === 200;
  }

  async #countOpen(person: Somebody, cookies: readonly string[]): Promise<number> {
    let open = 0;
    for (const cookie of cookies) if (await this.#isOpen(person, cookie)) open++;
    return open;
  }

  async #refused(person: Somebody, cookie: string): Promise<void> {
    await this.#ask(person, 'GET', '/page', { cookie }, '401 invalid_session');
  }

  /** Uses the token of an email that comes after `since`. One that was late has a link that may be dead by now. */
  async #byMail(
    person: Somebody,
    { to, kind, since }: { to: string; kind: string; since: number },
    use: (token: string) => Promise<boolean>,
  ): Promise<void> {
    for (let nth = 0; ; nth++) {
      const token = await this.storm.mail(to, kind, since, nth);
      if (token && (await use(token))) return;
      if (token) continue;
      person.log.push(`no ${kind} that works, of ${nth}`);
      throw new Unsure();
    }
  }

  // Asking.

  /** Asks for what changes nothing, or for what can be asked for again. */
  async #ask(
    person: Somebody,
    method: string,
    path: string,
    carried: Carried,
    ...wanted: string[]
  ): Promise<Answer> {
    return this.#answered(person, `${method} ${path}`, () =>
      this.#send(person, method, path, carried, wanted),
    );
  }

  /** Sends a browser to the provider and back. What it brings back counts once, so it begins again if that is not answered. */
  async #viaProvider(
    person: Somebody,
    purpose: 'authorize' | 'link',
    browser: Browser,
    wanted: readonly string[],
    subject = person.subject,
  ): Promise<Answer> {
    const claims = { sub: subject, email: person.email, email_verified: true };
    const path = `${AT_PROVIDER}/${purpose}`;
    return this.#answered(person, `GET ${path}`, async () => {
      const begun = await this.#send(person, 'GET', path, { browser }, ['302']);
      if (!begun) return null;
      const back = new URL(await visitProvider(begun.location ?? '', claims));
      const answer = await this.#send(person, 'GET', back.pathname + back.search, { browser }, wanted);
      // A session may have begun whose token nobody has.
      if (!answer && purpose === 'authorize') person.ghosts++;
      return answer;
    });
  }

  /** Tries until there is an answer; while something fails, once. */
  async #answered(person: Somebody, what: string, attempt: () => Promise<Answer | null>): Promise<Answer> {
    const until = performance.now() + RECOVERY_MS;
    for (;;) {
      const answer = await attempt();
      if (answer) return answer;
      if (!this.storm.isCalm) throw new Unsure();
      if (performance.now() > until) this.#violation(person, `${what} does not work again`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Asks for a change, within {@link Lane.#unsure}, which knows what to do without an answer. */
  async #change(
    person: Somebody,
    method: string,
    path: string,
    carried: Carried,
    ...wanted: string[]
  ): Promise<Answer> {
    const answer = await this.#send(person, method, path, carried, wanted);
    if (!answer) throw new Unsure();
    return answer;
  }

  /** Does something, and remembers how to find out whether it was done if that is not answered. */
  async #unsure<T>(person: Somebody, unresolved: () => Promise<void>, act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof Unsure) {
        if (this.storm.isCalm && !this.#isSlow)
          this.#violation(person, 'no answer although nothing is wrong');
        person.unresolved = unresolved;
      }
      throw error;
    }
  }

  /** @returns null for no answer, for 503, and if the app did not get an answer of the provider in time */
  async #send(
    person: Somebody,
    method: string,
    path: string,
    carried: Carried,
    wanted: readonly string[],
  ): Promise<Answer | null> {
    const { process, answer, ms } = await this.storm.send(this.random, method, path, carried);
    const got = answer ? inWords(answer) : 'no answer';
    const what = `${method} ${path.split('?', 1)[0]}`;
    person.log.push(`${this.storm.clock} process ${process}: ${what}: ${got} (${ms} ms)`);
    this.#isSlow = answer !== null && ms > GIVES_UP_MS;
    if (!answer || got === '503 unavailable' || got.endsWith(' provider_error')) return null;
    if (!wanted.includes(got)) this.#violation(person, `${what}: ${got}, not ${wanted.join(' or ')}`);
    return answer;
  }

  #equal(person: Somebody, what: string, wanted: unknown, got: unknown): void {
    const [left, right] = [JSON.stringify(wanted), JSON.stringify(got)];
    if (left !== right) this.#violation(person, `${what}: ${right}, not ${left}`);
  }

  #violation(person: Somebody, text: string): never {
    throw new Violation(text, person);
  }

  #password(): string {
    return `${PASSWORD_MARK} ${Math.floor(this.random() * 1e9)}`;
  }

  #one<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.random() * list.length)];
  }

  #choose(): Kind {
    if (this.only) return this.only;
    let at = this.random() * TOTAL;
    for (const kind of KINDS) {
      at -= WEIGHTS[kind];
      if (at < 0) return kind;
    }
    return 'page';
  }
}
