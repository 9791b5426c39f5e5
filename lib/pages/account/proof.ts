import { type Html, type HtmlValue, html } from '../../html.js';
import { isFresh } from '../../sessions/signed-in.js';
import { type FormContent, field, formOf, usernameOf } from '../controls.js';
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
 * Creates a form that asks for a proof: with a field for the password or, where no password is enough, as a link to the
 * page where users confirm who they are. A press that is certain to be rejected is not offered.
 *
 * @internal
 */
export function provenForm(
  form: FormValues,
  content: FormContent,
  { proof, account }: { readonly proof: ProofValues | null; readonly account: string | null },
  words: Words,
  inputs: HtmlValue = null,
): Html {
  const link = confirmLink(form, proof, words);
  if (link) return link;
  return formOf(form, content, words, [
    inputs,
    proof?.byPassword &&
      html`${usernameOf(account)}${field(
        form,
        {
          name: 'password',
          label: words.fields.currentPassword,
          type: 'password',
          autocomplete: 'current-password',
          required: false,
          hideOptional: true,
          hint: words.proof.password(html`<a href="${proof.confirm}">${words.proof.another}</a>`),
        },
        words,
      )}`,
  ]);
}

/**
 * Creates the link to the page where users confirm who they are, in place of a form that needs it. Null if a password is
 * enough, and for a form that was rejected, because it has the error and what was typed.
 *
 * @internal
 */
export function confirmLink(form: FormValues, proof: ProofValues | null, words: Words): Html | null {
  if (!proof || proof.byPassword || form.isRefused) return null;
  return html`<p>${words.proof.lead}</p><p><a href="${proof.confirm}" data-part="button secondary">${words.proof.first}</a></p>`;
}
