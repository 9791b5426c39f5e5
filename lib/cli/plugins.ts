import type { Auth } from '../auth.js';
import type { ImportReport, ImportUpdateReport, ImportUsersOptions } from '../moving-in/import.js';
import type {
  ImportOrganizationRow,
  ImportOrganizationsOptions,
  ImportOrganizationsReport,
} from '../moving-in/import-organizations.js';
import type { TransactionOption } from '../sessions/request.js';
import type { ImportRow } from '../users/imported.js';
import type { UserForAdmins } from '../users/record.js';
import { Refusal } from './output.js';

/**
 * The plugin calls that commands need. Their types are repeated here, because latchkey must also compile without a
 * plugin's folder. No other file of the command line names plugins in code, so the config that `init` writes is here
 * too.
 */
interface PluginApis {
  readonly keys: {
    list(userId: string): Promise<readonly ListedKey[]>;
    revoke(userId: string, keyId: string, options: TransactionOption): Promise<boolean>;
  };
  readonly movingIn: {
    importUsers(
      rows: AsyncIterable<ImportRow>,
      options: ImportUsersOptions,
    ): Promise<ImportReport | ImportUpdateReport>;
    importOrganizations(
      rows: AsyncIterable<ImportOrganizationRow>,
      options: ImportOrganizationsOptions,
    ): Promise<ImportOrganizationsReport>;
  };
  readonly organizations: {
    get(idOrSlug: string): Promise<ListedOrganization | null>;
    list(page: ListPage): Promise<Listed<'organizations', ListedOrganization>>;
    members(organizationId: string, page: ListPage): Promise<Listed<'members', ListedMember>>;
    setRole(
      organizationId: string,
      userId: string,
      role: string,
      options: TransactionOption,
    ): Promise<ListedMember>;
    removeMember(organizationId: string, userId: string, options: TransactionOption): Promise<void>;
  };
  readonly roles: {
    of(userId: string): Promise<readonly string[]>;
    change(
      userId: string,
      rolesAfter: (before: readonly string[]) => readonly string[],
    ): Promise<{ readonly roles: readonly string[] }>;
  };
  readonly suspension: {
    suspend(userId: string, options: SuspendOptions): Promise<unknown>;
    reinstate(userId: string, options: TransactionOption): Promise<unknown>;
    isSuspended(user: UserForAdmins): boolean;
  };
  readonly twoFactor: {
    disable(userId: string, options: TransactionOption): Promise<void>;
  };
}

/** An API key as `latchkey keys list` prints it. */
interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly start: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
}

/** A page of a list. */
type Listed<Name extends string, Item> = Readonly<Record<Name, readonly Item[]>> & {
  readonly nextCursor: string | null;
};

/** The page of a list to read. */
interface ListPage {
  readonly limit: number;
  readonly cursor?: string;
}

/** An organization as `latchkey organizations list` prints it. */
interface ListedOrganization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly createdAt: Date;
}

/** A member as `latchkey organizations members` prints it. */
interface ListedMember {
  readonly user: { readonly id: string; readonly email: string | null; readonly username: string | null };
  readonly role: string;
  readonly createdAt: Date;
}

interface SuspendOptions extends TransactionOption {
  readonly until?: Date | undefined;
  readonly reason?: string | undefined;
}

/** The name of each API in an Auth, and the plugins that add it. */
const PLUGINS = {
  keys: { name: 'apiKeys', calls: 'apiKeys()' },
  movingIn: { name: 'movingIn', calls: 'movingIn()' },
  organizations: { name: 'organizations', calls: 'organizations()' },
  roles: { name: 'roles', calls: 'roles({ … })' },
  suspension: { name: 'suspension', calls: 'suspension() and admin({ … })' },
  twoFactor: { name: 'twoFactor', calls: 'twoFactor()' },
} as const;

/**
 * Returns the API of a plugin.
 *
 * @throws Refusal if the plugin is not in the config
 */
export function pluginOf<Name extends keyof PluginApis>(auth: Auth, plugin: Name): PluginApis[Name] {
  const { name, calls } = PLUGINS[plugin];
  const api = (auth as unknown as Readonly<Record<string, unknown>>)[name];
  if (!api) throw new Refusal(`add ${calls} to plugins in the config first`, 'plugin_missing');
  return api as PluginApis[Name];
}

/** Returns the sentence about the plugins that a command requires, for its description. */
export function requires(plugin: keyof PluginApis): string {
  return `Requires ${PLUGINS[plugin].calls}.`;
}

/** What differs between the configs that `latchkey init` writes. */
export interface NewConfig {
  readonly appName: string;
  /** The environment variable with the URL of the database. */
  readonly variable: string;
  /** The URL to use if the environment has none. */
  readonly database: string;
  /** The prefix of the tables. Empty if there is none. */
  readonly prefix: string;
  /** The languages. The first is the default. Empty if the config does not name any. */
  readonly languages: readonly string[];
}

/** Returns the config that `latchkey init` writes. */
export function newConfig({ appName, variable, database, prefix, languages }: NewConfig): string {
  const [first] = languages;
  const list = languages.length > 1 ? `, languages: [${languages.map((tag) => `'${tag}'`).join(', ')}]` : '';
  const locale = first === undefined ? '' : `  locale: { default: '${first}'${list} },\n`;
  return `import { existsSync } from 'node:fs';
import { createAuth, credentialPassword, twoFactor } from 'latchkey';
import { pages } from 'latchkey/pages';

// Variables that are already set keep their values.
if (existsSync('.env')) process.loadEnvFile();

export const auth = createAuth({
  database: process.env.${variable} ?? '${database}',
${prefix === '' ? '' : `  tablePrefix: '${prefix}',\n`}  secret: process.env.AUTH_SECRET,
  baseUrl: process.env.BASE_URL ?? \`http://localhost:\${process.env.PORT ?? 3000}\`,
  appName: '${appName}',
${locale}  email: {
    // This prints emails, for development. Before you deploy, send them: see docs/email.md of latchkey.
    send({ to, subject, text }) {
      if (process.env.NODE_ENV === 'production') throw new Error('The config sends no emails yet');
      console.log(\`Email to \${to}: \${subject}\\n\\n\${text}\\n\`);
    },
  },
  plugins: [
    credentialPassword({ signInOnSignUp: true, verifyEmailBy: 'code', resetBy: 'code' }),
    twoFactor(),
    pages(),
  ],
});
`;
}
