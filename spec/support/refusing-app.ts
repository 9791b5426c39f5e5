import { internalsOf } from '../../lib/auth.js';
import { AuthError, type AuthErrorCode } from '../../lib/errors.js';
import { problemsOf } from '../../lib/http/declared-problems.js';
import type { Route } from '../../lib/http/route.js';
import type { LocaleOptions } from '../../lib/index.js';
import type { Page } from '../../lib/pages/page.js';
import { ada } from './app.js';
import { everyPlugin } from './every-plugin.js';
import { fixedProvider } from './fixed-provider.js';
import type { PageBrowser, Shown } from './page-browser.js';
import { type PagesApp, signInOn, startPagesApp } from './pages-app.js';
import { formsIn, pagesIn } from './pages-walk.js';

const GRACE = 'grace@example.com';
const ROOT = 'root@example.com';
const SLUG = 'acme';
const ORGANIZATIONS = 'account/organizations';
const plugins = [
  ...everyPlugin({ sendsEmails: true, password: { unknownBrowser: 'notify' } }),
  fixedProvider(),
] as const;

/** An app with every page, whose routes can be made to refuse what they get. */
export interface RefusingApp {
  readonly app: PagesApp<typeof plugins>;
  /** Makes a route refuse everything with an error, until it is called without one. */
  refuse(refusal: { readonly code: AuthErrorCode; readonly of: string } | null): void;
  /**
   * Sends each form of the pages once for each error that its route declares.
   *
   * @param headers the headers of each browser
   * @param isSent which of them are sent, by number
   */
  eachError(
    look: LookAtError,
    headers?: Record<string, string>,
    isSent?: (number: number) => boolean,
  ): Promise<string[]>;
  /** Opens every page, as everyone and as an administrator. */
  eachPage(look: (shown: Shown) => readonly string[], headers: Record<string, string>): Promise<string[]>;
}

type LookAtError = (
  form: string,
  code: AuthErrorCode,
  shown: Shown,
  field: string | null,
) => readonly string[];

