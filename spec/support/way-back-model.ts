import assert from 'node:assert/strict';
import bcrypt from 'bcrypt';
import fc from 'fast-check';
import { internalsOf } from '../../lib/auth.js';
import { apiKeys, emailSignIn, type MailMessage, twoFactor } from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { password, type SpecApp, sessionCookie, startApp } from './app.js';
import { rows } from './database.js';
import { proveMailbox } from './email-proof.js';
import { ago, DAY, settled } from './sessions.js';
import { codeOf } from './two-factor.js';

// A model of the parties who can act on an account: the owner, a thief who has some of the owner's credentials, a
// stranger who signed up with the owner's address first, a newcomer who signs up with the address once it is free, support,
// and an import that is repeated. Each party acts over HTTP, in any order.

const plugins = () =>
  [password(), twoFactor(), apiKeys(), emailSignIn({ signUp: true }), movingIn()] as const;
type App = SpecApp<ReturnType<typeof plugins>>;
type Browser = ReturnType<App['browser']>;
type Answer = Awaited<ReturnType<Browser['post']>>;

/** The things that a thief can have. A session is the owner's: a fresh session, or a session from yesterday. */
export const LOOT = ['mailbox', 'password', 'phone', 'fresh session', 'stale session'] as const;
export const STEPS = [
  ...(['owner signs in', 'owner changes the password', 'owner puts the account back'] as const),
  ...(['thief signs in', 'thief changes the email', 'thief changes the password', 'thief resets'] as const),
  ...([
    'thief switches the factor off',
    'thief enrols',
    'thief makes a key',
    'thief forgets browsers',
  ] as const),
  ...(['thief undoes', 'thief signs all out', 'support puts the account back'] as const),
  ...(['owner signs in by a code', 'newcomer signs up', 'import updates the account'] as const),
] as const;
/** Steps that matter in this order, which is rare by chance. */
const STARTS: readonly (readonly (typeof STEPS)[number][])[] = [
  [],
  ['thief signs in', 'import updates the account'],
  ['thief signs in', 'thief makes a key', 'import updates the account'],
  ['thief changes the email', 'newcomer signs up'],
  ['thief changes the email', 'owner signs in by a code'],
];
/** How well the owner's address is proven in the beginning. */
const LEVELS = ['none', 'app', 'mailbox'] as const;
const IMPORTED = { none: false, app: 'app', mailbox: true } as const;

export interface Plan {
  readonly level: (typeof LEVELS)[number];
  /** Never at the level `none`, at which no second factor can be set up. */
  readonly factor: boolean;
  /** Whether the account comes from another system. */
  readonly isImported: boolean;
  /** Null for a stranger who signed up first. */
  readonly loot: readonly (typeof LOOT)[number][] | null;
  readonly steps: readonly (typeof STEPS)[number][];
}

export const plans: fc.Arbitrary<Plan> = fc
  .record({
    level: fc.constantFrom('mailbox', ...LEVELS),
    factor: fc.boolean(),
    isImported: fc.boolean(),
    loot: fc.option(fc.subarray([...LOOT]), { freq: 5 }),
    start: fc.constantFrom(...STARTS),
    steps: fc.array(fc.constantFrom(...STEPS), { minLength: 3, maxLength: 10 }),
  })
  .map(({ start, ...plan }) => ({
    ...plan,
    factor: plan.factor && plan.level !== 'none',
    steps: [...start, ...plan.steps],
  }));

export async function startModel(): Promise<{ app: App; mails: MailMessage[] }> {
  const mails: MailMessage[] = [];
  const config = {
    baseUrl: 'http://app.example.com',
    email: { send: (mail: MailMessage) => void mails.push(mail) },
  };
  return { app: await startApp({ plugins: plugins(), config }), mails };
}

let people = 0;

/** One account, and the parties around it. */
export class Story {
  readonly email = `owner-${people++}@example.com`;
  readonly #evil = `thief-${people}@example.com`;
  readonly #owner: { browser: Browser; passwords: string[]; secret: string | null };
  readonly #thief: { passwords: string[]; secrets: string[]; sessions: Browser[]; keys: string[] };
  /** The emails that the thief's actions have caused. */
  readonly #alarms: MailMessage[] = [];
  #id = '';
  #words = 0;

