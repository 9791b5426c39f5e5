import type { Core } from '../../core/core.js';
import { SecondFactorChanges } from './changes.js';
import { CodeAttempts } from './code-attempts.js';
import { Completion } from './completion.js';
import { Enrolments } from './enrolments.js';
import { PendingSignIns } from './pending-sign-ins.js';
import { Proofs } from './proofs.js';
import { RecoveryCodes } from './recovery-codes.js';
import { TotpSecrets } from './secrets.js';
import { Status } from './status.js';

/** The parts of the plugin. */
export type Parts = ReturnType<typeof makeParts>;

export function makeParts(core: Core) {
  const secrets = new TotpSecrets(core);
  const codes = new RecoveryCodes(core);
  const enrolments = new Enrolments(core);
  const pendings = new PendingSignIns(core, secrets, codes);
  const attempts = new CodeAttempts(core, secrets);
  const proofs = new Proofs(core, secrets, codes);
  return {
    ...{ secrets, codes, enrolments, pendings, attempts, proofs },
    status: new Status(core, secrets, codes),
    changes: new SecondFactorChanges(core, secrets, codes, enrolments, pendings),
    completion: new Completion(core, pendings, proofs, attempts),
  };
}
