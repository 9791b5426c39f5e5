import { html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { formOf } from '../controls.js';
import { Leave, type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues, FormValues } from '../values.js';

/** The page of a user, for administrators. */
const USER = 'administration/users/user';

/** The values of the page `sign-out`. */
export interface SignOutValues {
  readonly form: FormValues;
}

/** @internal */
export function signOut(site: Site): Page {
  const path = '/sign-out';
  const route = site.require('post /signout');
  return page<SignOutValues>({
    name: 'sign-out',
    path,
    kind: 'entrance',
    access: 'anyone',
    openToActing: true,
    forms: [
      {
        name: 'confirm',
        route,
        next: ({ returnTo }) => site.page('sign-in', { done: 'signed-out', returnTo }),
      },
    ],
    values(visit) {
      const { auth, refused, returnTo } = visit;
      if (!auth && !refused) return new Leave(site.page('sign-in'));
      // The administrator goes on where the acting began.
      if (auth?.actor && returnTo === null && site.hasPage(USER))
        return new Leave(
          site.page('sign-out', { returnTo: site.page(USER, { params: { id: auth.user.id } }) }),
        );
      return { form: site.form(visit, { path }, 'confirm') };
    },
    view: signOutView,
  });
}

function signOutView(values: SignOutValues & CommonValues, words: Words): View {
  const { form, account, home, returnTo } = values;
  const t = words.signOut;
  return {
    title: t.title,
    main: html`<p>${t.question(account)}</p>${formOf(form, { submit: t.submit, returnTo }, words)}<p><a href="${home}">${t.stay}</a></p>`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'sign-out': SignOutValues;
  }
}
