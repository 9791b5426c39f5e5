// The model of one user: what latchkey must answer them.
import { Secret, TOTP } from 'otpauth';
import { Browser } from './http.mjs';

/** After ten minutes a session is not fresh any more. In between, the model does not say which it is. */
const FRESH_MS = 8 * 60_000;
const STALE_MS = 11 * 60_000;
const STEP_SECONDS = 30;
const BROWSERS = 3;

/**
 * @typedef {object} Session
 * @property {string} id
 * @property {number} aal 1 or 2
 * @property {number} at when its user last authenticated, in ms
 * @property {Browser} browser that has its cookie
 */

/** A user, as the answers say that they are. */
export class Person {
  id = '';
  /** @type {Session[]} those that must be accepted */
  sessions = [];
  /** @type {{ id: string, key: string }[]} API keys that must be accepted */
  keys = [];
  /** The cookies of sign-ins that wait for the second factor. @type {string[]} */
  pending = [];
  /** How many rows of pending sign-ins there can be: what ends them leaves some to be pruned. */
  pendingRows = 0;
  /** @type {string[]} */
  recoveryCodes = [];
  browsers = Array.from({ length: BROWSERS }, () => new Browser());
  #secret = null;
  #lastStep = 0;

  /** @param {string} email @param {string} password */
  constructor(email, password) {
    this.email = email;
    this.password = password;
  }

  get hasSecondFactor() {
    return this.#secret !== null;
  }

  /** The second factor, to be put back later; null if there is none. */
  get factor() {
    return this.#secret === null ? null : { secret: this.#secret };
  }

  /** What was put back takes no code of a step that has begun. */
  set factor(factor) {
    this.#secret = factor?.secret ?? null;
    this.#lastStep = Math.max(this.#lastStep, stepAt(Date.now()));
  }

  sessionOf(browser) {
    return this.sessions.find((session) => session.browser === browser);
  }

  /** Begins a session in a browser; the one that the browser had is over. */
  begin(browser, { id, aal }) {
    const session = { id, aal, at: Date.now(), browser };
    this.sessions = [...this.sessions.filter((one) => one.browser !== browser), session];
    return session;
  }

  /** @param {(session: Session) => boolean} [which] all by default */
  end(which = () => true) {
    this.sessions = this.sessions.filter((session) => !which(session));
  }

  isFresh(session) {
    return Date.now() - session.at < FRESH_MS && (!this.hasSecondFactor || session.aal === 2);
  }

  /** Whether it must be refused where a recent sign-in is needed. */
  isStale(session) {
    return !this.hasSecondFactor && Date.now() - session.at > STALE_MS;
  }

  /** @param {string} secret in base32 @returns the first code of a new secret */
  firstCode(secret) {
    const step = stepAt(Date.now());
    return { code: codeOf(secret, step), accept: (codes) => this.#enable(secret, step, codes) };
  }

  #enable(secret, step, recoveryCodes) {
    this.#secret = secret;
    this.#lastStep = step;
    this.recoveryCodes = recoveryCodes;
    this.pending = [];
    this.pendingRows = 0;
  }

  disable() {
    this.#secret = null;
    this.recoveryCodes = [];
    this.pending = [];
    this.pendingRows = 0;
  }

  /**
   * A second factor that has not been used yet: a code of the app if there is one for now, otherwise a recovery code.
   *
   * @returns {{ method: 'totp' | 'recovery_code', code: string } | null} null if the user has to wait
   */
  proof() {
    const now = Date.now();
    const step = Math.max(this.#lastStep + 1, stepAt(now));
    // Some seconds from the ends of what is accepted, for a slow request.
    if (step <= stepAt(now - 5000) + 1) {
      this.#lastStep = step;
      return { method: 'totp', code: codeOf(this.#secret, step) };
    }
    const code = this.recoveryCodes.pop();
    return code === undefined ? null : { method: 'recovery_code', code };
  }

  /** Six digits that are no code of these minutes. */
  wrongCode() {
    const right = [-3, -2, -1, 0, 1, 2, 3].map((steps) => codeOf(this.#secret, stepAt(Date.now()) + steps));
    for (let code = 0; ; code++) {
      const text = String(code).padStart(6, '0');
      if (!right.includes(text)) return text;
    }
  }
}

function stepAt(ms) {
  return Math.floor(ms / 1000 / STEP_SECONDS);
}

function codeOf(secret, step) {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: step * STEP_SECONDS * 1000 });
}
