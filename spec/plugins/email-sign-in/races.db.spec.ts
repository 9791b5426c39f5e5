import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { emailSignIn, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { mailbox } from '../../support/mailbox.js';
import { settled } from '../../support/sessions.js';

const plugins = [password(), emailSignIn({ signUp: true }), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', bearerEnabled: true, email: { send: mails.send } },
  });
});
afterEach(() => app.stop());

const grace = 'grace@example.com';
/** Asks for a code. @returns the mail, and the token of the request */
async function asked(email: string) {
  let pendingToken = '';
  const { code, token } = await mails.mailOf(email, 'sign-in-code', async () => {
    ({ pendingToken } = await app.auth.emailSignIn.request({ email }));
  });
  return { code, token, pendingToken };
}
const outcomesOf = async (calls: readonly Promise<unknown>[]) => {
  const settledCalls = await Promise.allSettled(calls);
  return settledCalls.map((one) => (one.status === 'fulfilled' ? 'session' : one.reason.code)).sort();
};
const sixteen = <T>(work: () => T): T[] => Array.from({ length: 16 }, work);

test.each(['none', 'app', 'mailbox'] as const)(
  'of sixteen equal links at once, one signs in to an account with the proof %s',
  async (emailProof) => {
    const { id } = await app.auth.users.create(ada);
    const mailboxProvedAt = emailProof === 'mailbox' ? new Date() : null;
    const emailVerifiedAt = emailProof === 'none' ? null : new Date();
    await app.auth.models.User.update({ emailProof, mailboxProvedAt, emailVerifiedAt }, { where: { id } });
    const { token, pendingToken } = await asked(ada.email);
    const outcomes = await outcomesOf(sixteen(() => app.auth.emailSignIn.confirm({ token, pendingToken })));
    expect(outcomes.filter((one) => one === 'session')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['session', 'sign_in_expired']));
    expect(await app.auth.listSessions(id)).toHaveLength(1);
  },
);

test('of sixteen equal codes at once, at most five are looked at, and one signs in', async () => {
  const { id } = await app.auth.users.create(ada);
  const { code, pendingToken } = await asked(ada.email);
  const outcomes = await outcomesOf(sixteen(() => app.auth.emailSignIn.confirm({ code, pendingToken })));
  expect(outcomes.filter((one) => one === 'session')).toHaveLength(1);
  expect(new Set(outcomes)).toEqual(new Set(['session', 'sign_in_expired']));
  expect(await app.auth.listSessions(id)).toHaveLength(1);
});

test('of sixteen wrong codes at once, five are looked at', async () => {
  await app.auth.users.create(ada);
  const { pendingToken } = await asked(ada.email);
  const failed: unknown[] = [];
  app.auth.on('sign_in.failed', (event) => failed.push(event));
  await outcomesOf(sixteen(() => app.auth.emailSignIn.confirm({ code: 'AAAA-AAAA', pendingToken })));
  expect(failed).toHaveLength(5);
  expect(await app.auth.models.EmailedSignIn.count()).toBe(0);
});

test('of sixteen equal links for a new address at once, one makes the account', async () => {
  const { token, pendingToken } = await asked(grace);
  const outcomes = await outcomesOf(sixteen(() => app.auth.emailSignIn.confirm({ token, pendingToken })));
  expect(outcomes.filter((one) => one === 'session')).toHaveLength(1);
  expect(new Set(outcomes)).toEqual(new Set(['session', 'sign_in_expired']));
  expect(await app.auth.models.User.count()).toBe(1);
  expect(await app.auth.models.Session.count()).toBe(1);
});

test('of two browsers that confirm one new address, both sign in to the same account', async () => {
  const [one, two] = [await asked(grace), await asked(grace)];
  const signedIn = await Promise.all(
    [one, two].map(({ code, pendingToken }) => app.auth.emailSignIn.confirm({ code, pendingToken })),
  );
  const ids = signedIn.map((issued) => ('user' in issued ? issued.user.id : null));
  expect(new Set(ids).size).toBe(1);
  expect(await app.auth.listSessions(String(ids[0]))).toHaveLength(2);
});

test('of sixteen requests at once in one browser, three mail the code again', async () => {
  await app.auth.users.create(ada);
  const { code, pendingToken } = await asked(ada.email);
  const request = { headers: { cookie: `latchkey-pending=${pendingToken}` } };
  await Promise.all(sixteen(() => app.auth.emailSignIn.request({ email: ada.email, request })));
  await settled(app.auth);
  expect(mails.mails.map((mail) => mail.code)).toEqual([code, code, code, code]);
});
