import { emailInWaiting } from '../../accounts/email.js';
import { invalidField } from '../../errors.js';
import { type HtmlValue, html } from '../../html.js';
import { say } from '../../phrases.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail } from '../../users/canonical.js';
import type { Words } from '../../words/pages/index.js';
import { closed, confirmationField, field, formOf, hidden, question } from '../controls.js';
import { type OwnField, ownFields, ownInputs } from '../own-fields.js';
import { type Page, type PageForm, page, type View, type Visit } from '../page.js';
import { ACCOUNT_CREATED, RESTORABLE, type Site } from '../site.js';
import { breakable } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';

/** The values of the page `account`. */
export interface AccountValues {
  /** The form of the app's own fields. Null if there are none that the user can change. */
  readonly profile: (FormValues & { readonly fields: readonly OwnField[] }) | null;
  /** The form of the username. Null if usernames are not enabled. */
  readonly username:
    | (FormValues & {
        readonly present: string | null;
        /** Whether latchkey's rules for usernames apply, which the page says. Otherwise, the app has its own. */
        readonly hasRules: boolean;
      })
    | null;
  readonly email: {
    /** The current email. Null if the account has none. */
    readonly present: string | null;
    readonly isVerified: boolean;
    /** The form that emails a link to a new address. Null if the email cannot be changed. */
    readonly change: FormValues | null;
    /** The new address that a link was emailed to, if the link still works. Null if there is none. */
    readonly sentTo: string | null;
    /** The form that cancels the change to that address. Null if there is none. */
    readonly cancel: FormValues | null;
    /** The form that emails a link or a code to the current address. Null if there is nothing to verify. */
    readonly verify: FormValues | null;
    /** Whether that form emails a code instead of a link. */
    readonly isByCode: boolean;
  };
  /** The form that downloads the user's data. Null if users cannot download it. */
  readonly download: FormValues | null;
  /** The form that deletes the account. Null if users cannot delete their account. */
  readonly deletion:
    | (FormValues & {
        /** The number of days before the account is permanently deleted. 0 if it is deleted immediately. */
        readonly graceDays: number;
        /** Whether an email can restore it until then. Otherwise, only the people who run the app can. */
        readonly canRestore: boolean;
        /** What the user must type into the field `confirmation`: the email or username. Null for the word "delete". */
        readonly confirmation: string | null;
        /** The organizations that need another owner first, if they have prevented the deletion. */
        readonly owned: readonly { readonly name: string; readonly href: string }[];
      })
    | null;
}

/** @internal */
export function account(site: Site): Page {
  const path = '/account';
  const [update, change] = [site.route('patch /me'), site.route('post /email-changes')];
  const cancel = site.route('delete /email-changes');
  const [verify, remove] = [site.route('post /email-verifications'), site.route('delete /me')];
  const download = site.route('post /me/export');
  const { core } = site;
  const back = (done: string) => () => site.page('account', { done });
  const forms: PageForm[] = [];
  if (update) {
    forms.push({
      name: 'profile',
      route: update,
      next: ({ returnTo }) => site.page('account', { done: 'details-saved', returnTo }),
    });
    if (core.usernames)
      forms.push({
        name: 'username',
        route: update,
        errors: { username_taken: 'username' },
        next: ({ returnTo }) => site.page('account', { done: 'username-saved', returnTo }),
      });
  }
  if (change)
    forms.push({
      name: 'email',
      route: change,
      emails: 'new_email',
      check: requireOther,
      next: back('email-change-sent'),
    });
  if (cancel) forms.push({ name: 'cancel-email', route: cancel, next: back('email-change-canceled') });
  if (verify)
    forms.push({ name: 'verify-email', route: verify, next: () => site.afterVerification('account') });
  if (download) forms.push({ name: 'download', route: download, next: () => site.page('account') });
  if (remove)
    forms.push({
      name: 'delete',
      route: remove,
      confirmation: ({ auth }) => auth && site.nameOf(auth.user),
      // A user who has an email has typed it.
      next: ({ fields }) =>
        site.page('sign-in', {
          done:
            core.settings.accountDeletion.graceDays > 0 &&
            core.notices.isOn &&
            fields.get('confirmation')?.includes('@')
              ? RESTORABLE
              : 'account-deleted',
        }),
    });
  return page<AccountValues>({
    name: 'account',
    path,
    kind: 'account',
    access: 'session',
    // A user who does not want to complete a task can still delete the account.
    openTo: 'any-task',
    inNavigation: true,
    forms,
    async values(visit) {
      const { user } = await site.read(site.require('get /me'), visit);
      const { auth } = visit;
      const hasTasks = auth !== null && core.tasks.open(auth.user, auth.session).length > 0;
      const has = (name: string) => forms.some((one) => one.name === name);
      const form = (name: string) => site.form(visit, { path }, name);
      const fields = ownFields(site, user);
      const canChange = has('email') && !hasTasks;
      const sentTo = canChange && auth ? await emailInWaiting(core, auth.user.id) : null;
      const { email, email_verified_at, username_display = null } = user;
      return {
        profile: has('profile') && fields.length > 0 && !hasTasks ? { ...form('profile'), fields } : null,
        username:
          has('username') && !hasTasks
            ? {
                ...form('username'),
                present: username_display,
                hasRules: core.usernames?.areDefault ?? false,
              }
            : null,
        email: {
          present: email,
          isVerified: email_verified_at !== null,
          sentTo,
          cancel: sentTo !== null && has('cancel-email') ? form('cancel-email') : null,
          change: canChange ? form('email') : null,
          isByCode: site.verifiesByCode,
          verify:
            has('verify-email') && email !== null && email_verified_at === null ? form('verify-email') : null,
        },
        download: has('download') && !hasTasks ? form('download') : null,
        deletion: has('delete')
          ? {
              ...form('delete'),
              graceDays: core.settings.accountDeletion.graceDays,
              canRestore: core.notices.isOn && email !== null,
              confirmation: auth && site.nameOf(auth.user),
              owned: await ownedAlone(site, visit),
            }
          : null,
      };
    },
    view: accountView,
  });
}

