import { AuthError, invalidField } from '../../errors.js';
import { declareRowKeys, type ImportRow, type RowReader, type RowValues } from '../../users/imported.js';
import type { Accounts } from './accounts.js';
import { checkedSubject, MAX_ISSUER } from './profile.js';
import { issuerOf, type Provider } from './provider.js';

/** A user's account at a provider, for `auth.movingIn.importUsers`. */
export interface ImportedLink {
  /** The provider's id, as in the config. */
  readonly provider: string;
  /** The provider's issuer. Required for Microsoft, unless `tenant` is the id of one tenant. @default the config's */
  readonly issuer?: string | null | undefined;
  /** The account's id at the provider (the subject), as that provider's module of latchkey reads it. */
  readonly subject: string | number;
}

declare module '../../users/imported.js' {
  interface ImportRow {
    /** The user's accounts at providers. They have no tokens until the user signs in there. @default none */
    accounts?: readonly ImportedLink[] | null | undefined;
  }
}

declareRowKeys(['accounts'], 'add oauth() and a provider to plugins');

/** A link in its stored form. */
export interface Link {
  readonly provider: string;
  readonly issuer: string;
  readonly providerAccountId: string;
}

/** Imports the accounts at providers that a row contains. */
export function linksOfRows(accounts: Accounts, providers: readonly Provider[]): RowReader<readonly Link[]> {
  const known = new Map(providers.map((one) => [one.id, one]));
  return {
    keys: ['accounts'],
    isWayIn: true,
    async read({ accounts: given }, lose) {
      const links = readList(given).flatMap((link, index) => {
        try {
          return readLink(known, link, `/accounts/${index}`);
        } catch (error) {
          // The user keeps the other sign-in methods.
          if (!(error instanceof AuthError) || error.errors?.[0]?.code !== UNKNOWN) throw error;
          lose(error);
          return [];
        }
      });
      const twice = links.find(
        ({ provider }, index) => links.findIndex((one) => one.provider === provider) < index,
      );
      if (twice)
        throw invalid('/accounts', `has two accounts at ${twice.provider}: a user can have only one`);
      return links.length > 0 ? links : null;
    },
    identitiesOf: (links) => links.map(identityOf),
    takenAmong: async (all, transaction) =>
      (await accounts.findLinks(all.flat(), transaction)).map(identityOf),
    taken: { code: 'account_taken', detail: 'one of the accounts is already linked to another user' },
    write: (links, transaction) =>
      accounts.insertLinks(
        [...links].flatMap(([userId, list]) => list.map((link) => ({ userId, ...link }))),
        transaction,
      ),
    valuesOf,
    valuesNow: async ({ user }, transaction) => valuesOf(await accounts.list(user.id, transaction)),
    async replace({ user: { id: userId } }, links, transaction) {
      const now = await accounts.list(userId, transaction);
      const isIn = (all: readonly Link[], one: Link) => all.some((other) => keyOf(other) === keyOf(one));
      for (const account of now) if (!isIn(links ?? [], account)) await accounts.delete(account, transaction);
      const added = (links ?? []).filter((link) => !isIn(now, link));
      await accounts.insertLinks(
        added.map((link) => ({ userId, ...link })),
        transaction,
      );
      if (added.length > 0) await accounts.announceChange(userId, transaction);
    },
  };
}

const UNKNOWN = 'unknown_provider';

function valuesOf(links: readonly Link[]): RowValues {
  return links.length === 0 ? {} : { accounts: links.map(keyOf).sort().join('\n') };
}

function keyOf({ provider, issuer, providerAccountId }: Link): string {
  return `${provider} ${issuer} ${providerAccountId}`;
}

function readList(given: ImportRow['accounts']): readonly unknown[] {
  if (Array.isArray(given)) return given;
  throw invalid('/accounts', 'must be a list, such as [{ provider: "google", subject: "1178" }]');
}

function readLink(known: ReadonlyMap<string, Provider>, given: unknown, pointer: string): Link {
  if (typeof given !== 'object' || given === null)
    throw invalid(pointer, 'must be an object with provider and subject');
  const { provider: id, issuer, subject, ...others } = given as Partial<ImportedLink>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid(pointer, `has an unknown key, ${unknown}: check its spelling`);
  const provider = known.get(String(id));
  if (!provider) {
    const detail = `is not one of the providers in plugins (${[...known.keys()].join(', ')}): add the provider, or leave the account out`;
    throw invalidField(`${pointer}/provider`, UNKNOWN, detail);
  }
  return {
    provider: provider.id,
    issuer: readIssuer(provider, issuer ?? null, pointer),
    providerAccountId: readSubject(subject, pointer),
  };
}

function readIssuer(provider: Provider, issuer: unknown, pointer: string): string {
  if (issuer === null && provider.hasTenants)
    throw invalid(
      `${pointer}/issuer`,
      'is missing: it names the tenant, such as https://login.microsoftonline.com/<tenant id>/v2.0',
    );
  const given = issuer ?? issuerOf(provider);
  if (typeof given === 'string' && given.length <= MAX_ISSUER && /^[!-~]+$/.test(given)) return given;
  throw invalid(`${pointer}/issuer`, `must be a string of at most ${MAX_ISSUER} ASCII characters`);
}

function readSubject(subject: unknown, pointer: string): string {
  try {
    return checkedSubject(subject);
  } catch (error) {
    throw invalid(`${pointer}/subject`, `is not valid: ${(error as Error).message}`);
  }
}

function identityOf({ issuer, providerAccountId }: Pick<Link, 'issuer' | 'providerAccountId'>): string {
  return `account ${issuer} ${providerAccountId}`;
}

function invalid(pointer: string, detail: string): AuthError {
  return invalidField(pointer, 'invalid_accounts', detail);
}
