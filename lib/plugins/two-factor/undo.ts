import type { Transaction } from 'sequelize';
import type { SecondFactorSetup } from '../../accounts/second-factor.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Factors } from '../../factors/factors.js';
import { sinceOf, usesPasskeys } from '../../factors/status.js';
import { MAX_WRONG, stepAt, stepOf } from '../../factors/totp.js';
import { text } from '../../http/route.js';
import type { AccountThen, GivenUndoProof, UndoRules } from '../../notices/changes.js';

/** The second factor in a snapshot, which is encrypted as a whole. */
interface FactorState {
  /** The secret of the authenticator app. Null if there was none. */
  readonly secret: string | null;
  readonly lastStep: number;
  /** When the app or, without one, the second factor was enabled. Null if nothing was enabled. */
  readonly confirmedAt: string | null;
  /** Whether passkeys were enabled as a second factor. */
  readonly passkeys: boolean;
  /** Whether a sign-in asked for a passkey or a code. */
  readonly isAsked: boolean;
  /** The hashes of the unused recovery codes, in hexadecimal. */
  readonly codes: readonly string[];
  /** The wrong codes in a row. */
  readonly wrongCodes: number;
}

/** A code that proved an undo. */
type Shown = { readonly step: number } | { readonly recoveryCode: Buffer };

/** What is known about an authenticator app since a change. */
interface Known {
  /** The last step whose code was used. */
  readonly lastStep: number;
  /** The most wrong codes in a row, of this app and of those that replaced it. */
  readonly wrongCodes: number;
}

const MAX_CODE = 100;

/** Saves and restores the second factor when a change is undone. */
export function twoFactorUndo(core: Core, factors: Factors, setup: SecondFactorSetup): UndoRules {
  const { secrets, codes } = factors;
  const parts = new FactorsThen(core, factors);
  return {
    name: 'two-factor',
    announces: ['totpSecret', 'recoveryCodes'],

    async snapshot(userId: string, transaction: Transaction): Promise<FactorState | null> {
      const row = await secrets.find(userId, transaction);
      const record = await core.users.lock(userId, transaction);
      const hashes = await codes.hashesOf(userId, transaction);
      if (!record) return null;
      const { account } = record;
      const isAsked = row !== null || core.secondFactors.isOn(account);
      if (!isAsked && hashes.length === 0) return null;
      const since = row?.confirmedAt ?? sinceOf(account);
      return {
        secret: row && secrets.open(row),
        lastStep: row?.lastStep ?? 0,
        confirmedAt: since?.toISOString() ?? null,
        passkeys: usesPasskeys(account),
        isAsked,
        codes: hashes.map((one) => one.toString('hex')),
        wrongCodes: row?.wrongCodes ?? 0,
      };
    },

    async restore(then, transaction, given) {
      const { part, record } = then;
      const { id } = record.user;
      const shown = given as Shown | null;
      const known = isFactorState(part) ? await parts.since(then, part, transaction) : null;
      await setup.clear(id, transaction);
      if (!isFactorState(part) || !known) return;
      const confirmedAt = new Date(part.confirmedAt ?? core.database.clock.now());
      const step = shown && 'step' in shown ? shown.step : 0;
      if (step > 0 && step <= known.lastStep) throw new AuthError('invalid_code');
      // Someone might have seen the code that was just presented as a proof, so it must not be accepted again.
      const lastStep = Math.max(known.lastStep, step, stepAt(core.database.clock.now()));
      // Keep the count of wrong codes, because an undo must not unlock codes from the authenticator app.
      const { wrongCodes } = known;
      const { secret } = part;
      if (secret !== null)
        await secrets.replace(id, { secret, lastStep, wrongCodes, confirmedAt }, transaction);
      const hashes = part.codes.map((one) => Buffer.from(one, 'hex'));
      const used = shown && 'recoveryCode' in shown ? shown.recoveryCode : null;
      if (!(await codes.restore(id, hashes, used, transaction))) throw new AuthError('invalid_code');
      if (part.passkeys) await setup.restorePasskeys(id, confirmedAt, transaction);
      if (secret !== null) await setup.setSince(id, confirmedAt, transaction);
    },

    proof: {
      name: 'second_factor',
      shape: { code: text(MAX_CODE).optional(), recovery_code: text(MAX_CODE).optional() },
      anyOf: ['code', 'recovery_code'],
      problems: ['invalid_code'],
      isThere: ({ part }) => isFactorState(part) && part.isAsked,
      verify: (then, given) => parts.verify(then, given),
    },
  };
}

/** The second factors that accounts had before a change. */
class FactorsThen {
  constructor(
    private readonly core: Core,
    private readonly factors: Factors,
  ) {}

  /** @throws AuthError `invalid_code`, `rate_limited` */
  async verify(then: AccountThen, { code, recovery_code: recoveryCode }: GivenUndoProof): Promise<Shown> {
    const { part, record } = then;
    if (!isFactorState(part)) throw this.#wrong(record.user.id);
    if (typeof recoveryCode === 'string') return this.#recoveryCode(record.user.id, part, recoveryCode);
    const look = async () => {
      if (part.secret === null) throw new AuthError('invalid_code');
      const { lastStep, wrongCodes } = await this.since(then, part);
      const step = await stepOf(part.secret, String(code), this.core.database.clock.now());
      if (wrongCodes >= MAX_WRONG || step === null || step <= lastStep) throw new AuthError('invalid_code');
      return { step };
    };
    return this.factors.attempts.attempt(record.user, look, { clears: false });
  }

  /** A recovery code cannot be guessed, so a wrong one counts only for the client's address. */
  async #recoveryCode(userId: string, { codes }: FactorState, given: string): Promise<Shown> {
    const then = codes.map((one) => Buffer.from(one, 'hex'));
    const hash = await this.factors.codes.matching(userId, given, then);
    if (!hash || (await this.factors.codes.isUsed(userId, hash))) throw this.#wrong(userId);
    return { recoveryCode: hash };
  }

  #wrong(userId: string): AuthError {
    this.core.events.emit('sign_in.failed', { userId });
    return new AuthError('invalid_code');
  }

  /** Returns the state of an app since the change. It might have been removed or replaced, even more than once. */
  async since({ record, later }: AccountThen, part: FactorState, transaction?: Transaction): Promise<Known> {
    const row = await this.factors.secrets.find(record.user.id, transaction);
    const now = row ? [{ ...row, secret: this.factors.secrets.open(row) }] : [];
    const all = [part, ...later.filter(isFactorState), ...now];
    const same = all.filter(({ secret }) => secret === part.secret);
    return {
      lastStep: Math.max(...same.map(({ lastStep }) => lastStep)),
      wrongCodes: Math.max(...all.map(({ wrongCodes }) => wrongCodes)),
    };
  }
}

function isFactorState(part: unknown): part is FactorState {
  return typeof part === 'object' && part !== null;
}
