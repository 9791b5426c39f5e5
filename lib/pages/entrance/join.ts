import { AuthError } from '../../errors.js';
import { type Html, type HtmlValue, html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { formOf, hidden, supportLink, usernameOf } from '../controls.js';
import { type Page, type PageForm, page, type Sent, type View, type Visit } from '../page.js';
import type { InvitationInCookie } from '../page-cookies.js';
import { type ProviderValues, providerLinks, providersOf } from '../providers.js';
import { foundIn } from '../routes.js';
import type { Site } from '../site.js';
import { roleName, timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import { sendForm } from './emailed-code.js';
import { type NewAccountValues, newAccount, newAccountInputs } from './new-account.js';

/** The values of the page `join`. */
export interface JoinValues {
  /** The invitation. Null if the link is no longer valid, or if the page was opened without one. */
  readonly invitation: InvitationToJoin | null;
  /** The token of the link, for the forms. Null without a valid link. */
  readonly token: string | null;
  /** The organization of a used link, and its page, if the user is a member and this browser has opened the link before. Null otherwise. */
  readonly joined: { readonly organization: string; readonly href: string } | null;
  /** Whether the page was opened without a link. */
  readonly isWithoutLink: boolean;
  /** The form that accepts the invitation. Null unless the user is signed in with the invited email. */
  readonly join: FormValues | null;
  /** The page of the step that the user must complete first. Null if there is none. */
  readonly task: string | null;
  /** The form that signs out and leads back. Null unless the user is signed in with another email. */
  readonly changeUser: FormValues | null;
  /** The form that creates the account of the invited email. Null if there is nothing to create, or no way to do it here. */
  readonly signUp: (FormValues & NewAccountValues) | null;
  /** The form that emails the invited user a code, which creates the account. Null if there is nothing to create, or no way to do it here. */
  readonly sendCode: (FormValues & { readonly returnTo: string }) | null;
  /** The providers that can create the account. Empty if there is nothing to create. */
  readonly providers: readonly ProviderValues[];
  /** The page where the invited user signs in and comes back. Null if the email has no account. */
  readonly signIn: string | null;
  /** The page where the invited user creates an account and comes back, if that is not possible here. Null if there is none. */
  readonly signUpPage: string | null;
  /** The organizations of the user who is signed in. Null without a session. */
  readonly organizations: string | null;
}

/** An invitation that can be accepted. */
export interface InvitationToJoin {
  /** The name of the organization. */
  readonly organization: string;
  /** The role that the user will have. */
  readonly role: string;
  /** The email or username of the member who invites. Null if the app does. */
  readonly invitedBy: string | null;
  /** The invited email. */
  readonly email: string;
  /** Until when it can be accepted. ISO 8601. */
  readonly expiresAt: string;
  /** Whether the email has an account. */
  readonly hasAccount: boolean;
}

const PATH = '/join';

/** @internal */
export function join(site: Site): Page | null {
  const [lookUp, accept] = [site.route('post /invitations/lookup'), site.route('post /invitations/accept')];
  if (!lookUp || !accept) return null;
  const { emailedSignIns } = site.core;
  const makesAccounts = emailedSignIns?.makesAccounts || emailedSignIns?.makesInvitedAccounts;
  const byCode = makesAccounts && site.route('post /signin/email');
  const sendCode: PageForm[] = byCode
    ? [
        {
          name: 'send-code',
          route: byCode,
          emails: 'email',
          keepsReturnTo: true,
          next: ({ returnTo }) => site.page('sign-in/email', { returnTo }),
        },
      ]
    : [];
  const next = ({ reply, returnTo }: Sent) => {
    const { id } = foundIn(accept, reply).organization;
    return returnTo ?? site.page(ORGANIZATION, { done: 'joined', params: { id } });
  };
  return page<JoinValues>({
    name: 'join',
    path: PATH,
    kind: 'entrance',
    access: 'anyone',
    forms: [
      { name: 'accept', route: accept, next },
      {
        name: 'sign-up',
        route: accept,
        errors: { username_taken: 'username' },
        remembers: 'password',
        next,
      },
      ...sendCode,
      {
        name: 'sign-out',
        route: site.require('post /signout'),
        next: () => site.page('join', { done: 'signed-out' }),
      },
    ],
    async values(visit) {
      // A user who has signed in or out on the way comes back without the token in the address.
      const kept = site.cookies.invitation(visit.req);
      const token = visit.token ?? kept?.token ?? null;
      const found = token === null ? null : await find(visit, token);
      const invitation = found?.invitation ?? null;
      const { auth } = visit;
      const shown = {
        invitation,
        token: invitation && token,
        joined: null,
        isWithoutLink: token === null,
        join: null,
        task: null,
        changeUser: null,
        signUp: null,
        sendCode: null,
        providers: [],
        signIn: null,
        signUpPage: null,
        organizations: auth && site.page(ORGANIZATIONS),
      };
      if (token === null || found === null || invitation === null) {
        const joined = kept && kept.token === token ? await joinedOf(visit, kept) : null;
        // The button was pressed twice, so the first press has made the user a member.
        return { ...shown, joined, ...(joined && { error: null }) };
      }
      const { organization } = invitation;
      site.cookies.keepInvitation(visit.res, { token, organization, organizationId: found.organizationId });
      if (!auth) return { ...shown, ...waysIn(visit, invitation) };
      if (auth.user.email !== invitation.email)
        return { ...shown, changeUser: site.form(visit, { path: PATH }, 'sign-out') };
      const task = site.pageOfTasks(auth, site.page('join'));
      return { ...shown, task, join: task === null ? site.form(visit, { path: PATH }, 'accept') : null };
    },
    view: joinView,
  });

  /** Returns the organization of an invitation that this browser has opened, if the user of the session is a member. */
  async function joinedOf(
    visit: Visit,
    { organization, organizationId }: InvitationInCookie,
  ): Promise<JoinValues['joined']> {
    if (!visit.auth || site.pageOfTasks(visit.auth, null) !== null) return null;
    const of = await site.organizations?.roleOf(organizationId, visit.auth.user);
    return of ? { organization, href: site.page(ORGANIZATION, { params: { id: organizationId } }) } : null;
  }

  async function find(
    visit: Visit,
    token: string,
  ): Promise<{ readonly invitation: InvitationToJoin; readonly organizationId: string } | null> {
    try {
      const found = await site.read(lookUp as NonNullable<typeof lookUp>, visit, { token });
      return {
        invitation: {
          organization: found.organization.name,
          role: found.role,
          invitedBy: found.invited_by,
          email: found.email,
          expiresAt: found.expires_at,
          hasAccount: found.account,
        },
        organizationId: found.organization.id,
      };
    } catch (error) {
      if (error instanceof AuthError && error.code === 'invalid_token') return null;
      throw error;
    }
  }

  /** Returns what a user without a session can do, who comes back to this page afterwards. */
  function waysIn(
    visit: Visit,
    { email, hasAccount }: InvitationToJoin,
  ): Pick<JoinValues, 'signUp' | 'sendCode' | 'providers' | 'signIn' | 'signUpPage'> {
    const returnTo = site.page('join');
    const createsAccounts = site.organizations?.createsAccounts() === true;
    const byPassword = createsAccounts && site.core.contributions.some(({ signsUp }) => signsUp);
    const byEmail = createsAccounts && sendCode.length > 0;
    // The page for the sign-in fills it in.
    if (hasAccount || byEmail || site.canSignUp) site.notes.keepEmail(visit.res, email);
    return {
      signUp:
        byPassword && !hasAccount
          ? { ...site.form(visit, { path: PATH }, 'sign-up'), ...newAccount(site), identifier: 'email' }
          : null,
      sendCode:
        byEmail && !hasAccount ? { ...site.form(visit, { path: PATH }, 'send-code'), returnTo } : null,
      providers:
        createsAccounts && !hasAccount
          ? providersOf(site, 'authorize', (provider) =>
              site.page('sign-in', { returnTo, query: { provider } }),
            )
          : [],
      signIn: hasAccount ? site.page('sign-in', { returnTo }) : null,
      signUpPage:
        !hasAccount && !createsAccounts && site.canSignUp ? site.page('sign-up', { returnTo }) : null,
    };
  }
}

function joinView(values: JoinValues & CommonValues, words: Words): View {
  const { invitation, joined, isWithoutLink, organizations, signIn, home, appName } = values;
  const t = words.join;
  if (joined !== null)
    return {
      title: t.already(joined.organization),
      main: linkTo(joined.href, t.open(joined.organization)),
    };
  if (invitation === null)
    return {
      title: isWithoutLink ? t.withoutLink : t.invalid,
      main: html`<p>${isWithoutLink ? t.withoutLinkText : html`${t.invalidText} ${words.wholeLink}`}</p><p>${
        organizations === null
          ? html`<a href="${home}" data-part="button secondary">${words.refusal.back(appName)}</a>`
          : html`<a href="${organizations}" data-part="button secondary">${t.organizations}</a>`
      }</p>`,
    };
  const { organization, role, invitedBy, email, expiresAt } = invitation;
  return {
    title: t.title(organization),
    main: html`<p>${
      invitedBy === null ? t.lead(organization) : t.leadBy(html`<strong>${invitedBy}</strong>`, organization)
    }</p><dl data-part="facts"><dt>${t.email}</dt><dd>${email}</dd><dt>${t.role}</dt><dd>${roleName(role, words)}</dd><dt>${t.expires}</dt><dd>${timeOf(expiresAt, words)}</dd></dl>${stepOf(values, invitation, signIn, words)}<p data-part="quiet">${t.nothing}</p>`,
  };
}

/** Creates what the user does next. */
function stepOf(
  {
    token,
    join,
    task,
    changeUser,
    signUp,
    sendCode,
    providers,
    signUpPage,
    account,
    links,
  }: JoinValues & CommonValues,
  { organization, email }: InvitationToJoin,
  signIn: string | null,
  words: Words,
): HtmlValue {
  const t = words.join;
  const address = html`<strong>${email}</strong>`;
  if (join) return formOf(join, { submit: t.submit(organization) }, words, hidden('token', token));
  if (task !== null) return html`<p>${t.task}</p>${linkTo(task, words.continue)}`;
  if (changeUser)
    return html`<p data-part="warning">${t.otherEmail(address, account)}</p>${formOf(changeUser, { submit: t.signOut }, words)}`;
  const others = html`${
    sendCode &&
    sendForm(
      sendCode,
      {
        email,
        submit: signUp ? t.otherWay : words.signUp.byEmailAlone,
        kind: signUp ? 'secondary' : 'primary',
        returnTo: sendCode.returnTo,
      },
      words,
    )
  }${providerLinks(providers, null, words)}`;
  if (signUp)
    return html`<p>${t.createAccount(address)}</p>${formOf(
      signUp,
      { submit: t.submitSignUp(organization) },
      words,
      html`${hidden('token', token)}${!signUp.username && usernameOf(email)}${newAccountInputs(signUp, words, false)}`,
    )}${others}`;
  if (sendCode || providers.length > 0) return html`<p>${t.signInFirst(address)}</p>${others}`;
  if (signIn !== null) return html`<p>${t.signIn(address)}</p>${linkTo(signIn, words.signIn.title)}`;
  if (signUpPage !== null)
    return html`<p>${t.signUpFirst(address)}</p>${linkTo(signUpPage, words.signUp.title)}`;
  const { support } = links;
  return html`<p data-part="warning">${
    support === undefined ? t.closed(address) : html`${t.closedAsk(address)} ${supportLink(support, words)}`
  }</p>`;
}

function linkTo(href: string, label: string): Html {
  return html`<p><a href="${href}" data-part="button">${label}</a></p>`;
}

/** The page of an organization. */
const ORGANIZATION = 'account/organizations/organization';

/** The page with the organizations of a user. */
const ORGANIZATIONS = 'account/organizations';

declare module '../values.js' {
  interface PageValues {
    join: JoinValues;
  }
}
