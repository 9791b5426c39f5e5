import { html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { passkeyButton } from '../controls.js';
import { Leave, type Page, page, type View } from '../page.js';
import type { Site } from '../site.js';
import type { CommonValues } from '../values.js';

/** The values of the page `sign-in/passkey`. */
export interface PasskeyOfferValues {
  readonly mount: string;
  /** The page that the user returns to, with or without a passkey. */
  readonly next: string;
}

/**
 * The page that offers a passkey after a sign-in with a password, in browsers that can create one.
 *
 * @internal
 */
export function passkeyOffer(site: Site): Page | null {
  const list = site.route('get /passkeys');
  if (!list || !site.route('post /passkeys')) return null;
  return page<PasskeyOfferValues>({
    name: 'sign-in/passkey',
    path: '/sign-in/passkey',
    kind: 'entrance',
    access: 'anyone',
    forms: [],
    async values(visit) {
      const { auth, returnTo } = visit;
      const next = returnTo ?? site.home;
      if (!auth) return new Leave(site.page('sign-in', { returnTo }));
      const { email, emailVerifiedAt } = auth.user;
      const isUnverified = site.core.mails !== null && email !== null && emailVerifiedAt === null;
      if (isUnverified || site.core.tasks.open(auth.user, auth.session).length > 0) return new Leave(next);
      const { passkeys } = await site.read(list, visit);
      if (passkeys.length > 0) return new Leave(next);
      site.cookies.setOffered(visit.res);
      return { mount: site.mount, next };
    },
    view: passkeyOfferView,
  });
}

function passkeyOfferView({ mount, next }: PasskeyOfferValues & CommonValues, words: Words): View {
  const t = words.passkeyOffer;
  return {
    title: t.title,
    scripts: ['passkeys.js'],
    main: html`<p>${t.text}</p><div data-part="stack">${passkeyButton(
      mount,
      {
        kind: 'create',
        options: 'post /passkeys/options',
        send: 'post /passkeys',
        next,
        isPrimary: true,
      },
      t.create,
    )}<a href="${next}" data-part="button secondary">${t.later}</a></div>`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'sign-in/passkey': PasskeyOfferValues;
  }
}
