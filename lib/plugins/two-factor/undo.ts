import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { UndoPart } from '../../notices/changes.js';
import type { SecondFactorChanges } from './changes.js';
import type { CodeAttempts } from './proofs.js';
import { hashOf, type RecoveryCodes } from './recovery-codes.js';
import { MAX_WRONG, stepAt, stepOf, type TotpSecrets } from './secrets.js';

/** The second factor in a snapshot, which is encrypted as a whole. */
interface Part {
  readonly secret: string;
  readonly lastStep: number;
  readonly confirmedAt: string;
  /** The hashes of the unused recovery codes, in hexadecimal. */
  readonly codes: readonly string[];
}

/** Saves and restores the second factor when a change is undone. */
export function twoFactorUndo(
  core: Core,
  secrets: TotpSecrets,
  codes: RecoveryCodes,
  changes: SecondFactorChanges,
  attempts: CodeAttempts,
): UndoPart {
  return {
    name: 'two-factor',

    async snapshot(userId: string, transaction: Transaction): Promise<Part | null> {
      const row = await secrets.find(userId, transaction);
      if (!row) return null;
      const hashes = await codes.hashesOf(userId, transaction);
      return {
        secret: secrets.open(row),
        lastStep: row.lastStep,
        confirmedAt: row.confirmedAt.toISOString(),
        codes: hashes.map((one) => one.toString('hex')),
      };
    },

    async restore({ user: { id } }, part, transaction, { recovery_code: shown }) {
      // Wrong codes stay counted: an undo must not unlock the codes of the app.
      const wrongCodes = (await secrets.find(id, transaction))?.wrongCodes ?? 0;
      await changes.clear(id, transaction);
      if (!isPart(part)) return;
      const confirmedAt = new Date(part.confirmedAt);
      // Someone might have seen the code that was just presented as a proof, so it must not be accepted again.
      const lastStep = Math.max(part.lastStep, stepAt(core.database.clock.now()));
      await secrets.replace(id, { secret: part.secret, lastStep, wrongCodes, confirmedAt }, transaction);
      const hashes = part.codes.map((one) => Buffer.from(one, 'hex'));
      await codes.restore(id, hashes, shown === undefined ? null : hashOf(shown), transaction);
      await changes.setSince(id, confirmedAt, transaction);
    },

    losesSecondFactor: ({ account }, part) => core.secondFactors.isOn(account) && !isPart(part),

    proofs: ['code', 'recovery_code'],
    problems: ['invalid_code'],

    async proves(user, part, { code, recovery_code: recoveryCode }) {
      if (code === undefined && recoveryCode === undefined) return false;
      if (!isPart(part)) throw new AuthError('invalid_code');
      const look = async () => {
        if (recoveryCode !== undefined) {
          const hash = hashOf(recoveryCode);
          if (part.codes.includes(hash.toString('hex')) && !(await codes.isUsed(user.id, hash))) return;
          throw new AuthError('invalid_code');
        }
        const current = await secrets.find(user.id);
        const step = await stepOf(part.secret, code ?? '', core.database.clock.now());
        const isLocked = (current?.wrongCodes ?? 0) >= MAX_WRONG;
        // If the app is still the same, a code that was used at a sign-in since is not taken again.
        const isSame = current !== null && secrets.open(current) === part.secret;
        const last = isSame ? Math.max(part.lastStep, current.lastStep) : part.lastStep;
        if (isLocked || step === null || step <= last) throw new AuthError('invalid_code');
      };
      await attempts.attempt(user, look, true, false);
      return true;
    },
  };
}

function isPart(part: unknown): part is Part {
  return typeof part === 'object' && part !== null;
}
