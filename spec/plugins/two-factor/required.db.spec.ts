import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { dialect } from '../../support/database.js';
import { PAGE } from '../../support/passkeys.js';

// Who must have a second factor is in required.spec.ts.
const plugins = [password(), passkeys(), twoFactor({ required: () => true })] as const;
let app: SpecApp<typeof plugins>;
let id: string;
beforeEach(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
  id = (await app.auth.users.create({ ...ada, emailVerified: true })).id;
});
afterEach(() => app.stop());

// SQLite has one transaction at a time.
const withTransactions = dialect === 'sqlite' ? describe.skip : describe;

withTransactions('a change that waits for the account', () => {
  test('sees a passkey that was added meanwhile', async () => {
    const { core } = internalsOf(app.auth);
    let isLocked: () => void = () => {};
    let go: () => void = () => {};
    const locked = new Promise<void>((resolve) => {
      isLocked = resolve;
    });
    const released = new Promise<void>((resolve) => {
      go = resolve;
    });
    const adding = core.database.transaction(async (transaction) => {
      await core.users.lock(id, transaction);
      isLocked();
      await released;
      const [columns, values] = [
        'id, user_id, name, created_at, device_type, backed_up, transports, credential_id, credential_hash, public_key, user_handle, counter',
        ":id, :id, 'a', :at, 'multiDevice', FALSE, '', 'a', :hash, 'a', 'a', 0",
      ];
      const hash = Buffer.alloc(32, 1);
      await core.database.change(
        `INSERT INTO passkeys (${columns}) VALUES (${values})`,
        { id, at: new Date(), hash },
        { transaction },
      );
    });
    await locked;
    const waiting = core.database.transaction(async (transaction) => {
      const record = await core.users.lock(id, transaction);
      return record && core.secondFactors.isOn(record.account);
    });
    // Once it waits for the row, or a moment later at the latest.
    setTimeout(go, 200);
    await adding;
    expect(await waiting).toBe(true);
  });
});