/** Starts an app with an administrator, a user, an organization, an invitation, and pending requests. */
export async function startRefusingApp(locale: LocaleOptions = {}): Promise<RefusingApp> {
  let refusal: { readonly code: AuthErrorCode; readonly of: string } | null = null;
  const nameOf = ({ method, path }: Route) => `${method} ${path}`;
  const app = await startPagesApp(plugins, {
    pages: { home: '/home', links: { support: 'https://help.example' } },
    config: { user: { fields: { fullName: { type: 'string' } } }, locale },
  });
  for (const route of internalsOf(app.auth).routes()) refuseWhenAsked(route);
  const { id: userId } = await app.auth.users.create({ email: GRACE });
  const root = await app.auth.users.create({ ...ada, email: ROOT, emailVerified: true });
  const { organizations } = app.auth;
  const { id: organizationId } = await organizations.create({ name: 'Acme', slug: SLUG, ownerId: root.id });
  await organizations.addMember(organizationId, userId, 'member');
  let invitationId = '';
  const mail = await app.mailOf('invited@example.com', 'organization-invitation', async () => {
    const invitation = { email: 'invited@example.com', role: 'member' };
    invitationId = (await organizations.invite(organizationId, invitation)).id;
  });
  /** The token of an invitation of an address without an account. */
  const token = new URL(mail.url ?? '').searchParams.get('token') ?? '';

  /** Returns the browsers of the administrator, and of someone who has asked for a code for a new password. */
  async function openBrowsers(headers: Record<string, string>) {
    const browser = app.open(headers);
    const { location } = await signInOn(browser, { ...ada, email: ROOT });
    if (location !== '/home') throw new Error(`the sign-in led to ${location}`);
    const asked = app.open(headers);
    await asked.post('/auth/forgot-password/send', { email: GRACE });
    // An authenticator app that waits for its first code, so that the form for the code is shown.
    await browser.post('/auth/account/security/set-up-app', {});
    const devices = await browser.open('/auth/devices', { accept: 'application/json' });
    return { browser, asked, deviceId: JSON.parse(devices.body).devices[0].id as string };
  }

  /** Makes a route accept any input, and throw the refusal. */
  function refuseWhenAsked(route: Route): void {
    const { handle, body } = route;
    Object.assign(route, {
      handle: (call: never) =>
        refusal?.of === nameOf(route)
          ? Promise.reject(new AuthError(refusal.code))
          : handle.call(route, call),
    });
    if (!body) return;
    const check = body.safeParse.bind(body);
    Object.assign(body, {
      safeParse: (...given: Parameters<typeof check>) =>
        refusal?.of === nameOf(route) ? { success: true, data: given[0] } : check(...given),
    });
  }

  /** Returns something that exists for a parameter of a path. */
  function idFor(parameter: string, path: string, deviceId: string): string {
    if (parameter === ':provider') return 'fixed';
    if (parameter === ':invitationId') return invitationId;
    if (parameter === ':id' && path.includes(ORGANIZATIONS)) return organizationId;
    return path.includes('forget-browser') ? deviceId : userId;
  }

  let opened: { readonly key: string; readonly browsers: ReturnType<typeof openBrowsers> } | undefined;
  function browsersWith(headers: Record<string, string>): ReturnType<typeof openBrowsers> {
    const key = JSON.stringify(headers);
    if (opened?.key !== key) opened = { key, browsers: openBrowsers(headers) };
    return opened.browsers;
  }

  return {
    app,
    refuse(given) {
      refusal = given;
    },
    async eachError(look, headers = {}, isSent = () => true) {
      const { browser, asked, deviceId } = await browsersWith(headers);
      const { core } = internalsOf(app.auth);
      const faults: string[] = [];
      let number = 0;
      for (const { page, form, path } of formsIn(pagesIn(app.auth))) {
        const key = `${page.name}/${form.name}`;
        for (const code of Object.values(problemsOf(core, form.route)).flat()) {
          if (!isSent(number++)) continue;
          const isSignedIn = page.access !== 'anyone' || key === 'verify-email/send';
          const visitor = isSignedIn ? browser : key === 'reset-password/set' ? asked : app.open(headers);
          const place = form.errors?.[code];
          const field = [(typeof place === 'string' ? place : place?.field) ?? []].flat()[0] ?? null;
          refusal = { code, of: nameOf(form.route) };
          const sent: Record<string, string> = {
            ...(field !== null && { [field]: 'typed', method: 'totp' }),
            ...(form.confirmation && { confirmation: confirmationOf(page) }),
            ...(form.route.path === '/invitations/accept' && { token }),
            // The page itself requires them.
            ...(form.check && page.name.startsWith(ORGANIZATIONS) && { name: 'Acme', slug: SLUG }),
          };
          const to = `/auth${path.replace(/:\w+/g, (name) => idFor(name, path, deviceId))}`;
          const shown = await visitor.post(to, sent);
          refusal = null;
          faults.push(...look(key, code, shown, field).map((fault) => `${key}, ${code}: ${fault}`));
        }
      }
      return faults;
    },
    async eachPage(look, headers) {
      const { browser, asked, deviceId } = await browsersWith(headers);
      const faults: string[] = [];
      for (const { path } of pagesIn(app.auth)) {
        const at = `/auth${path.replace(/:\w+/g, (name) => idFor(name, path, deviceId))}`;
        const visitors: readonly PageBrowser[] = [app.open(headers), asked.copy(), browser.copy()];
        for (const visitor of visitors) {
          const shown = await visitor.open(at);
          if (shown.status !== 303) faults.push(...look(shown).map((fault) => `${at}: ${fault}`));
        }
      }
      return faults;
    },
  };
}

function confirmationOf({ name, access }: Page): string {
  if (name.startsWith(ORGANIZATIONS)) return SLUG;
  return access === 'admin' ? GRACE : ROOT;
}
