import { TOTP } from 'otpauth';
import type { Model, ModelStatic } from 'sequelize';
import type request from 'supertest';
import { ada, signedIn } from './app.js';

type Browser = ReturnType<typeof request.agent>;

/** A user with a second factor, in the browser that switched it on. */
export interface Protected {
  readonly browser: Browser;
  readonly secret: string;
  readonly recoveryCodes: string[];
  readonly userId: string;
}

/** The code of now, or of the next or previous step. */
export function codeOf(secret: string, steps = 0): string {
  return TOTP.generate({ secret: secretOf(secret), timestamp: Date.now() + steps * 30_000 });
}

/** Six digits that are the code of none of the steps that are accepted. */
export function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map((steps) => codeOf(secret, steps));
  for (let code = 0; ; code++) {
    const text = String(code).padStart(6, '0');
    if (!right.includes(text)) return text;
  }
}

function secretOf(base32: string) {
  return new TOTP({ secret: base32 }).secret;
}

interface TwoFactorApp {
  readonly auth: { readonly models: { readonly TotpSecret: ModelStatic<Model> } };
  browser(): Browser;
}

/** Signs up, and switches the second factor on. */
export async function withSecondFactor(
  app: TwoFactorApp,
  person: { email: string; password: string } = ada,
): Promise<Protected> {
  const browser = await signedIn(app, person);
  const enrolled = await enroll(browser);
  await forgetSteps(app);
  return { browser, ...enrolled };
}

/** Lets the code of now be used, although it or a later one has been. */
export async function forgetSteps({ auth }: Pick<TwoFactorApp, 'auth'>): Promise<void> {
  await auth.models.TotpSecret.update({ lastStep: 0 }, { where: {} });
}

/** Switches the second factor on with the code of now, for a browser that has just signed in. */
export async function enroll(browser: Browser) {
  const begun = await browser.post('/auth/two-factor/totp').expect(201);
  const { secret } = begun.body;
  const confirmed = await browser
    .post('/auth/two-factor/totp/confirm')
    .send({ code: codeOf(secret) })
    .expect(200);
  return { secret, recoveryCodes: confirmed.body.recovery_codes, userId: confirmed.body.user.id };
}

/** Gives the first factor. @returns the answer, after which the browser has a pending sign-in */
export function firstStep(browser: Browser, { email, password } = ada, more: object = {}) {
  return browser.post('/auth/signin/credential').send({ credential: email, password, ...more });
}

/** Gives the second factor. */
export function secondStep(browser: Browser, body: object) {
  return browser.post('/auth/signin/second-factor').send(body);
}
