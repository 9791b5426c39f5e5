import { html } from '../../html.js';
import { errorSummary, formOf } from '../controls.js';
import { Leave, type Page, page } from '../page.js';
import type { Site } from '../site.js';
import type { FormValues } from '../values.js';

/** The values of the page `sign-out`. */
export interface SignOutValues {
  readonly form: FormValues;
}

export function signOut(site: Site): Page {
  const path = '/sign-out';
  const route = site.require('post /signout');
  return page<SignOutValues>({
    name: 'sign-out',
    path,
    kind: 'entrance',
    access: 'anyone',
    forms: [{ name: 'confirm', route, next: () => site.page('sign-in', { done: 'signed-out' }) }],
    values(visit) {
      // A user who has signed out already, and sends the form again, is refused with 401.
      if (!visit.auth && (visit.refused?.error.status ?? 401) === 401) return new Leave(site.page('sign-in'));
      return { form: site.form(visit, { path }, 'confirm') };
    },
    view(values, words) {
      const { form, account, home } = values;
      const t = words.signOut;
      return {
        title: t.title,
        main: html`${errorSummary(values, [form], words)}<p>${t.question(account)}</p>${formOf(form, { submit: t.submit })}<p><a href="${home}">${t.stay}</a></p>`,
      };
    },
  });
}

declare module '../values.js' {
  interface PageValues {
    'sign-out': SignOutValues;
  }
}
