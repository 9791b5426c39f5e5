import {
  type AdminOptions,
  admin,
  apiKeys,
  auditLog,
  emailSignIn,
  type OAuthOptions,
  type OrganizationsOptions,
  oauth,
  organizations,
  passkeys,
  roles,
  suspension,
  type TwoFactorOptions,
  twoFactor,
} from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { password } from './app.js';

/** The options of single plugins, for a spec that needs other options than {@link everyPlugin} sets. */
export interface EveryPluginOptions {
  /** Whether the app sends emails, so that features that require emails are enabled. @default false */
  readonly sendsEmails?: boolean;
  readonly password?: Parameters<typeof password>[0];
  readonly admin?: AdminOptions;
  readonly oauth?: OAuthOptions;
  readonly organizations?: OrganizationsOptions;
  readonly twoFactor?: TwoFactorOptions;
}

/** Every plugin in `lib/plugins`, by its folder. A spec compares the plugins with the folders. */
const byFolder = (options: EveryPluginOptions) => ({
  admin: admin({ adminEmails: ['root@example.com'], role: 'admin', actAs: {}, ...options.admin }),
  'api-keys': apiKeys(),
  'audit-log': auditLog(),
  'credential-password': password({
    username: true,
    ...(options.sendsEmails && { verifyEmailBy: 'link', resetBy: 'code', unknownBrowser: 'code' }),
    ...options.password,
  }),
  // This plugin requires emails.
  ...(options.sendsEmails && { 'email-sign-in': emailSignIn({ signUp: true }) }),
  oauth: oauth(options.oauth),
  organizations: organizations(options.organizations),
  passkeys: passkeys(),
  roles: roles({
    roles: { admin: ['*'], editor: ['posts:write'], reader: ['posts:read'] },
    default: 'reader',
  }),
  suspension: suspension(),
  'two-factor': twoFactor({ trustDevices: { days: 30 }, ...options.twoFactor }),
});

/**
 * All plugins, for the specs that walk through all routes, operations or tables. A new plugin is added only here, and
 * each of these specs fails until it has rows for the plugin.
 *
 * `oauth()` requires at least one provider, which the spec adds to the list.
 */
export const everyPlugin = (options: EveryPluginOptions = {}) => [
  ...Object.values(byFolder(options)),
  movingIn(),
];

/** The folders of the plugins of an app that sends emails. */
export const PLUGIN_FOLDERS: readonly string[] = Object.keys(byFolder({ sendsEmails: true }));
