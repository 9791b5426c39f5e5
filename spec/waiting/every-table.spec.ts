import { describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { createAuth, type Plugin } from '../../lib/index.js';
import { column } from '../../lib/tables/column.js';
import { coreTables, users } from '../../lib/tables/core.js';
import { declareTable, type TableDeclaration } from '../../lib/tables/table.js';
import { isWaiting } from '../../lib/tables/waiting.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { supportCodesPlugin } from '../support/support-codes.js';

/** The tables whose rows expire, and that are not declared with `defineWaiting`, each with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  sessions: 'A session is used many times. It has an epoch, and each lookup compares it with the user’s.',
  known_devices: 'A device is used many times, and authenticates nobody by itself.',
  known_device_tokens: 'They name the device of a browser, which authenticates nobody by itself.',
  recent_browsers: 'They say which browser an account is known in, which authenticates nobody by itself.',
  account_changes: 'An undo must still be possible after an intruder has revoked all sessions.',
  carried_sessions:
    'They stand for sessions of a previous system, and have the epoch of the session that replaced it.',
  outbox: 'An entry is no secret that anybody presents.',
  rate_limits: 'A counter is no secret that anybody presents.',
  accounts: 'The tokens are the provider’s, and are not accepted here.',
  api_keys: 'A key is used many times, and revoking sessions leaves keys alone, as the docs say.',
  organization_invitations:
    'An invitation belongs to an organization, and remains when sessions of the member who sent it end. An undo revokes it.',
  removed_passkeys: 'They only say which passkeys an undo can restore.',
  totp_enrolments: 'An enrolment belongs to a session, and the database deletes it with the session.',
};

/** Whether the rows of a table expire: a column says when. */
function hasExpiry({ columns }: TableDeclaration): boolean {
  return Object.entries(columns).some(
    ([attribute, { kind }]) => kind === 'time' && /expires|until/i.test(attribute),
  );
}

function tablesOf(plugins: readonly Plugin[]): readonly TableDeclaration[] {
  const { core } = internalsOf(
    createAuth({
      database: 'sqlite::memory:',
      secret: SECRET,
      baseUrl: 'http://localhost:3000',
      email: { send: () => undefined },
      plugins,
    }),
  );
  const ofPlugins = core.contributions.flatMap(({ tables = {} }) => Object.values(tables));
  return [...Object.values<TableDeclaration>(coreTables), ...ofPlugins];
}

const withoutKit = (tables: readonly TableDeclaration[]) =>
  tables.filter((table) => hasExpiry(table) && !isWaiting(table)).map(({ name }) => name);

describe('a table whose rows expire', () => {
  const every = [...everyPlugin({ sendsEmails: true }), fixedProvider()];

  test('is declared with defineWaiting, so that it says what ends its rows, or has a reason here', () => {
    expect(withoutKit(tablesOf(every)).sort()).toEqual(Object.keys(OTHERS).sort());
  });

  test('is found if a plugin declares it otherwise', () => {
    const columns = { codeHash: column.digest(), userId: column.uuid(), expiresAt: column.time() };
    const codes = declareTable({ name: 'codes', columns, foreignKeys: { userId: users }, exported: 'No.' });
    const careless = { name: 'careless', setup: () => ({ api: null, tables: { Code: codes } }) };
    expect(withoutKit(tablesOf([careless, supportCodesPlugin()]))).toContain('codes');
    expect(withoutKit(tablesOf([careless, supportCodesPlugin()]))).not.toContain('support_codes');
  });

  test('names no user if it depends on a browser, because nothing would end it with the sessions of that user', () => {
    const ofBrowsers = tablesOf(every).filter(
      (table) => isWaiting(table) && table.waiting.hangsOn === 'browser',
    );
    const named = ofBrowsers.filter(({ columns }) => 'userId' in columns).map(({ name }) => name);
    // The user is that of the session, the pending sign-in or the undo that the challenge is bound to.
    expect(named).toEqual(['passkey_challenges']);
  });
});
