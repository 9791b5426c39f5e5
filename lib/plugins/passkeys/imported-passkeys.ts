import { type AuthError, invalidField } from '../../errors.js';
import { type ImportedPasskeyRow, MAX_PER_USER } from '../../factors/passkeys.js';
import { usesPasskeys } from '../../factors/status.js';
import type { PasskeyRow } from '../../tables/factors.js';
import {
  declareRowKeys,
  type ImportRow,
  isCreationTime,
  type RowReader,
  type RowValues,
} from '../../users/imported.js';
import type { PasskeyServices } from './assertions.js';
import { isCredentialId, knownTransports, usablePublicKey } from './ceremonies.js';
import { bytesOf } from './webauthn.js';

/** A user's passkey, for `auth.movingIn.importUsers`. */
export interface ImportedPasskey {
  /** The credential's id that the authenticator chose, in base64url without padding. */
  readonly credentialId: string;
  /** The public key in COSE (RFC 9052), in base64url without padding. */
  readonly publicKey: string;
  /** The last value of the authenticator's signature counter. @default 0 */
  readonly counter?: number | null | undefined;
  /** Whether it stays on one device, or can be copied to others. */
  readonly deviceType: 'singleDevice' | 'multiDevice';
  /** Whether there is a copy of it elsewhere. @default false */
  readonly backedUp?: boolean | null | undefined;
  /** How browsers reach the authenticator, such as `internal`. @default [] */
  readonly transports?: readonly string[] | null | undefined;
  /** A name for lists of passkeys, at most 100 characters. @default Passkey */
  readonly name?: string | null | undefined;
  /** When it was added. @default now */
  readonly createdAt?: Date | null | undefined;
  /** The id that identifies the user to the authenticator, in base64url. @default the one of its first use here */
  readonly userHandle?: string | null | undefined;
}

declare module '../../users/imported.js' {
  interface ImportRow {
    /** The user's passkeys. The `rpId` must be the one that they were created with. @default none */
    passkeys?: readonly ImportedPasskey[] | null | undefined;
  }
}

// A user can still sign in without a passkey, and add a new one.
declareRowKeys(['passkeys'], 'add passkeys() to plugins', true);

const KEYS: ReadonlySet<string> = new Set<keyof ImportedPasskey>([
  ...(['credentialId', 'publicKey', 'counter', 'deviceType', 'backedUp'] as const),
  ...(['transports', 'name', 'createdAt', 'userHandle'] as const),
]);
const MAX_NAME = 100;
const MAX_HANDLE_BYTES = 48;

/** Imports the passkeys that a row contains. */
export function passkeysOfRows({
  core,
  store,
  setup,
}: PasskeyServices): RowReader<readonly ImportedPasskeyRow[]> {
  return {
    keys: ['passkeys'],
    isWayIn: true,
    async read({ passkeys: given }) {
      const now = core.database.clock.now();
      const list = readList(given);
      const passkeys: ImportedPasskeyRow[] = [];
      for (const [index, one] of list.entries())
        passkeys.push(await readPasskey(one, `/passkeys/${index}`, now));
      const ids = new Set(passkeys.map(({ credentialId }) => credentialId));
      if (ids.size < passkeys.length) throw invalid('/passkeys', 'has the same credentialId twice');
      return passkeys;
    },
    identitiesOf: (passkeys) => passkeys.map(identityOf),
    takenAmong: async (all, transaction) =>
      (
        await store.known(
          all.flat().map(({ credentialId }) => credentialId),
          transaction,
        )
      ).map(identityOf),
    taken: { code: 'passkey_taken', detail: 'another user already has one of these passkeys' },
    write: (passkeys, transaction) =>
      store.insert(
        [...passkeys].flatMap(([userId, list]) => list.map((one) => ({ userId, ...one }))),
        transaction,
      ),
    valuesOf,
    valuesNow: async ({ user }, transaction) => valuesOf(await store.rows(user.id, transaction)),
    async replace(record, passkeys, transaction) {
      const userId = record.user.id;
      const now = await store.rows(userId, transaction);
      const isEmptied = now.length > 0 && (passkeys ?? []).length === 0;
      if (isEmptied && setup && usesPasskeys(record.account))
        throw invalid('/passkeys', 'are missing, but the user has enabled passkeys as a second factor here');
      const isIn = (all: readonly Identity[], one: Identity) =>
        all.some(({ credentialId }) => credentialId === one.credentialId);
      for (const one of now) if (!isIn(passkeys ?? [], one)) await store.delete(one, transaction);
      const added = (passkeys ?? []).filter((one) => !isIn(now, one));
      await store.insert(
        added.map((one) => ({ userId, ...one })),
        transaction,
      );
      if (added.length > 0) await core.users.announceChange(userId, ['passkeys'], transaction);
      if (isEmptied) await setup?.passkeysRemoved(record, false, transaction);
    },
  };
}

