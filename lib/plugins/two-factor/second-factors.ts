import type { Reauthentication, SecondFactors } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { text } from '../../http/schemas.js';
import type { Session } from '../../tables/session.js';
import type { UserRecord } from '../../users/user-record.js';
import type { SecondFactorOfUser } from './columns.js';
import type { Parts } from './parts.js';
import { type RightFactor, withSecond } from './proofs.js';

/** What the gate asks: see `core/sign-in.ts`. @param trustProviders the providers that have second factors themselves */
export function secondFactorsOf(
  { pendings, status, proofs, secrets }: Parts,
  trustProviders: readonly string[],
): SecondFactors {
  const trusted = new Set(trustProviders);
  const available = async (userId: string): Promise<string[]> => {
    const methods: string[] = [];
    for (const { name, isAvailable } of proofs.methods.map(bound))
      if (await isAvailable(userId)) methods.push(name);
    return methods;
  };
  return {
    isOn: (account) => ((account as Partial<SecondFactorOfUser>).secondFactorAt ?? null) !== null,
    trusted: (shown) =>
      shown.provider !== undefined && trusted.has(shown.provider)
        ? { provider: shown.provider, aal: 2, amr: ['fed', 'mfa'] }
        : null,
    async begin(pending, transaction) {
      const { id } = pending.record.user;
      const begun = await pendings.begin(pending, transaction);
      const found = await status.read(id, transaction);
      const methods = [
        ...(found && !found.isLocked ? ['totp'] : []),
        ...(found && found.codes > 0 ? ['recovery_code'] : []),
        ...(await available(id)),
      ];
      return { secondFactor: { methods, ...begun } };
    },
    abandon: () => pendings.abandon(),
    forgive: (userId) => secrets.forgive(userId),
  };
}

function bound(method: Parts['proofs']['methods'][number]) {
  return { name: method.name, isAvailable: method.isAvailable.bind(method) };
}

/** What POST /reauthenticate takes. */
export function reauthenticationsOf(core: Core, parts: Parts): Reauthentication[] {
  const { attempts, proofs, secrets } = parts;
  const verify = async (record: UserRecord, { amr }: Session, look: () => Promise<RightFactor>) => {
    if (!core.secondFactors.isOn(record.account)) throw new AuthError('invalid_code');
    const right = await attempts.attempt(record.user, async () => {
      const factor = await look();
      if (!(await factor.use())) throw new AuthError('invalid_code');
      return factor;
    });
    return { aal: 2 as const, amr: withSecond(amr, right.amr) };
  };
  const common = { schema: text(100), problems: ['invalid_code', 'rate_limited'] as const };
  return [
    {
      ...common,
      field: 'code',
      verify: (record, code, session) =>
        verify(record, session, async () => proofs.totp(await secrets.find(record.user.id), String(code))),
    },
    {
      ...common,
      field: 'recovery_code',
      verify: (record, code, session) =>
        verify(record, session, () => proofs.ownRecoveryCode(record, String(code))),
    },
  ];
}
