import { type HtmlValue, html } from '../../html.js';
import { isFresh } from '../../sessions/signed-in.js';
import { field, usernameOf } from '../controls.js';
import type { Visit } from '../page.js';
import type { FormValues } from '../values.js';
import type { Words } from '../words/index.js';

/** How the user of a session that is not fresh confirms a sensitive change. */
export interface ProofValues {
  /** Whether the form accepts the password. */
  readonly byPassword: boolean;
  /** The page that makes the session fresh, and leads back. Null if there is none. */
  readonly confirm: string | null;
}

/**
 * Returns the proof that the sensitive forms of a page ask for. Null if the session is fresh, so that they ask for
 * none.
 *
 * @internal
 */
export async function proofOf(visit: Visit, page: string): Promise<ProofValues | null> {
  const { site, auth } = visit;
  if (!auth) return null;
  const hasFactor = site.core.secondFactors.isOn(auth.user);
  if (isFresh(site.core.database, auth.session) && (!hasFactor || auth.session.aal > 1)) return null;
  const { password = false } = await site.read(site.require('get /sign-in-methods'), visit);
  return {
    // The password does not replace a second factor.
    byPassword: password && !hasFactor,
    confirm: site.hasPage('reauthenticate')
      ? site.page('reauthenticate', { returnTo: site.page(page) })
      : null,
  };
}

/**
 * Creates the field for the password or, without a password, the link to the page where users confirm who they are.
 *
 * @internal
 */
export function proofField(
  form: FormValues,
  proof: ProofValues | null,
  account: string | null,
  words: Words,
): HtmlValue {
  if (proof?.byPassword) return currentPassword(form, account, words.proof.password, words);
  if (!proof?.confirm) return null;
  return html`<p data-part="hint">${words.proof.lead} <a href="${proof.confirm}">${words.proof.first}</a>.</p>`;
}

/**
 * Creates the field for the password of the user, which can be left empty after a recent sign-in.
 *
 * @internal
 */
export function currentPassword(
  form: FormValues,
  account: string | null,
  hint: string,
  words: Words,
): HtmlValue {
  const label = words.fields.currentPassword;
  return html`${usernameOf(account)}${field(
    form,
    { name: 'password', label, type: 'password', autocomplete: 'current-password', required: false, hint },
    words,
  )}`;
}
