import { html } from '../../html.js';
import { field, formOf, hidden } from '../controls.js';
import { type OwnField, ownFields, ownInputs } from '../own-fields.js';
import { Leave, type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';
import type { Words } from '../words/index.js';

/** The values of the page `sign-in/email`. */
export interface EmailedSignInValues {
  readonly form: FormValues;
  /** The token of the link in the email. Null if the page was opened without one. */
  readonly token: string | null;
  /** The address that the link was sent to. Null without a valid link. */
  readonly of: string | null;
  /** Whether the email was asked for in another browser. */
  readonly isElsewhere: boolean;
  /** The app's own fields, if a new account needs them. Empty otherwise. */
  readonly fields: readonly OwnField[];
  /** The page where users ask for a new code. */
  readonly again: string;
}

/** @internal */
export function emailedSignIn(site: Site): Page | null {
  const path = '/sign-in/email';
  const route = site.route('post /signin/email/confirm');
  if (!route) return null;
  return page<EmailedSignInValues>({
    name: 'sign-in/email',
    path,
    kind: 'entrance',
    access: 'anyone',
    keepsReturnTo: true,
    forms: [
      {
        name: 'confirm',
        route,
        errors: { invalid_code: 'code' },
        remembers: 'email',
        next: ({ returnTo }) => returnTo ?? site.home,
      },
    ],
    async values(visit) {
      const { auth, refused, token, returnTo } = visit;
      // The user has signed in already, and reloads the page.
      if (auth && token === null && !refused && !site.isWaiting(visit))
        return new Leave(returnTo ?? site.home);
      const needsFields = refused?.error.code === 'validation_failed';
      return {
        form: site.form(visit, { path }, 'confirm'),
        token,
        of: (token !== null && (await site.core.emailedSignIns?.emailOfLink(token))) || null,
        // Compare strings, because the type has no such code without the plugin that declares it.
        isElsewhere: String(refused?.error.code) === 'other_browser',
        fields: needsFields ? ownFields(site) : [],
        again: site.page('sign-in', { returnTo }),
      };
    },
    view: emailedSignInView,
  });
}

function emailedSignInView(values: EmailedSignInValues & CommonValues, words: Words): View {
  const { form, token, of, isElsewhere, fields, again, returnTo } = values;
  const t = words.emailedSignIn;
  if (isElsewhere)
    return {
      title: t.linkTitle,
      main: html`<p><a href="${again}">${t.again}</a></p>`,
    };
  const own = fields.length > 0 && html`<p>${t.fields}</p>${ownInputs(form, fields, words)}`;
  return {
    title: token === null ? t.title : t.linkTitle,
    main: html`<p>${token === null ? t.lead : t.linkLead(of)}</p>${formOf(
      form,
      { submit: token === null ? t.submit : t.linkSubmit, returnTo },
      words,
      html`${
        token === null
          ? field(
              form,
              {
                name: 'code',
                label: words.fields.code,
                autocomplete: 'one-time-code',
                inputmode: 'numeric',
                focus: true,
                isCode: true,
              },
              words,
            )
          : hidden('token', token)
      }${own}`,
    )}<p><a href="${again}">${t.again}</a></p>`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'sign-in/email': EmailedSignInValues;
  }
}
