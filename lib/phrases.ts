/** Words for what a phrase counts, such as the characters of a string. Each language has its own plural forms. */
export type Unit = 'characters' | 'items';

/** The type that a value must have. `int` is a whole number. */
export type ValueType = 'array' | 'boolean' | 'date' | 'int' | 'number' | 'object' | 'string';

const valueTypes: ReadonlySet<string> = new Set<ValueType>([
  'array',
  'boolean',
  'date',
  'int',
  'number',
  'object',
  'string',
]);

/** Whether a schema's name for a type is a {@link ValueType}. */
export function isValueType(name: string): name is ValueType {
  return valueTypes.has(name);
}

interface Minimum {
  readonly minimum: number;
}

interface Maximum {
  readonly maximum: number;
}

interface Counted {
  readonly unit: Unit;
}

interface Choices {
  /** The names that are allowed, as programs send them. A language does not translate them. */
  readonly values: readonly (string | number)[];
}

/**
 * What errors say in English, by the names of the phrases: the details of fields, and the details of problems that say more
 * than the default of their code. A translation has the same names. The values of a phrase are JSON, and none of them is
 * part of a sentence: names of fields and of choices, numbers, and words of a fixed set.
 *
 * Details that only the developer of a program can cause and read are not here, and stay in English: those of
 * `invalid_request`, `invalid_callback_url`, `insufficient_scope`, `unsupported_media_type` and `unauthenticated`, and those
 * about the rows of an import.
 */
export const phrases = {
  // Predicates, which follow the name of a field.
  required: 'is missing',
  invalid: 'is not valid',
  'unknown-key': 'is not a field of this request',
  'wrong-type': ({ type }: { readonly type: ValueType }) => `must be of type ${type}`,
  'too-short': ({ minimum, unit }: Minimum & Counted) => `must have at least ${minimum} ${unit}`,
  'too-long': ({ maximum, unit }: Maximum & Counted) => `must have at most ${maximum} ${unit}`,
  'too-small': ({ minimum }: Minimum) => `must be at least ${minimum}`,
  'too-large': ({ maximum }: Maximum) => `must be at most ${maximum}`,
  'malformed-text': 'must be well-formed Unicode without a NUL character',
  'not-one-of': ({ values }: Choices) => `must be one of ${values.join(', ') || '(none)'}`,
  taken: 'is taken: choose another',
  'not-storable': 'has a value that cannot be stored',

  // The fields of the app.
  'outside-pattern': 'must match the pattern of this field',
  'not-a-date': 'must be a Date in the years 1 to 9999',
  'not-a-time': 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z',
  'not-a-day': 'must be a day, such as 1815-12-10',
  'outside-years': 'must be in the years 1 to 9999',
  'not-json': 'must be a value that JSON can represent',
  'json-null': 'must not be null',
  'json-too-deep': ({ maximum }: Maximum) => `must be nested at most ${maximum} levels deep`,
  'json-too-large': ({ maximum }: Maximum) => `must be at most ${maximum} KiB as JSON`,
  'json-proto': 'must not have a key __proto__',

  // Bodies and forms.
  'sent-twice': 'is sent more than once',
  'not-single': 'must be a single value',
  'not-checkboxes': 'must name checkboxes of this form',
  'not-exactly-one': ({ values }: Choices) => `must have exactly one of ${values.join(', ')}`,
  'not-code-or-token': 'must be there if there is no token, and only then',
  'only-together': ({ field }: { readonly field: string }) => `is accepted only together with ${field}`,
  'not-in-future': 'must be a time in the future, before the year 10000',
  'not-confirmed': 'must be what the page asks for',
  'other-account': 'is of another account',

  // Emails and usernames.
  'invalid-email': 'must be an email address such as ada@example.com',
  'internationalized-email':
    'is an internationalized address, with characters other than ASCII before the @, which is not accepted: use an address in ASCII',
  'same-email': 'is the email that the account has',
  'email-not-accepted': 'is not accepted: accounts have a username instead',
  'invalid-username': 'must be 3 to 30 characters: letters a to z, digits, underscores, dots and hyphens',
  /** For an app with its own pattern. */
  'username-not-allowed': ({ maximum }: Maximum) =>
    `must be a name that this app allows: at most ${maximum} characters, no @, and no spaces around it`,
  'username-not-accepted': 'is not accepted: usernames are not enabled',
  /** At a sign-up. */
  'enter-identifier': 'is missing: enter an email, a username, or both',
  /** To an administrator who creates a user. */
  'user-without-identifier': 'is missing: a user needs an email or a username',
  /** To the app's code. */
  'pass-identifier': 'is missing: pass an email or a username',

  // Passwords.
  'password-too-common': 'is one of the most common passwords; choose another',
  /** The words are those of the app, such as its name. */
  'password-of-app-words': 'relies on words that are easy to guess here; choose another',
  'password-breached': 'is known from a data breach; choose another',
  'password-is-email': 'must not be your email',
  'password-is-username': 'must not be your username',
  'same-password': 'must differ from the current password',
  /** For a password to which no other rule applies. */
  'invalid-password': ({ maximum }: Maximum) =>
    `must be 1 to ${maximum} characters of well-formed Unicode without NUL`,

  // Passkeys, API keys, organizations, roles and the administration.
  'invalid-name': ({ maximum }: Maximum) => `must be 1 to ${maximum} visible characters long`,
  'invalid-slug':
    'must have 2 to 63 small letters, digits and single hyphens, start and end with a letter or digit, and not look like an id',
  'invalid-scopes': ({ maximum }: Maximum) =>
    `must be at most ${maximum} words of visible ASCII characters, without quotes or backslashes`,
  'invalid-rights': 'must be some or all',
  'not-roles': 'must be a list of roles',
  'too-many-roles': ({ maximum }: Maximum) => `must contain at most ${maximum} roles`,
  /** The reason for acting as a user. */
  'invalid-reason': ({ maximum }: Maximum) => `must be 1 to ${maximum} visible characters`,
  /** The reason of a suspension. */
  'reason-too-long': ({ maximum }: Maximum) =>
    `must be at most ${maximum} characters of well-formed Unicode, without NUL`,

  // The details of problems, which are whole sentences.
  'totp-locked':
    'After too many wrong codes, codes from the authenticator app are no longer accepted. Use a recovery code or a passkey, or ask the people who run this service.',
  'totp-not-started':
    'There is no authenticator app to confirm. If the setup took more than 10 minutes, start it again.',
  'no-passkey-yet': 'You have no passkey. Add one first.',
  'unknown-browser':
    'This browser is new to your account. Sign in again: you get an email with a code that confirms that it is you.',
  'no-authentication-time':
    'This provider does not report when you signed in there. Confirm your password, use an OpenID Connect provider that reports it, or sign in again.',
  'provider-without-fields': ({ fields }: { readonly fields: readonly string[] }) =>
    `The provider did not return the required fields: ${fields.join(', ')}.`,
  'wrong-former-password': 'Wrong password. Enter the password that the account had before this change.',
  'undo-without-email':
    'Another account has the email address from before this change, so undoing the change would leave your account without a way to sign in. Contact support.',
  /** To an administrator. */
  'no-such-session-of-user': 'This user has no such session. It might have ended already.',
  /** To an administrator. */
  'role-for-unproven-email':
    'No one has proven that the email of this user belongs to them, so the user could be someone else. Ask the user to verify the email first.',
  'account-incomplete': 'The account is incomplete. See the log for the fix.',
  'schema-outdated': 'The database schema does not match this version. See the log for the fix.',
};

