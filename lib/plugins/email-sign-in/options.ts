import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import type { Core } from '../../core/core.js';

/** Options of {@link emailSignIn}. */
export interface EmailSignInOptions {
  /**
   * Whether the emails contain a link in addition to the code. It works only in the browser that asked for it.
   * @default true
   */
  link?: boolean;
  /** Whether the code or link creates an account for an address that has none. @default false */
  signUp?: boolean;
  /** How long a code and its link work, in seconds: 120 to 3600. @default 600 */
  lifetime?: number;
}

const LIFETIME = 'must be a whole number of seconds from 120 to 3600';

/** @internal */
export const optionsSchema = () =>
  schemaOf<EmailSignInOptions>()({
    link: flag.default(true),
    signUp: flag.default(false),
    lifetime: z.int(LIFETIME).min(120, LIFETIME).max(3600, LIFETIME).default(600),
  });

/** The options with their defaults. */
export interface EmailSignInSettings extends Readonly<Required<EmailSignInOptions>> {}

/** @throws TypeError on invalid options */
export function readSettings(options: EmailSignInOptions): EmailSignInSettings {
  return readOptions('emailSignIn', optionsSchema, options);
}

/** The names in the body of POST /signin/email/confirm that no field of a sign-up can have. */
const TAKEN = ['code', 'pendingToken'];

/** @throws TypeError on options that contradict the config */
export function checkTogether({ signUp }: EmailSignInSettings, core: Core): void {
  if (!core.mails) throw configError('it requires email: { send } in the config');
  if (!signUp) return;
  if (core.usernames?.areOnlyIdentifiers)
    throw configError(
      "signUp: true and credentialPassword({ identifier: 'username' }) are mutually exclusive: no one signs up with an email",
    );
  const taken = core.users.fields.names.find((name) => TAKEN.includes(name));
  if (taken !== undefined)
    throw configError(
      `signUp: true and user.fields.${taken} are mutually exclusive: POST /signin/email/confirm has a field of that name`,
    );
}

function configError(what: string): TypeError {
  return new TypeError(`latchkey: emailSignIn: ${what}`);
}
