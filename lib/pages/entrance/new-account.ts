import { type Html, html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { field } from '../controls.js';
import { type OwnField, ownFields, ownInputs } from '../own-fields.js';
import type { Site } from '../site.js';
import type { FormValues } from '../values.js';

/** What a form for a new account with a password asks for, in addition to the email. */
export interface NewAccountValues {
  readonly identifier: 'email' | 'username' | 'either';
  /** Whether an account can have a username in addition to the email. */
  readonly username: boolean;
  /** Whether latchkey's rules for usernames apply, which the page says. Otherwise, the app has its own. */
  readonly usernameRules: boolean;
  /** The minimum number of characters of a password. */
  readonly minLength: number;
  readonly fields: readonly OwnField[];
}

/** @internal */
export function newAccount(site: Site): NewAccountValues {
  return {
    identifier: site.signUpIdentifier,
    username: site.core.usernames !== null,
    usernameRules: site.core.usernames?.areDefault ?? false,
    minLength: site.core.passwords?.minLength ?? 8,
    fields: ownFields(site),
  };
}

/**
 * Creates the inputs of a new account other than the email.
 *
 * @param hasFocus whether the first one has the focus when the page opens
 */
export function newAccountInputs(
  form: FormValues & NewAccountValues,
  words: Words,
  hasFocus = form.identifier === 'username',
): Html {
  const { identifier, username, usernameRules, minLength, fields } = form;
  return html`${
    username &&
    field(
      form,
      {
        name: 'username',
        label: words.fields.username,
        autocomplete: 'username',
        hint: usernameRules ? words.usernameHint : null,
        required: identifier === 'username',
        hideOptional: identifier === 'either',
        focus: hasFocus,
        isCode: true,
      },
      words,
    )
  }${field(
    form,
    {
      name: 'password',
      label: words.fields.password,
      type: 'password',
      autocomplete: 'new-password',
      hint: words.passwordHint(minLength),
      minLength,
      focus: hasFocus && !username,
    },
    words,
  )}${ownInputs(form, fields, words)}`;
}
