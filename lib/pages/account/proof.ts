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
  /** The page that makes the session fresh, and leads back. */
  readonly confirm: string;
}

/**
 * Returns the proof that the sensitive forms of a page ask for. Null if the session is fresh, so that they ask for
 * none.
 *
 * @internal
 */
export async function proofOf(visit: Visit, page: string): Promise<ProofValues | null> {
  const { site, auth } = visit;
  const confirm = confirmFirst(visit, site.page(page));
  if (!auth || confirm === null) return null;
  const { password = false } = await site.read(site.require('get /sign-in-methods'), visit);
  // The password does not replace a second factor.
  return { byPassword: password && !site.core.secondFactors.isOn(auth.user), confirm };
}

/**
 * Returns the page that makes the session of a visit fresh. Null if it is fresh.
 *
 * @param to the page that it leads back to
 * @internal
 */
export function confirmFirst({ site, auth }: Visit, to: string): string | null {
  if (!auth) return null;
  const { core } = site;
  const hasFactor = core.secondFactors.isOn(auth.user);
  if (isFresh(core.database, auth.session) && (!hasFactor || auth.session.aal > 1)) return null;
  return site.page('reauthenticate', { returnTo: to });
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
  if (proof?.byPassword)
    return html`${usernameOf(account)}${field(
      form,
      {
        name: 'password',
        label: words.fields.currentPassword,
        type: 'password',
        autocomplete: 'current-password',
        required: false,
        hint: words.proof.password,
      },
      words,
    )}`;
  if (!proof) return null;
  return html`<p data-part="hint">${words.proof.lead} <a href="${proof.confirm}">${words.proof.first}</a>.</p>`;
}