  constructor(
    private readonly app: App,
    private readonly mails: MailMessage[],
    private plan: Plan,
  ) {
    this.#owner = { browser: app.browser(), passwords: [], secret: null };
    this.#thief = { passwords: [], secrets: [], sessions: [], keys: [] };
  }

  async tell(): Promise<void> {
    this.mails.length = 0;
    await (this.plan.loot ? this.#begin() : this.#beginAsStranger());
    for (const step of this.plan.steps) await this.#take(step);
    await this.#take('owner puts the account back');
  }

  get #isStranger(): boolean {
    return this.plan.loot === null;
  }

  #holds(what: (typeof LOOT)[number]): boolean {
    return this.plan.loot?.includes(what) ?? false;
  }

  /**
   * Whether the thief has everything that a sign-in requires, so that latchkey cannot distinguish them from the owner.
   */
  get #isOwnerToUs(): boolean {
    const hasPassword = this.#holds('password') || this.#holds('mailbox');
    return hasPassword && (!this.plan.factor || this.#holds('phone'));
  }

  /** Whether the thief can be the first who proves the mailbox, to whom the account belongs from then on. */
  get #canBeFirst(): boolean {
    return this.plan.level !== 'mailbox' && this.#holds('mailbox');
  }

  /** The owner, 40 days after the sign-up. */
  async #begin(): Promise<void> {
    const words = this.#newWords('owner');
    const id = await this.#create(words);
    this.#id = id;
    const { browser, passwords } = this.#owner;
    passwords.push(words);
    const first = await browser
      .post('/auth/signin/credential')
      .send({ credential: this.email, password: words });
    let token = sessionCookie(first)?.value;
    if (this.plan.factor) {
      const { secret } = (await browser.post('/auth/two-factor/totp').expect(201)).body;
      this.#owner.secret = secret;
      const confirmed = await browser
        .post('/auth/two-factor/totp/confirm')
        .send({ code: this.#code(secret) });
      token = sessionCookie(confirmed)?.value;
    }
    for (const table of ['users WHERE id', 'known_devices WHERE user_id']) {
      const [name, key] = table.split(' WHERE ');
      const sql = `UPDATE ${name} SET created_at = :at WHERE ${key} = :id`;
      await rows(this.app.database, sql, { at: ago(40 * DAY), id });
    }
    await rows(this.app.database, 'DELETE FROM account_changes WHERE user_id = :id', { id });
    if (this.#holds('password')) this.#thief.passwords.push(words);
    if (this.#holds('phone') && this.#owner.secret) this.#thief.secrets.push(this.#owner.secret);
    const isStale = this.#holds('stale session') && !this.#holds('fresh session');
    if (isStale || this.#holds('fresh session')) {
      const thief = this.app.browser();
      thief.jar.setCookie(`latchkey=${token}; Path=/`, '127.0.0.1', '/');
      this.#thief.sessions.push(thief);
    }
    const yesterday = { at: ago(DAY), id };
    if (isStale)
      await rows(
        this.app.database,
        'UPDATE sessions SET authenticated_at = :at WHERE user_id = :id',
        yesterday,
      );
  }

  /** @returns the id of the account */
  async #create(words: string): Promise<string> {
    const { auth } = this.app;
    const { level, isImported } = this.plan;
    if (isImported) {
      await this.#import(words, IMPORTED[level]);
      return `${(await auth.users.find({ email: this.email }))?.id}`;
    }
    const { id } = await auth.users.create({ email: this.email, password: words });
    if (level === 'app') await auth.markEmailVerified(id);
    if (level === 'mailbox') await proveMailbox(auth, id);
    return id;
  }

  /** Imports the account, or updates it. @returns whether it was updated */
  async #import(words: string, emailVerified: boolean | 'app'): Promise<boolean> {
    const row = {
      ref: this.email,
      email: this.email,
      emailVerified,
      passwordHash: await bcrypt.hash(words, 4),
    };
    const report = await this.app.auth.movingIn.importUsers([row], { source: 'old', update: true });
    return report.updated === 1;
  }

  async #beginAsStranger(): Promise<void> {
    const words = this.#newWords('stranger');
    const browser = this.app.browser();
    const { user } = (
      await browser.post('/auth/signup/credential').send({ email: this.email, password: words }).expect(201)
    ).body;
    this.#id = user.id;
    this.#thief.passwords.push(words);
  }

  #newWords(who: string): string {
    return `the words of the ${who}, ${this.#words++}`;
  }

  /** Returns a code of an authenticator app, for a time step that has not been used. */
  #code(secret: string): string {
    const { clock } = internalsOf(this.app.auth).core.database;
    clock.skip(61_000);
    return codeOf(secret, Math.floor(clock.now() / 30_000) - Math.floor(Date.now() / 30_000));
  }

  async #take(step: Plan['steps'][number]): Promise<void> {
    const [who] = step.split(' ');
    const before = this.mails.length;
    if (step === 'owner signs in')
      await this.#signIn(this.#owner.browser, this.#owner.passwords, this.#owners);
    else if (step === 'owner changes the password') await this.#change();
    else if (step === 'owner puts the account back') await this.#putBack();
    else if (step === 'support puts the account back') await this.#support();
    else if (step === 'owner signs in by a code') await this.#signInByCode();
    else if (step === 'newcomer signs up') await this.#signUp();
    else if (step === 'import updates the account') await this.#updateByImport();
    else await this.#steal(step);
    await settled(this.app.auth);
    if (who === 'thief') this.#alarms.push(...this.mails.slice(before).filter(({ to }) => to === this.email));
  }

  /** The owner reads the code that is emailed to the address. It can begin another account, if the address is free. */
  async #signInByCode(): Promise<void> {
    const { browser, secret } = this.#owner;
    await browser.post('/auth/signin/email').send({ email: this.email }).expect(202);
    await settled(this.app.auth);
    const mail = this.mails.findLast(({ kind, to }) => kind === 'sign-in-code' && to === this.email);
    const first = await browser.post('/auth/signin/email/confirm').send({ code: `${mail?.code}` });
    if (first.body.second_factor && secret !== null)
      await browser.post('/auth/signin/second-factor').send({ method: 'totp', code: this.#code(secret) });
  }

  /** Somebody mistypes their address, or means harm. */
  async #signUp(): Promise<void> {
    const given = { email: this.email, password: this.#newWords('newcomer') };
    const { status } = await this.app.http.post('/auth/signup/credential').send(given);
    if (status === 201) assert.equal(this.plan.level, 'none', 'an address that someone vouched for was free');
  }

  /** The other system has a new password of the owner, and has proven the mailbox. */
  async #updateByImport(): Promise<void> {
    if (!this.plan.isImported || this.#isStranger) return;
    const words = this.#newWords('import');
    const links = this.mails.filter(({ token, url }) => token && url.includes('undo'));
    if (!(await this.#import(words, true))) return;
    this.#owner.passwords.push(words);
    for (const { token } of links)
      assert.equal((await this.#owner.browser.post('/auth/undo-change/lookup').send({ token })).status, 400);
    assert.ok(
      await this.#signIn(this.#owner.browser, [words], this.#owners),
      'what the import did does not stand',
    );
    // They stay, as after a password that code has set, and no link can revoke them any more.
    await this.#revokeKeys();
  }

  async #revokeKeys(): Promise<void> {
    const { apiKeys } = this.app.auth;
    for (const { id } of await apiKeys.list(this.#id)) await apiKeys.revoke(this.#id, id);
  }

  /** Whether another account has the owner's address, which happens only if nobody had vouched for it. */
  async #isTaken(): Promise<boolean> {
    const other = await this.app.auth.users.find({ email: this.email });
    return other !== null && other.id !== this.#id;
  }

  get #owners(): readonly string[] {
    return this.#owner.secret === null ? [] : [this.#owner.secret];
  }

  /** Tries to sign in with the secrets that a party knows. @returns whether it has succeeded */
  async #signIn(browser: Browser, words: readonly string[], secrets: readonly string[]): Promise<boolean> {
    const emails = [this.email, this.#evil];
    for (const credential of emails)
      for (const one of words.toReversed()) {
        const first = await browser.post('/auth/signin/credential').send({ credential, password: one });
        if (first.status !== 200) continue;
        if (!first.body.second_factor) return true;
        for (const secret of secrets) {
          const code = this.#code(secret);
          const second = await browser.post('/auth/signin/second-factor').send({ method: 'totp', code });
          if (second.status === 200) return true;
        }
      }
    return false;
  }

  async #change(): Promise<void> {
    const { browser, passwords } = this.#owner;
    const next = this.#newWords('owner');
    const changed = await browser
      .post('/auth/passwords/change')
      .send({ current_password: passwords.at(-1) ?? '', new_password: next });
    if (changed.status === 200) passwords.push(next);
  }

  /**
   * The owner uses the first link about a change that they did not make. Otherwise they sign in and sign out all
   * others.
   */
  async #putBack(): Promise<void> {
    const { browser, passwords } = this.#owner;
    const link = await this.#firstAlarm();
    if (await this.#isTaken()) {
      assert.equal(this.plan.level, 'none', 'the address was not held');
      if (link) await this.#undoInVain(link);
      return;
    }
    if (link) await this.#undo(link);
    if (link || !(await this.#signIn(browser, passwords, this.#owners))) {
      await this.#reset(browser, this.email, passwords, this.#newWords('owner'));
      const isIn = await this.#signIn(browser, passwords, this.#owners);
      if (!isIn && this.#canBeFirst) return;
      assert.ok(isIn, 'the owner cannot sign in');
    }
    await browser.post('/auth/revoke-sessions').send({ others: true }).expect(200);
    const { user } = (await browser.get('/auth/me').expect(200)).body;
    assert.deepEqual([user.id, user.email], [this.#id, this.email]);
    if (!this.#isOwnerToUs) await this.#checkOut();
  }

  async #firstAlarm(): Promise<MailMessage | null> {
    for (const mail of this.#alarms.filter(({ token, url }) => token && url.includes('undo'))) {
      const { status, body } = await this.#owner.browser
        .post('/auth/undo-change/lookup')
        .send({ token: mail.token });
      if (status !== 200) continue;
      // After the first proof of the mailbox, there is no earlier browser, because it removes everything from before.
      const isProven = !this.#isStranger && this.plan.level === 'mailbox';
      if (body.missing.includes('browser')) assert.ok(!isProven, `no browser for ${mail.kind}`);
      else return mail;
    }
    return null;
  }

  async #undo({ token, kind }: MailMessage): Promise<void> {
    const { browser, passwords, secret } = this.#owner;
    let last: Answer | null = null;
    for (const one of passwords.toReversed()) {
      const code = secret === null ? {} : { code: this.#code(secret) };
      const bare = { token, password: one };
      last = await browser.post('/auth/undo-change').send(bare);
      const isFactorMissing = last.body.missing?.includes('second_factor');
      if (isFactorMissing) last = await browser.post('/auth/undo-change').send({ ...bare, ...code });
      if (last.status === 200) return;
    }
    if (!this.#canBeFirst)
      assert.fail(`the owner cannot undo ${kind}: ${last?.status} ${JSON.stringify(last?.body)}`);
  }

  /** An undo that would leave nobody a way in is refused, and changes nothing. */
  async #undoInVain({ token }: MailMessage): Promise<void> {
    const { browser, passwords } = this.#owner;
    const stored = () => rows(this.app.database, 'SELECT * FROM users WHERE id = :id', { id: this.#id });
    const before = await stored();
    for (const one of passwords.toReversed()) {
      const { status, body } = await browser.post('/auth/undo-change').send({ token, password: one });
      assert.notEqual(status, 200, 'an undo has left its user no way in');
      if (status === 409) assert.equal(body.code, 'last_sign_in_method');
    }
    assert.deepEqual(await stored(), before);
    assert.equal((await browser.post('/auth/undo-change/lookup').send({ token })).status, 200, 'used up');
  }

  /** Sets a password with a link in the emails to an address. @param learnt gets the password */
  async #reset(browser: Browser, email: string, learnt: string[], words: string): Promise<void> {
    await browser.post('/auth/passwords/request-reset').send({ email }).expect(202);
    await settled(this.app.auth);
    const links = this.mails.filter(({ kind, to }) => kind === 'reset-password' && to === email);
    for (const { token } of links.toReversed()) {
      const done = await browser.post('/auth/passwords/reset').send({ token, new_password: words });
      if (done.status !== 204) continue;
      learnt.push(words);
      return;
    }
  }

  /** Support knows the owner. */
  async #support(): Promise<void> {
    if (this.#isStranger || (await this.#isTaken())) return;
    const { users, twoFactor } = this.app.auth;
    const words = this.#newWords('support');
    const links = this.mails.filter(({ token, url }) => token && url.includes('undo'));
    await users.changeEmail(this.#id, this.email, { verified: true });
    await users.setPassword(this.#id, words);
    await twoFactor.disable(this.#id);
    await this.app.auth.endUndo(this.#id);
    await this.#revokeKeys();
    this.#owner.passwords.push(words);
    this.#owner.secret = null;
    this.plan = { ...this.plan, factor: false };
    for (const { token } of links)
      assert.equal((await this.#owner.browser.post('/auth/undo-change/lookup').send({ token })).status, 400);
    assert.ok(await this.#signIn(this.#owner.browser, [words], []), 'what support did does not stand');
  }

  async #steal(step: string): Promise<void> {
    const { passwords, secrets, sessions, keys } = this.#thief;
    if (step === 'thief signs in') {
      const browser = this.app.browser();
      if (await this.#signIn(browser, passwords, secrets)) sessions.push(browser);
      return;
    }
    if (step === 'thief undoes') return this.#abuseLinks();
    if (step === 'thief resets') {
      const browser = this.app.browser();
      const readable = [...(this.#holds('mailbox') ? [this.email] : []), this.#evil];
      for (const email of readable) await this.#reset(browser, email, passwords, this.#newWords('thief'));
      return;
    }
    for (const browser of sessions) await this.#misuse(browser, step, keys);
  }

  async #misuse(browser: Browser, step: string, keys: string[]): Promise<void> {
    const { passwords, secrets } = this.#thief;
    for (const one of [undefined, ...passwords.toReversed()]) {
      const proof = one === undefined ? {} : { password: one };
      const next = this.#newWords('thief');
      if (step === 'thief changes the email' && !this.#isStranger) {
        const asked = await browser.post('/auth/email-changes').send({ new_email: this.#evil, ...proof });
        if (asked.status !== 202) continue;
        await settled(this.app.auth);
        const link = this.mails.findLast(({ kind }) => kind === 'verify-new-email');
        await browser.post('/auth/email-changes/confirm').send({ token: link?.token, ...proof });
        return;
      }
      if (step === 'thief changes the password' && one !== undefined) {
        const change = { current_password: one, new_password: next };
        const done = await browser.post('/auth/passwords/change').send(change);
        if (done.status !== 200) continue;
        passwords.push(next);
        return;
      }
      if (step === 'thief makes a key') {
        const made = await browser.post('/auth/api-keys').send({ name: 'key', ...proof });
        if (made.status !== 201) continue;
        keys.push(made.body.key);
        return;
      }
      if (step === 'thief forgets browsers') {
        const { devices = [] } = (await browser.get('/auth/devices')).body;
        for (const { id } of devices) await browser.delete(`/auth/devices/${id}`).send(proof);
      }
    }
    if (step === 'thief switches the factor off') await browser.delete('/auth/two-factor/totp');
    if (step === 'thief signs all out') await browser.post('/auth/revoke-sessions').send({ others: true });
    if (step !== 'thief enrols') return;
    const { secret } = (await browser.post('/auth/two-factor/totp')).body;
    if (!secret) return;
    const done = await browser.post('/auth/two-factor/totp/confirm').send({ code: this.#code(secret) });
    if (done.status === 200) secrets.push(secret);
  }

  /** The thief tries all links that they can read, with all secrets that they know. */
  async #abuseLinks(): Promise<void> {
    const { passwords, secrets, sessions } = this.#thief;
    const isReadable = ({ to }: MailMessage) =>
      to === this.#evil || (this.#holds('mailbox') && to === this.email);
    const browser = sessions.at(-1) ?? this.app.browser();
    for (const { token, url } of this.mails.filter(isReadable)) {
      if (!token || !url.includes('undo')) continue;
      for (const one of [undefined, ...passwords]) {
        const [secret] = secrets;
        const code = secret === undefined ? {} : { code: this.#code(secret) };
        const done = await browser.post('/auth/undo-change').send({ token, password: one, ...code });
        assert.notEqual(done.status, 200, 'a thief has undone something in a browser of their own');
      }
    }
  }

  /** A thief who never had everything that a sign-in requires has no access once the owner has acted. */
  async #checkOut(): Promise<void> {
    const { passwords, secrets, sessions, keys } = this.#thief;
    for (const browser of sessions) assert.equal((await browser.get('/auth/me')).status, 401, 'a session');
    for (const key of keys) {
      const { status } = await this.app.http.get('/auth/me').set('authorization', `ApiKey ${key}`);
      assert.equal(status, 401, 'an API key');
    }
    const isIn = await this.#signIn(this.app.browser(), passwords, secrets);
    assert.ok(!isIn, 'the thief signs in after the owner has put the account back');
  }
}