/** What errors say in a language, by the names of the phrases. */
export type Phrases = typeof phrases;

/** The name of a phrase, such as `too-short`. */
export type PhraseName = keyof Phrases;

type ValuesOf<Name extends PhraseName> = Phrases[Name] extends (values: infer Values) => string
  ? [values: Values]
  : [];

/** A sentence of an error, or its predicate about a field, in no language yet: its name, and its values. */
export interface Phrase {
  readonly name: PhraseName;
  /** Undefined if the phrase has no values. */
  readonly values: unknown;
}

/**
 * Names a phrase, for an error.
 *
 * @example
 * throw invalidField('/password', 'too_short', say('too-short', { minimum: 8, unit: 'characters' }));
 */
export function say<Name extends PhraseName>(name: Name, ...[values]: ValuesOf<Name>): Phrase {
  return { name, values };
}

/**
 * Returns what a phrase says in a language. Undefined if the language does not have the phrase, which another version of the
 * package can have named.
 */
export function saidIn(language: Phrases, { name, values }: Phrase): string | undefined {
  const said = language[name] as string | ((values: unknown) => string) | undefined;
  return typeof said === 'function' ? said(values) : said;
}

/** Returns what a phrase says in English. A string stays as it is. */
export function inEnglish(said: string | Phrase): string {
  return isPhrase(said) ? (saidIn(phrases, said) ?? String(said)) : said;
}

/** Whether the detail of an error is a phrase. Code in JavaScript can pass any value in place of a string. */
export function isPhrase(said: string | Phrase): said is Phrase {
  return typeof said === 'object' && said !== null;
}
