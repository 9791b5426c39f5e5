import { once } from '../context/once.js';
import { endingWithObject } from '../known-keys.js';
import { definePlugin, type Plugin } from '../plugin.js';
import { en } from '../words/pages/index.js';
import { Assets } from './assets.js';
import { type PagesOptions, readSettings, withConfig } from './options.js';
import { checkSignUp } from './own-fields.js';
import { pagesOf } from './pages.js';
import { PageServer } from './serve.js';
import { PASSWORD_DROPPED, Site } from './site.js';
import { themeOf } from './theme.js';

/** `auth.pages`: the addresses of the pages. */
export class PagesApi {
  readonly #site: () => Site;

  /** @internal */
  constructor(site: () => Site) {
    this.#site = site;
    endingWithObject('auth.pages', this);
  }

  /**
   * Returns the address of a page, for the app's own links.
   *
   * @example
   * res.redirect(auth.pages.url('sign-in', { returnTo: req.originalUrl }));
   *
   * @param name the name of the page, such as `sign-in`
   * @throws TypeError if there is no such page
   */
  url(name: string, { returnTo }: { readonly returnTo?: string } = {}): string {
    const site = this.#site();
    if (!site.hasPage(name))
      throw new TypeError(`latchkey: there is no page ${name}: the pages are ${site.names.join(', ')}`);
    return site.page(name, { returnTo: site.returnTo(returnTo) });
  }
}

/**
 * Adds the pages that accounts need: sign-up, sign-in, the account with its security and sessions, and administration.
 * The pages show the features of the other plugins.
 *
 * @throws TypeError on invalid options, and from `createAuth` if a field of users has the name of an input of the pages, or if
 *   the pages do not show a field that every new user must fill in
 *
 * @example
 * plugins: [credentialPassword(), pages({ home: '/dashboard' })]
 */
export function pages(options: PagesOptions = {}): Plugin<'pages', PagesApi> {
  const settings = readSettings(options);
  return definePlugin({
    name: 'pages',
    accent: settings.theme.accent,
    setup(core, _plugins, routes) {
      if (core.users.fields.names.includes('returnTo'))
        throw new TypeError(
          'latchkey: user.fields.returnTo is the name of an input in the forms of pages(): rename the field',
        );
      checkSignUp(core, settings.own);
      core.languages.want('pages');
      core.languages.checkWords('pages', en);
      // Create the pages on first use, because a process that only runs chores does not need them.
      const made = once(() => {
        const site = new Site(core, withConfig(settings, core), routes());
        const pages = pagesOf(site);
        site.pages = pages;
        return { site, pages };
      });
      const site = () => made().site;
      const server = once(
        () =>
          new PageServer(
            site(),
            made().pages,
            new Assets(themeOf(settings.theme.accent, settings.theme.dark)),
          ),
      );
      return {
        api: new PagesApi(site),
        handler: () => server().router(),
        async afterSignInOrOut(session, req, res) {
          const { notes } = site();
          if (session?.passwordRemoved)
            notes.leave(res, site().page('account/security'), { done: PASSWORD_DROPPED });
          else notes.forget(req, res);
          return false;
        },
        // https://w3c.github.io/webappsec-change-password-url/
        wellKnown: { 'change-password': () => `${site().page('account/security')}#password` },
        pages: {
          url: (name) => site().page(name),
          answer(error, req, res, from) {
            core.basePath.reportGuesses();
            return server().answerGuard(error, req, res, from);
          },
          leaveError: (code, to, res, email) => server().leaveError(code, to, res, email),
        },
      };
    },
  });
}