type Identity = Pick<PasskeyRow, 'credentialId'>;

/** Only the ids are compared, because counters and names can change here after an import. */
function valuesOf(passkeys: readonly Identity[]): RowValues {
  if (passkeys.length === 0) return {};
  return {
    passkeys: passkeys
      .map(({ credentialId }) => credentialId)
      .sort()
      .join(' '),
  };
}

function identityOf({ credentialId }: Identity): string {
  return `passkey ${credentialId}`;
}

function readList(given: ImportRow['passkeys']): readonly unknown[] {
  if (Array.isArray(given) && given.length <= MAX_PER_USER) return given;
  throw invalid('/passkeys', `must be a list of at most ${MAX_PER_USER} objects`);
}

async function readPasskey(given: unknown, pointer: string, now: number): Promise<ImportedPasskeyRow> {
  if (typeof given !== 'object' || given === null) throw invalid(pointer, 'must be an object');
  const unknown = Object.keys(given).find((key) => !KEYS.has(key));
  if (unknown !== undefined) throw invalid(pointer, `has an unknown key, ${unknown}: check its spelling`);
  const one = given as Partial<ImportedPasskey>;
  const { credentialId, deviceType } = one;
  if (!isCredentialId(credentialId))
    throw invalid(`${pointer}/credential_id`, 'must be 16 to 1023 bytes in base64url without padding');
  const publicKey = await usablePublicKey(one.publicKey);
  if (publicKey === null)
    throw invalid(
      `${pointer}/public_key`,
      'must be a COSE key for ES256, EdDSA or RS256, in base64url without padding',
    );
  if (deviceType !== 'singleDevice' && deviceType !== 'multiDevice')
    throw invalid(`${pointer}/device_type`, 'must be singleDevice or multiDevice');
  return {
    credentialId,
    publicKey,
    deviceType,
    counter: readCounter(one.counter ?? 0, pointer),
    backedUp: one.backedUp === true,
    transports: knownTransports(one.transports),
    name: readName(one.name ?? '', pointer),
    createdAt: readTime(one.createdAt ?? null, pointer, now),
    userHandle: readHandle(one.userHandle ?? '', pointer),
  };
}

function readCounter(counter: unknown, pointer: string): number {
  const isCounter = Number.isInteger(counter) && Number(counter) >= 0 && Number(counter) < 2 ** 32;
  if (isCounter) return counter as number;
  throw invalid(`${pointer}/counter`, 'must be a whole number from 0 to 4294967295');
}

function readName(given: unknown, pointer: string): string {
  if (typeof given !== 'string' || !given.isWellFormed() || given.includes('\0'))
    throw invalid(`${pointer}/name`, 'must be a string');
  return [...given.trim()].slice(0, MAX_NAME).join('') || 'Passkey';
}

function readTime(time: unknown, pointer: string, now: number): Date | null {
  if (time === null || (time instanceof Date && isCreationTime(time, now))) return time;
  throw invalid(`${pointer}/created_at`, 'must be a Date from 1970 or later, and not in the future');
}

function readHandle(handle: unknown, pointer: string): string {
  const bytes = bytesOf(handle);
  if (handle === '' || (bytes && bytes.length <= MAX_HANDLE_BYTES)) return handle as string;
  throw invalid(
    `${pointer}/user_handle`,
    `must be 1 to ${MAX_HANDLE_BYTES} bytes in base64url without padding`,
  );
}

function invalid(pointer: string, detail: string): AuthError {
  return invalidField(pointer, 'invalid_passkeys', detail);
}
