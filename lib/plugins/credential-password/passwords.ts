import type { Passwords, Reauthentication } from '../../core/contribution.js';
import { loadArgon2, needsArgon2 } from '../../crypto/foreign-hash.js';
import type { PasswordHasher } from '../../crypto/password.js';
import { invalidField } from '../../errors.js';
import { text } from '../../http/schemas.js';
import { problemOfHash } from './import-users.js';
import type { LegacyHashes } from './legacy-hashes.js';
import type { PasswordChange } from './password-change.js';
import type { PasswordCheck } from './password-check.js';
import type { PasswordReset } from './password-reset.js';
import type { PasswordRules } from './rules.js';

interface Parts {
  readonly hasher: PasswordHasher;
  readonly legacy: LegacyHashes;
  readonly check: PasswordCheck;
  readonly rules: PasswordRules;
  readonly change: PasswordChange;
  readonly byMail: { readonly reset: PasswordReset } | null;
}

/** What other features do with passwords. */
export function passwordsOf({ hasher, legacy, check, rules, change, byMail }: Parts): Passwords {
  return {
    verify: (record, password) => check.verifyOwn(record, password),
    matches: async (hash, password) => (await hasher.verify(password, hash)).matches,
    async hash(password, identifiers, skipRules) {
      await rules.checkGiven(password, identifiers, skipRules);
      return hasher.hash(password);
    },
    async checkHash(given, offered) {
      const hash = typeof given === 'string' ? legacy.tagged(given, offered) : given;
      if (needsArgon2(hash)) await loadArgon2();
      const problem = problemOfHash(hash, legacy.read);
      if (problem) throw invalidField('/password_hash', problem.code, problem.detail.replace(/^\w+ /, ''));
      return hash;
    },
    useLegacy: (verifiers) => legacy.add(verifiers),
    replace: (userId, password, options) => change.replace(userId, password, options),
    links: byMail && {
      invite: (user, transaction) => byMail.reset.invite(user, transaction),
      reset: (user, transaction) => byMail.reset.mail(user, transaction),
    },
  };
}

/** The password as a field of POST /reauthenticate. */
export function byPassword(check: PasswordCheck): Reauthentication {
  return {
    field: 'password',
    schema: text(1024),
    problems: ['invalid_credentials', 'rate_limited'],
    aal: 1,
    async verify(record, password) {
      await check.verifyOwn(record, String(password));
      return { amr: ['pwd'] };
    },
  };
}
