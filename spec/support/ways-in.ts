import type { Response } from 'supertest';
import { type AuthWith, internalsOf } from '../../lib/auth.js';
import type { AuthConfig, User } from '../../lib/index.js';
import { definePlugin } from '../../lib/plugin.js';
import type { SignedIn } from '../../lib/sessions/signed-in.js';
import { ada, type password } from './app.js';
import { beforeChange } from './changes.js';
import { rows } from './database.js';
import { proveMailbox } from './email-proof.js';
import { everyPlugin } from './every-plugin.js';
import { startLyingProvider } from './lying-provider.js';
import { mailbox } from './mailbox.js';
import { mailedLink } from './mailed-link.js';
import { begin, linkWith, type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from './oauth-app.js';
import { visitProvider } from './oidc.js';
import { addPasskey, authenticator, optionsOf, PAGE } from './passkeys.js';
import { codeOf, enroll, forgetSteps, wrongCode } from './two-factor.js';

// The ways into accounts, which specs of the policies walk through: see `ways-in-table.ts`.

let provider: Awaited<ReturnType<typeof startLyingProvider>>;

/** Runs between the proof of a sign-in and its session. */
let meanwhile: ((user: User) => Promise<unknown>) | null = null;
const interruption = definePlugin({
  name: 'interruption',
  setup({ signInGate }) {
    const { check } = signInGate;
    signInGate.check = async (record, options) => {
      const checked = await check.call(signInGate, record, options);
      const work = meanwhile;
      meanwhile = null;
      await work?.(record.user);
      return checked;
    };
    return { api: null };
  },
});

/** The users who are required to have a second factor. */
export const named = new Set<string>();

const pluginsWith = (options: Parameters<typeof password>[0]) =>
  [
    ...everyPlugin({
      sendsEmails: true,
      password: options ?? {},
      oauth: { linkByVerifiedEmail: true },
      twoFactor: { required: ({ id }) => named.has(id) },
    }),
    oidcPlugin(provider),
    mailedLink(),
    interruption,
  ] as const;

/** The emails of {@link app}. */
export const mail = mailbox();
export let app: OAuthApp & { readonly auth: AuthWith<ReturnType<typeof pluginsWith>> };

/** Starts {@link app}. Only one can run at a time. */
export async function startWays(
  options: Parameters<typeof password>[0] = {},
  more: Partial<AuthConfig> = {},
): Promise<void> {
  provider = await startLyingProvider();
  const config = {
    plugins: pluginsWith(options),
    baseUrl: PAGE,
    bearerEnabled: true,
    email: { send: mail.send },
    ...more,
  };
  app = (await startOAuthApp({ providers: () => [], config: config as never })) as never;
}

export async function stopWays(): Promise<void> {
  await app.stop();
  await provider.stop();
}

/** Runs an attempt, and other work between its proof and its session. @returns whether the attempt came that far */
export async function interrupt(
  attempt: () => Promise<unknown>,
  work: (user: User) => Promise<unknown>,
): Promise<boolean> {
  meanwhile = work;
  await attempt();
  const isDone = meanwhile === null;
  meanwhile = null;
  return isDone;
}

export type Person = Awaited<ReturnType<typeof newPerson>>;
let people = 0;
export async function newPerson() {
  const name = `person${people++}`;
  const account = { email: `${name}@example.com`, password: ada.password };
  const browser = app.browser();
  // Over plain http, a cookie does not say in which browser the account was made, and a header does.
  const signUp = browser.post('/auth/signup/credential').set('latchkey-device', 'new').send(account);
  const { user: signedUp, device_token: device } = (await signUp.expect(201)).body;
  const verified = (at: string) =>
    rows(app.database, `UPDATE users SET email_verified_at = ${at} WHERE id = :id`, { id: signedUp.id });
  const body = { credential: account.email, password: account.password };
  await verified('created_at');
  const signIn = browser.post('/auth/signin/credential').send(body);
  const signedIn = await (device === undefined ? signIn : signIn.set('latchkey-device', device)).expect(200);
  if (device !== undefined) browser.set('latchkey-device', signedIn.body.device_token);
  await verified('NULL');
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  await rows(app.database, 'UPDATE users SET username = :name WHERE id = :id', { name, id: user.id });
  return {
    ...account,
    username: name,
    id: user.id as string,
    sessionId: session.id as string,
    browser,
    /** The value that the browser sends in the header `Latchkey-Device`. */
    device: signedIn.body.device_token as string,
  };
}

/** `ok`, or the code of the problem. */
type Outcome = Promise<string>;

export interface Attempts {
  /** An attempt without the proof, and the code that it gets for every account. */
  readonly wrong?: readonly [attempt: () => Outcome, code: string];
  /** Whether it gets this code even after the credential of this way in has ended. @default false */
  readonly isAlwaysWrong?: boolean;
  /** An attempt with the proof, which succeeds unless a policy rejects it. */
  readonly right: () => Outcome;
  /** An attempt that anyone can repeat. @default `wrong`, or otherwise `right` */
  readonly repeat?: () => Outcome;
}

/** A way in: prepares the attempts before the policy applies. */
export type Way = (person: Person) => Promise<Attempts>;

export async function answered(answer: PromiseLike<Response>): Outcome {
  const { status, body, headers } = await answer;
  if (status === 303) return new URL(headers.location ?? '', app.origin).searchParams.get('error') ?? 'ok';
  if (status === 429) return limited(headers);
  return status < 400 ? 'ok' : body.code;
}

export function called(call: Promise<unknown>): Outcome {
  return call.then(
    () => 'ok',
    (error) => (error.code === 'rate_limited' ? limited(error.headers) : (error.code ?? String(error))),
  );
}

/** Returns the limit that rejects an attempt. */
function limited(headers: Readonly<Record<string, string>>): string {
  const policy = headers['ratelimit-policy'] ?? headers['RateLimit-Policy'];
  return `limited by ${/"(.+)"/.exec(policy ?? '')?.[1]}`;
}

const WRONG = 'not the password at all';
export const NEW = 'a difference engine';
export const post = (path: string, body: object) => answered(app.http.post(`/auth${path}`).send(body));
export const claim = ({ id, email }: Person) => {
  provider.lies.claims = { sub: id, email, email_verified: true };
};
export const mailedTo = async ({ email, browser }: Person, kind: string, path: string) =>
  (await mail.mailOf(email, kind, () => browser.post(`/auth${path}`).send({ email }).expect(202))).token;
/** The token of a link that nobody has asked for in a browser, such as an administrator's. */
export const resetToken = async ({ email, id }: Person) => {
  const user = await app.auth.admin.getUser(id);
  const send = async () => internalsOf(app.auth).core.passwordLinks?.mailReset(user);
  return (await mail.mailOf(email, 'reset-password', send)).token;
};
/** The code for a new password that the person's browser has asked for. */
export const resetCode = async ({ email, browser }: Person) => {
  const ask = () => browser.post('/auth/passwords/request-reset').send({ email }).expect(202);
  return (await mail.mailOf(email, 'reset-code', ask)).code;
};
export const verificationToken = async ({ email, id }: Person) =>
  (await mail.mailOf(email, 'verify-email', () => app.auth.credential.sendVerification({ userId: id })))
    .token;

export const byPassword =
  (credential: 'email' | 'username'): Way =>
  async (person) => {
    const attempt = (typed: string) =>
      post('/signin/credential', { credential: person[credential], password: typed });
    return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
  };

export const byForm: Way = async (person) => {
  const attempt = (typed: string) =>
    answered(
      app.http
        .post('/auth/signin/credential')
        .type('form')
        .send({ credential: person.email, password: typed, error_to: '/sign-in' }),
    );
  return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
};

export const byReset: Way = async (person) => {
  const token = await resetToken(person);
  const attempt = (sent: string, new_password: string) =>
    post('/passwords/reset', { token: sent, new_password });
  return {
    wrong: [() => attempt('x', NEW), 'invalid_token'],
    right: () => attempt(token, NEW),
    repeat: () => attempt(token, 'short'),
  };
};

export const byResetCode: Way = async (person) => {
  const code = await resetCode(person);
  const attempt = (typed: string, new_password: string) =>
    answered(person.browser.post('/auth/passwords/reset').send({ code: typed, new_password }));
  return {
    wrong: [() => attempt('x', NEW), 'invalid_code'],
    right: () => attempt(code, NEW),
    repeat: () => attempt(code, 'short'),
  };
};

export const byInvitation: Way = async ({ email, id }) => {
  await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
  const user = await app.auth.admin.getUser(id);
  const { token } = await mail.mailOf(email, 'invitation', async () =>
    internalsOf(app.auth).core.passwordLinks?.mailInvitation(user),
  );
  const attempt = (new_password: string) => post('/passwords/reset', { token, new_password });
  return { right: () => attempt(NEW), repeat: () => attempt('short') };
};

export const byVerificationWith =
  (verify: (token: string, password: string) => Outcome): Way =>
  async (person) => {
    const token = await verificationToken(person);
    return {
      wrong: [() => verify(token, WRONG), 'invalid_credentials'],
      right: () => verify(token, person.password),
    };
  };

export const byVerification = byVerificationWith((token, typed) =>
  post('/verify-email', { token, password: typed }),
);

export const byNewEmail: Way = async (person) => {
  const new_email = `new.${person.email}`;
  const { token } = await mail.mailOf(new_email, 'verify-new-email', () =>
    person.browser.post('/auth/email-changes').send({ new_email }).expect(202),
  );
  const attempt = (typed: string) => post('/email-changes/confirm', { token, password: typed });
  const wrong = [() => attempt(WRONG), 'invalid_credentials'] as const;
  return { wrong, right: () => attempt(person.password) };
};

export const byLink: Way = async (person) => {
  const token = await mailedTo(person, 'sign-in-link', '/signin/link/request');
  return { right: () => post('/signin/link', { token }) };
};

export const linked = async (person: Person) => {
  claim(person);
  await linkWith(person.browser, 'oidc');
};

const beginAtProvider = () => answered(app.http.get('/auth/oauth/oidc/authorize'));

export const byProvider: Way = async (person) => {
  await linked(person);
  return {
    right: () => {
      claim(person);
      return answered(signInWith(app.browser(), 'oidc'));
    },
    repeat: beginAtProvider,
  };
};

export const byProvidersEmail: Way = async (person) => {
  await proveMailbox(app.auth, person.id);
  return {
    right: () => {
      claim(person);
      return answered(signInWith(app.browser(), 'oidc'));
    },
    repeat: beginAtProvider,
  };
};

export const byFormPost: Way = async (person) => {
  await linked(person);
  return {
    async right() {
      claim(person);
      const browser = app.browser();
      const url = new URL(await visitProvider(await begin(browser, '/auth/oauth/oidc/authorize')));
      return answered(browser.post(url.pathname).type('form').send(Object.fromEntries(url.searchParams)));
    },
    repeat: beginAtProvider,
  };
};

export const withPasskey = async ({ browser, id }: Person) => {
  await app.auth.markEmailVerified(id);
  const device = authenticator();
  await addPasskey(browser, device);
  return device;
};

export const byPasskey: Way = async (person) => {
  const device = await withPasskey(person);
  const attempt = async (lies = {}) => {
    const browser = app.browser();
    const response = device.get(await optionsOf(browser, '/signin/passkey/options'), lies);
    return answered(browser.post('/auth/signin/passkey').send({ response }));
  };
  return {
    wrong: [() => attempt({ userVerified: false }), 'invalid_passkey'],
    right: attempt,
    repeat: () => post('/signin/passkey/options', {}),
  };
};

/** Does not create a session, but restores the account. */
export const byUndo: Way = async (person) => {
  const token = await beforeChange(app.auth, person.id);
  const attempt = (typed: string) =>
    answered(person.browser.post('/auth/undo-change').send({ token, password: typed }));
  return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
};

/** The second step of a sign-in that waits. */
export const bySecondStep =
  (complete: (pendingToken: string, code: string) => Outcome): Way =>
  async ({ id, email, password: typed, browser }) => {
    await app.auth.markEmailVerified(id);
    const { secret } = await enroll(browser);
    await forgetSteps(app);
    const first = (await app.auth.credential.signIn({ credential: email, password: typed })) as SignedIn;
    if (!('secondFactor' in first)) throw new Error('no second factor was demanded');
    const { pendingToken } = first.secondFactor;
    return {
      wrong: [() => complete(pendingToken, wrongCode(secret)), 'invalid_code'],
      right: () => complete(pendingToken, codeOf(secret)),
    };
  };

/** The code that is emailed after the right password was entered in an unknown browser. */
export const byEmailCode =
  (complete: (pendingToken: string, code: string) => Outcome): Way =>
  async ({ id, email, password: typed }) => {
    await app.auth.markEmailVerified(id);
    let pendingToken = '';
    const { code } = await mail.mailOf(email, 'browser-code', async () => {
      const first = (await app.auth.credential.signIn({ credential: email, password: typed })) as SignedIn;
      if ('secondFactor' in first) ({ pendingToken } = first.secondFactor);
    });
    return {
      wrong: [() => complete(pendingToken, 'BCDF-2345'), 'invalid_code'],
      right: () => complete(pendingToken, code),
    };
  };

/** The code or the link of an emailed sign-in. A wrong code is reported as wrong for every account. */
export const byEmailedSignIn =
  (
    confirm: (pendingToken: string, proof: { code?: string; token?: string }) => Outcome,
    what: 'code' | 'token',
  ): Way =>
  async ({ email }) => {
    let pendingToken = '';
    const mailed = await mail.mailOf(email, 'sign-in-code', async () => {
      ({ pendingToken } = await app.auth.emailSignIn.request({ email }));
    });
    const right = () => confirm(pendingToken, { [what]: mailed[what] });
    if (what === 'token') return { right };
    return {
      wrong: [() => confirm(pendingToken, { code: 'BCDF-2345' }), 'invalid_code'],
      isAlwaysWrong: true,
      right,
    };
  };

export const byCode =
  (attempt: (person: Person, password: string) => Promise<unknown>): Way =>
  async (person) => ({
    wrong: [() => called(attempt(person, WRONG)), 'invalid_credentials'],
    right: () => called(attempt(person, person.password)),
  });

export const onTheAppsWord =
  (call: (person: Person) => Promise<unknown>): Way =>
  async (person) => ({ right: () => called(call(person)) });

export const byKey: Way = async ({ id }) => {
  const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
  const attempt = (sent: string) => called(app.auth.getSession({ headers: { 'x-service-api-key': sent } }));
  return {
    wrong: [() => attempt(`${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`), 'invalid_api_key'],
    right: () => attempt(key),
  };
};

export const byProviderInCode: Way = async (person) => {
  await linked(person);
  return {
    async right() {
      claim(person);
      const { url, browser } = await app.auth.oauth.authorizeUrl('oidc');
      const { searchParams: parameters } = new URL(await visitProvider(url));
      const { callbackUrl } = await app.auth.oauth.callback({ provider: 'oidc', parameters, browser });
      return new URL(callbackUrl, app.origin).searchParams.get('error') ?? 'ok';
    },
  };
};

export const byPasskeyInCode: Way = async (person) => {
  const device = await withPasskey(person);
  const attempt = async (lies = {}) => {
    const { options, pendingToken } = await app.auth.passkeys.signInOptions();
    return called(app.auth.passkeys.signIn({ response: device.get(options as never, lies), pendingToken }));
  };
  return { wrong: [() => attempt({ userVerified: false }), 'invalid_passkey'], right: attempt };
};
