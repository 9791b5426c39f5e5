import { TOTP } from 'otpauth';
import type { Model, ModelStatic } from 'sequelize';
import type request from 'supertest';
import { ada, signedIn } from './app.js';

type Browser = ReturnType<typeof request.agent>;

/** A user with a second factor, in the browser that enabled it. */
export interface Protected {
  readonly browser: Browser;
  readonly secret: string;
  readonly recoveryCodes: string[];
  readonly userId: string;
}

/** Returns the current code, or the code of a later or earlier time step. */
export function codeOf(secret: string, steps = 0): string {
  return TOTP.generate({ secret: secretOf(secret), timestamp: Date.now() + steps * 30_000 });
}

/** Returns six digits that are not the code of any accepted time step. */
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

/** Signs up, and enables the second factor. */
export async function withSecondFactor(
  app: TwoFactorApp,
  person: { email: string; password: string } = ada,
): Promise<Protected> {
  const browser = await signedIn(app, person);
  const enrolled = await enroll(browser);
  await forgetSteps(app);
  return { browser, ...enrolled };
}

/** Makes the current code usable, although it or a later code has already been used. */
export async function forgetSteps({ auth }: Pick<TwoFactorApp, 'auth'>): Promise<void> {
  await auth.models.TotpSecret.update({ lastStep: 0 }, { where: {} });
}

/** Enables the second factor with the current code, in a browser that has just signed in. */
export async function enroll(browser: Browser) {
  const begun = await browser.post('/auth/two-factor/totp').expect(201);
  const { secret } = begun.body;
  const confirmed = await browser
    .post('/auth/two-factor/totp/confirm')
    .send({ code: codeOf(secret) })
    .expect(200);
  return { secret, recoveryCodes: confirmed.body.recovery_codes, userId: confirmed.body.user.id };
}

/** Sends the first factor. @returns the response, after which the browser has a pending sign-in */
export function firstStep(browser: Browser, { email, password } = ada, more: object = {}) {
  return browser.post('/auth/signin/credential').send({ credential: email, password, ...more });
}

/** Sends the second factor. */
export function secondStep(browser: Browser, body: object) {
  return browser.post('/auth/signin/second-factor').send(body);
}
