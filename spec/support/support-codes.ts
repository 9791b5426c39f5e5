import type { Transaction } from 'sequelize';
import type { Core } from '../../lib/core/core.js';
import { nameOf, newSalt } from '../../lib/crypto/emailed-codes.js';
import { createToken, digestToken } from '../../lib/crypto/token.js';
import { AuthError } from '../../lib/errors.js';
import { definePlugin } from '../../lib/plugin.js';
import type { SignedIn } from '../../lib/sessions/signed-in.js';
import { column } from '../../lib/tables/column.js';
import { users } from '../../lib/tables/core.js';
import { defineWaiting } from '../../lib/tables/waiting.js';
import type { UserRecord } from '../../lib/users/record.js';
import { WaitingOfUsers } from '../../lib/waiting/waiting.js';

const supportCodes = defineWaiting({
  name: 'support_codes',
  hangsOn: 'epoch',
  lifetimeMs: 10 * 60 * 1000,
  tries: 3,
  exported: 'Its rows are hashes, and expire within minutes.',
  columns: { ticketHash: column.digest().internal(), salt: column.digest().internal() },
  foreignKeys: { userId: users },
});

/** The ticket that the browser has, and the code that its user is told. */
export interface SupportCode {
  readonly ticket: string;
  readonly code: string;
}

/** `auth.support`: sign-ins with a code that someone at a support desk has read out. */
export class SupportApi {
  readonly #core: Core;
  readonly #waiting: WaitingOfUsers<typeof supportCodes.columns>;

  constructor(core: Core) {
    this.#core = core;
    this.#waiting = new WaitingOfUsers(core, supportCodes);
  }

  async issue(userId: string): Promise<SupportCode> {
    const { authEpoch } = await this.#core.users.require(userId);
    const ticket = createToken('lkx_');
    const row = { ticketHash: digestToken(ticket), salt: newSalt() };
    await this.#waiting.begin({ ...row, userId, authEpoch });
    return { ticket, code: this.#core.codes.codeFor(codeName(row)) };
  }

  /** @throws AuthError `invalid_token`, `invalid_credentials` for a wrong code */
  async signIn(given: SupportCode): Promise<SignedIn> {
    const found = await this.find(given);
    const checked = await this.#core.checkSignIn({ ...found.record, amr: ['otp'] });
    const signedIn = await this.#core.database.transaction(async (transaction) =>
      checked.begin(await this.use(found, transaction), transaction),
    );
    await checked.complete(signedIn);
    return signedIn;
  }

  async find({ ticket, code }: SupportCode) {
    const found = await this.#waiting.find(digestToken(ticket));
    if (!found || !(await this.#waiting.countTry(found.row))) throw new AuthError('invalid_token');
    if (this.#core.codes.matches(code, codeName(found.row))) return found;
    await this.#waiting.endAfterTries(found.row);
    throw new AuthError('invalid_credentials');
  }

  async use(found: Awaited<ReturnType<SupportApi['find']>>, transaction: Transaction): Promise<UserRecord> {
    const record = await this.#waiting.use(found, transaction);
    if (!record) throw new AuthError('invalid_token');
    return record;
  }
}

function codeName({ ticketHash, salt }: Readonly<Record<'ticketHash' | 'salt', Buffer>>): string {
  return nameOf(['support', ticketHash.toString('hex')], salt);
}

/** A sign-in method with secrets in a table of its own, as a maintainer might add it. */
export function supportCodesPlugin() {
  return definePlugin({
    name: 'support',
    setup: (core) => ({ api: new SupportApi(core), tables: { SupportCode: supportCodes } }),
  });
}