function accountView(values: AccountValues & CommonValues, words: Words): View {
  const { profile, username, email, download, deletion, returnTo, done } = values;
  const t = words.account;
  // A code is entered on a page of its own.
  const isSent = values.done === 'sent' && !email.isByCode;
  return {
    title: t.title,
    main: html`${
      // The message about a new account has the link too.
      returnTo !== null &&
      done !== ACCOUNT_CREATED &&
      html`<p><a href="${returnTo}" data-part="button secondary">${words.continue}</a></p>`
    }${
      profile &&
      card(
        t.profile,
        formOf(profile, { submit: t.save, returnTo }, words, ownInputs(profile, profile.fields, words)),
      )
    }${
      username &&
      card(
        t.username,
        formOf(
          username,
          { submit: t.saveUsername, kind: profile ? 'secondary' : 'primary', returnTo },
          words,
          [
            field(
              username,
              {
                name: 'username',
                label: words.fields.username,
                autocomplete: 'username',
                value: username.present,
                hint: username.hasRules ? words.usernameHint : null,
                isCode: true,
              },
              words,
            ),
          ],
        ),
      )
    }${
      (email.present !== null || email.change) &&
      card(
        t.email,
        html`<p>${email.present === null ? t.noEmail : breakable(email.present)}${
          email.present !== null &&
          html` <span data-part="tag" data-state="${email.isVerified ? 'good' : 'warn'}">${email.isVerified ? t.verified : t.unverified}</span>`
        }</p>${email.sentTo !== null && html`<p>${t.pending(html`<strong>${email.sentTo}</strong>`)}</p>${email.change && formOf(untouched(email.change), { submit: t.emailAgain, kind: 'link' }, words, hidden('new_email', email.sentTo))}${email.cancel && formOf(email.cancel, { submit: t.cancelEmail, kind: 'link' }, words)}`}${email.verify && isSent && html`<p>${words.verifyEmail.waitingHere(html`<strong>${email.present}</strong>`)}</p>`}${email.verify && formOf(email.verify, { submit: isSent ? words.verifyEmail.send : t.verify(email.isByCode), kind: 'secondary' }, words)}${
          email.change &&
          formOf(
            email.change,
            { submit: email.present === null ? t.firstEmail : t.changeEmail, kind: 'secondary' },
            words,
            [
              field(
                email.change,
                {
                  name: 'new_email',
                  label: email.present === null ? words.fields.email : words.fields.newEmail,
                  type: 'email',
                  autocomplete: 'email',
                  // The message about the email that was just sent says the same.
                  hint:
                    email.sentTo !== null ? null : email.present === null ? t.firstEmailHint : t.newEmailHint,
                },
                words,
              ),
            ],
          )
        }`,
      )
    }${
      download &&
      card(
        t.data,
        html`<p>${t.dataText}</p>${formOf(download, { submit: t.download, kind: 'secondary', downloads: true }, words)}`,
      )
    }${
      deletion &&
      html`<section data-part="card">${closed(
        html`<h2>${t.delete}</h2>`,
        question(
          {
            label: t.opensDeletion,
            about: t.ofDeletion,
            below: t.delete,
            text: html`${
              deletion.graceDays === 0 ? t.deleteNow : t.deleteLater(deletion.graceDays)
            }${deletion.graceDays > 0 && ` ${deletion.canRestore ? t.restore : t.restoreByApp}`}`,
            submit: t.confirmDelete,
            form: deletion,
            inputs: html`${
              deletion.owned.length > 0 &&
              html`<ul>${deletion.owned.map(({ name, href }) => html`<li><a href="${href}">${name}</a></li>`)}</ul>`
            }${confirmationField(deletion, deletion.confirmation, words)}`,
          },
          words,
        ),
      )}</section>`
    }`,
  };
}

/** Rejects the email that the account has, because a link to it would change nothing. @throws AuthError `validation_failed` */
function requireOther(fields: ReadonlyMap<string, string>, user: User | null): void {
  const email = canonicalEmail(fields.get('new_email'));
  if (email !== null && email === user?.email)
    throw invalidField('/new_email', 'same_email', say('same-email'));
}

/** Returns the organizations that have just prevented the deletion of their owner's account. */
async function ownedAlone(
  site: Site,
  { auth, refused }: Visit,
): Promise<readonly { name: string; href: string }[]> {
  // The code belongs to a plugin, which the build might not have.
  const code: string | undefined = refused?.error.code;
  if (!auth || code !== 'last_owner') return [];
  const found = (await site.organizations?.ownedAlone(auth.user)) ?? [];
  return found.map(({ id, name }) => ({
    name,
    href: site.page('account/organizations/organization', { params: { id } }),
  }));
}

function card(title: string, content: HtmlValue) {
  return html`<section data-part="card"><h2>${title}</h2>${content}</section>`;
}

/** The form that emails the waiting link again, without what was typed into the other one that is sent to the same path. */
function untouched({ resumed: _, ...form }: FormValues): FormValues {
  return { ...form, typed: {}, errors: {}, refusal: null, key: 'again' };
}

declare module '../values.js' {
  interface PageValues {
    account: AccountValues;
  }
}
