import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import type { UndoPart } from '../../notices/changes.js';
import type { SecondFactorChanges } from './changes.js';
import { hashOf, type RecoveryCodes } from './recovery-codes.js';
import { stepAt, stepOf, type TotpSecrets } from './secrets.js';

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
      await changes.clear(id, transaction);
      if (!isPart(part)) return;
      const confirmedAt = new Date(part.confirmedAt);
      // Someone might have seen the code that was just presented as a proof, so it must not be accepted again.
      const lastStep = Math.max(part.lastStep, stepAt(core.database.clock.now()));
      await secrets.replace(id, { secret: part.secret, lastStep, confirmedAt }, transaction);
      const hashes = part.codes.map((one) => Buffer.from(one, 'hex'));
      await codes.restore(id, hashes, shown === undefined ? null : hashOf(shown), transaction);
      await changes.setSince(id, confirmedAt, transaction);
    },

    losesSecondFactor: ({ account }, part) => core.secondFactors.isOn(account) && !isPart(part),

    proofs: ['code', 'recovery_code'],

    async proves(_userId, part, { code, recovery_code: recoveryCode }) {
      if (code === undefined && recoveryCode === undefined) return null;
      if (!isPart(part)) return false;
      if (recoveryCode !== undefined && part.codes.includes(hashOf(recoveryCode).toString('hex')))
        return true;
      const step = code === undefined ? null : await stepOf(part.secret, code, core.database.clock.now());
      return step !== null && step > part.lastStep;
    },
  };
}

function isPart(part: unknown): part is Part {
  return typeof part === 'object' && part !== null;
}
