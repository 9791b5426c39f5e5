import { AuthError } from '../../errors.js';
import { refusalReasonOf } from '../../factors/passkeys.js';
import { text } from '../../http/route.js';
import type { AccountThen, GivenUndoProof, UndoRules } from '../../notices/changes.js';
import type { PasskeyRefusalReason } from '../../outbox/events.js';
import type { PasskeyRow } from '../../tables/factors.js';
import { descriptorOf, type PasskeyServices, refusal } from './assertions.js';
import { credentialIdOf, verifyUse } from './ceremonies.js';
import { bindingFor, bindingOf, browserCookie, type Ceremony } from './challenges.js';
import { CHALLENGE_MS } from './declarations.js';
import { authenticationResponse } from './schemas.js';
import { PASSKEYS_PART, storedIn, storedOf } from './snapshots.js';
import { clientDataOf, loadWebAuthn, type PasskeyResponse } from './webauthn.js';

/** The use of a passkey that proved an undo. */
type Shown = Pick<PasskeyRow, 'credentialId' | 'counter' | 'backedUp' | 'deviceType'>;

const DAY_MS = 24 * 60 * 60 * 1000;

/** An account must have had a passkey for this long before a change, so that the passkey can prove its undo. */
const HELD_MS = 7 * DAY_MS;

/** Passkeys that an account has had since its first day can prove an undo too. */
const FIRST_MS = DAY_MS;

/** Restores the passkeys when a change is undone. */
export function undoRules(parts: PasskeyServices): UndoRules {
  const { store } = parts;
  const then = new PasskeysThen(parts);
  return {
    name: PASSKEYS_PART,
    announces: ['passkeys'],
    isWayIn: (part) => storedIn(part).length > 0,
    async snapshot(userId, transaction) {
      return (await store.rows(userId, transaction)).map(storedOf);
    },
    async restore({ record: { user }, part }, transaction, given) {
      const shown = given as Shown | null;
      const passkeys = storedIn(part).map((row) =>
        row.credentialId === shown?.credentialId ? { ...row, ...shown } : row,
      );
      await store.restore(user.id, passkeys, transaction);
    },
    proof: {
      name: 'passkey',
      isEnough: true,
      shape: {
        passkey: authenticationResponse().optional(),
        pending_token: text(200)
          .optional()
          .describe('The pending_token of the options, for clients without cookies'),
      },
      anyOf: ['passkey'],
      problems: ['invalid_passkey'],
      isThere: (account) => provingPasskeys(account).length > 0,
      verify: (account, given, link) => then.verify(account, given, link),
    },
  };
}

/** Asks for the passkeys that accounts had before a change, and verifies their use. */
export class PasskeysThen {
  constructor(private readonly services: PasskeyServices) {}

  /**
   * Returns the options for proving an undo with one of the passkeys. They are valid once, for 5 minutes, and in this
   * browser only.
   *
   * @param link identifies the link
   * @throws AuthError `no_passkey`
   */
  async options(account: AccountThen, link: string) {
    await loadWebAuthn();
    const { challenges, core, party } = this.services;
    const passkeys = provingPasskeys(account);
    if (passkeys.length === 0) throw new AuthError('no_passkey');
    const pendingToken = bindingFor(core, core.context.client.request);
    const { id } = account.record.user;
    const options = {
      rpId: party.id,
      challenge: await challenges.issue(undoOf(pendingToken, link), id),
      timeout: CHALLENGE_MS,
      allowCredentials: passkeys.map(descriptorOf),
      userVerification: 'required' as const,
    };
    return { options, pendingToken, setCookie: browserCookie(core, pendingToken) };
  }

  /** @throws AuthError `invalid_passkey` */
  async verify(account: AccountThen, given: GivenUndoProof, link: string): Promise<Shown> {
    const { challenges, core, party, store } = this.services;
    const { id } = account.record.user;
    const response = given.passkey as PasskeyResponse;
    const binding = bindingOf(core, core.context.client.request, given.pending_token as string | undefined);
    if (binding === null) throw refusal(core, 'browser');
    const clientData = clientDataOf(response);
    let reason: PasskeyRefusalReason = clientData ? 'challenge' : 'malformed';
    if (clientData && (await challenges.take(clientData.challenge, undoOf(binding, link)))) {
      const isId = credentialIdOf(response) !== null;
      const stored = provingPasskeys(account).find(
        ({ credentialId }) => isId && credentialId === response.id,
      );
      // The passkey might have been used since the change.
      const now = (await store.rows(id)).find(({ credentialId }) => credentialId === stored?.credentialId);
      const passkey = stored && {
        ...stored,
        counter: Math.max(stored.counter, now?.counter ?? 0),
        deviceType: now?.deviceType ?? stored.deviceType,
      };
      const use = await verifyUse(party, response, clientData, passkey ?? null, true);
      if (passkey && typeof use === 'object') {
        const { counter, backedUp, deviceType } = use;
        return { credentialId: passkey.credentialId, counter, backedUp, deviceType };
      }
      reason = typeof use === 'object' ? 'unknown' : use;
    }
    const refused = refusal(core, reason);
    core.events.emit('sign_in.failed', { userId: id, ...refusalReasonOf(refused) });
    throw refused;
  }
}

function undoOf(pendingToken: string, link: string): Ceremony {
  return { purpose: 'undo', binding: `${pendingToken} ${link}` };
}

/**
 * Returns the passkeys that the account had had for a week when a change was made, or since its first day. A passkey
 * that an intruder has added must not prove an undo later.
 */
function provingPasskeys({ record, at, part }: Pick<AccountThen, 'record' | 'at' | 'part'>) {
  const first = record.user.createdAt.getTime() + FIRST_MS;
  return storedIn(part).filter(({ createdAt }) => {
    const time = createdAt.getTime();
    return time <= first || time <= at.getTime() - HELD_MS;
  });
}
