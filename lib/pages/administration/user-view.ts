import type { FieldOptions } from '../../config/user.js';
import { type Html, type HtmlValue, html } from '../../html.js';
import { deviceIn } from '../../mail/messages.js';
import type { Words } from '../../words/pages/index.js';
import {
  type Checkboxes,
  checkboxes,
  confirmationField,
  disclosure,
  field,
  formOf,
  hidden,
  labelOf,
  question,
} from '../controls.js';
import { deviceIcon } from '../icons.js';
import { type OwnField, ownInputs } from '../own-fields.js';
import type { View } from '../page.js';
import { breakable, ownTimeOf, timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import { type AdministeredUser, tagsOf, titleOfUser, type UserState } from './administered.js';

/** The own field of the form that changes a user, which says that the user has a username. No field of the app has a hyphen. */
export const HAS_USERNAME = 'has-username';

/** The values of the page `administration/users/user`. A form is null if it would do nothing. */
export interface UserValues extends UserState {
  readonly user: AdministeredUser;
  /** The time until which a pending deletion can be undone, in ISO 8601. Null if none is pending. */
  readonly restorableUntil: string | null;
  /** The page with all users. */
  readonly list: string;
  /** The user's sign-in methods. Methods that are not enabled are absent. */
  readonly methods: SignInMethods;
  /** Whether a sign-in asks for a second factor. Null if the app has no second factors. */
  readonly secondFactor: boolean | null;
  /** The app's own fields that administrators see. */
  readonly facts: readonly OwnFact[];
  /** Newest first. */
  readonly sessions: readonly AdministeredSession[];
  readonly endSessions: FormValues | null;
  readonly edit:
    | (FormValues & { readonly username: string | null; readonly fields: readonly OwnField[] })
    | null;
  /** The user's roles, without the role that every user has. Null if users have no roles. */
  readonly roles: readonly string[] | null;
  readonly changeRoles: (FormValues & { readonly choices: readonly RoleChoice[] }) | null;
  readonly suspend: FormValues | null;
  readonly reinstate: FormValues | null;
  readonly sendPasswordReset: FormValues | null;
  readonly requireNewPassword: FormValues | null;
  readonly disableSecondFactor: FormValues | null;
  /** The form with which the administrator starts to act as the user. */
  readonly act: FormValues | null;
  /** The form that deletes the user. */
  readonly remove:
    | (FormValues & {
        /** The number of days before the account is permanently deleted. */
        readonly graceDays: number;
        /** What must be typed into the field `confirmation`: the email or username. Null for the word "delete". */
        readonly confirmation: string | null;
      })
    | null;
  /** The last events, newest first. Null without an audit log. */
  readonly events: readonly UserEvent[] | null;
}

/** A role that the user has or can get. */
export interface RoleChoice {
  readonly name: string;
  /** Whether the user has it. */
  readonly isGiven: boolean;
  /** Whether the administrator who opens the page can neither give nor take it. */
  readonly isFixed: boolean;
}

/** The sign-in methods of a user. */
export interface SignInMethods {
  readonly password?: boolean;
  /** Whether the user can sign in with an emailed code. */
  readonly email?: boolean;
  /** Whether the user has an authenticator app. */
  readonly totp?: boolean;
  readonly recoveryCodesLeft?: number;
  /** The number of passkeys. */
  readonly passkeys?: number;
  /** The names of the linked providers. */
  readonly providers?: readonly string[];
}

/** A session of the user. */
export interface AdministeredSession {
  readonly id: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly lastActiveAt: string;
  /** Whether an administrator acts as the user in it. */
  readonly isActing: boolean;
  readonly ipAddress: string | null;
  /** The device in words. Null if it is not known. */
  readonly device: string | null;
  /** The form that ends it. */
  readonly end: FormValues;
}

/** An event of the audit log. */
export interface UserEvent {
  /** The name, such as `sign_in.failed`. */
  readonly kind: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly ipAddress: string | null;
  /** The device in words. Null if it is not known. */
  readonly device: string | null;
}

/** A custom field of the app. */
export interface OwnFact {
  /** The name in JSON, such as `favorite_color`. */
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  readonly type: FieldOptions['type'];
  /** The words for the values of a list, by the values. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value in JSON. */
  readonly value: unknown;
}

/** @internal */
export function userView(values: UserValues & CommonValues, words: Words): View {
  const { user, edit, list } = values;
  return {
    title: titleOfUser(user),
    heading: breakable(titleOfUser(user)),
    tags: tagsOf(values, words),
    up: { href: list, name: words.users.title },
    main: html`<section data-part="card">
<h2>${words.user.account}</h2>
${factsOf(values, words)}
${edit && editForm(edit, words)}
</section>
${actionsOf(values, words)}
${sessionsOf(values, words)}
${eventsOf(values, words)}`,
  };
}

type Fact = readonly [name: string, value: HtmlValue];

/** Creates the facts: of the account, those of the app, and how the user signs in. */
function factsOf(
  { user, methods, secondFactor, facts, roles, ...state }: UserValues,
  words: Words,
): HtmlValue {
  const t = words.user;
  const { email, emailVerifiedAt: verified, username } = user;
  const { passkeys, providers } = methods;
  const yesOrNo = (is: boolean | undefined) => is !== undefined && (is ? words.yes : words.no);
  const onOrOff = (is: boolean | null | undefined) =>
    typeof is === 'boolean' &&
    html`<span data-part="tag"${is && html` data-state="good"`}>${is ? t.on : t.off}</span>`;
  const own = facts.map(
    ({ label, type, labels, value }): Fact => [label, valueInWords({ type, labels }, value, words)],
  );
  return html`${listOf([
    [words.fields.email, email === null ? t.none : breakable(email)],
    [t.verified, email !== null && (verified === null ? words.no : timeOf(verified, words))],
    [words.fields.username, username !== undefined && (username ?? t.none)],
    [t.created, timeOf(user.createdAt, words)],
    [t.state, stateInWords(user, state, words)],
    [t.reason, state.isSuspended && user.suspensionReason],
    [t.roles, roles && (roles.join(words.comma) || t.none)],
  ])}${own.length > 0 && html`<h3>${t.profile}</h3>${listOf(own)}`}<h3>${t.signIn}</h3>${listOf([
    [words.fields.password, yesOrNo(methods.password)],
    [t.emailedCode, yesOrNo(methods.email)],
    [t.secondFactor, onOrOff(secondFactor)],
    [t.totp, yesOrNo(methods.totp)],
    [t.recoveryCodes, methods.totp !== undefined && secondFactor && (methods.recoveryCodesLeft || t.none)],
    [t.passkeys, passkeys !== undefined && (passkeys || t.none)],
    [t.providers, providers && (providers.join(words.comma) || t.none)],
  ])}`;
}

function listOf(facts: readonly Fact[]): Html {
  return html`<dl data-part="facts">${facts.map(
    ([name, value]) =>
      value !== false && value !== undefined && value !== null && html`<dt>${name}</dt><dd>${value}</dd>\n`,
  )}</dl>`;
}

function stateInWords(
  user: AdministeredUser,
  { isClosed, isSuspended, isOwn, restorableUntil }: UserState & Pick<UserValues, 'restorableUntil'>,
  words: Words,
): HtmlValue {
  const t = words.user;
  const { deletedAt: deleted, suspendedAt: suspended, suspendedUntil: until } = user;
  const texts = [
    isClosed && deleted && t.closedSince(timeOf(deleted, words)),
    restorableUntil && t.restorableUntil(timeOf(restorableUntil, words)),
    isSuspended &&
      suspended &&
      t.suspendedSince(timeOf(suspended, words), until ? timeOf(until, words) : null),
    !isClosed && !isSuspended && t.active,
    isOwn && t.own,
  ];
  return texts.map((text) => text && html`${text}<br>`);
}

function valueInWords(
  { type, labels }: Pick<OwnFact, 'type' | 'labels'>,
  value: unknown,
  words: Words,
): HtmlValue {
  if (value === null || value === '') return words.user.none;
  if (type === 'boolean') return value ? words.yes : words.no;
  // The form of the app's own fields has their dates in UTC.
  if (type === 'date' || type === 'plainDate') return ownTimeOf(type, String(value), words);
  return type === 'json' ? JSON.stringify(value) : words.ofApp(labels[String(value)] ?? String(value));
}

function editForm(edit: NonNullable<UserValues['edit']>, words: Words): Html {
  return disclosure(
    { label: words.user.edit, forms: [edit] },
    formOf(
      edit,
      { submit: words.user.save },
      words,
      html`${
        edit.username !== null &&
        field(
          edit,
          {
            name: 'username',
            label: words.fields.username,
            autocomplete: 'off',
            value: edit.username,
            // A username can be left out, but not removed.
            required: edit.username !== '',
            isCode: true,
          },
          words,
        )
      }${edit.username && hidden(HAS_USERNAME, 'true')}${ownInputs(edit, edit.fields, words)}`,
    ),
    words,
  );
}

function actionsOf(values: UserValues, words: Words): HtmlValue {
  const { suspend, reinstate, sendPasswordReset, requireNewPassword, disableSecondFactor, act, remove } =
    values;
  const { changeRoles } = values;
  const t = words.user;
  const hasPassword = values.methods.password !== false;
  const press = (form: FormValues | null, title: string, text: string, submit: string) =>
    form && rowOf(title, text, formOf(form, { submit, kind: 'secondary' }, words));
  const ask = (
    form: FormValues | null,
    title: string,
    text: string,
    [label, about, submit]: readonly [label: string, about: string, submit: string],
    inputs: HtmlValue = null,
    kind: 'secondary' | 'danger' = 'danger',
  ) => form && rowOf(title, text, question({ label, about, submit, form, inputs, kind }, words));
  const rows = [
    press(reinstate, t.suspension, t.reinstateText, t.reinstate),
    hasPassword
      ? press(sendPasswordReset, t.passwordLink, t.sendPasswordResetText, t.sendPasswordReset)
      : press(sendPasswordReset, words.fields.password, t.sendFirstPasswordText, t.sendFirstPassword),
    ask(
      changeRoles,
      t.roles,
      t.rolesText,
      [t.changeRoles, t.ofRoles, t.saveRoles],
      changeRoles && checkboxes(changeRoles, roleBoxes(changeRoles.choices, words)),
    ),
    ask(
      requireNewPassword,
      t.newPassword,
      t.requireNewPasswordText,
      [t.requireNewPassword, t.ofNewPassword, t.confirmRequireNewPassword],
      null,
      'secondary',
    ),
    ask(disableSecondFactor, t.secondFactor, t.disableSecondFactorText, [
      t.disableSecondFactor,
      t.ofSecondFactor,
      t.confirmDisableSecondFactor,
    ]),
    ask(
      act,
      t.acting,
      t.actText,
      [t.act, t.ofActing, t.confirmAct],
      act &&
        field(
          act,
          { name: 'reason', label: t.reason, hint: t.reasonHint, autocomplete: 'off', maxLength: 255 },
          words,
        ),
    ),
    ask(
      suspend,
      t.suspension,
      t.suspendText,
      [t.suspend, t.ofSuspension, t.confirmSuspend],
      suspend && suspensionInputs(suspend, words),
    ),
    ask(
      remove,
      t.deletion,
      remove && remove.graceDays > 0 ? t.closeText(remove.graceDays) : t.deleteText,
      [t.delete, t.ofDeletion, t.confirmDelete],
      remove && confirmationField(remove, remove.confirmation, words),
    ),
  ].filter((row) => row !== null);
  return (
    rows.length > 0 &&
    html`<section data-part="card">
<h2>${t.actions}</h2>
<ul data-part="list">${rows}</ul>
</section>`
  );
}

/** Creates a row of the list of actions. */
function rowOf(title: string, text: string, action: Html): Html {
  return html`<li data-part="item"><div><p><strong>${title}</strong></p><p data-part="quiet">${text}</p></div>${action}</li>`;
}

function roleBoxes(choices: readonly RoleChoice[], { user: t }: Words): Checkboxes {
  return {
    name: 'roles',
    label: t.roles,
    hint: choices.some(({ isFixed }) => isFixed) ? t.fixedRoles : null,
    options: choices.map(({ name, isGiven, isFixed }) => ({
      value: name,
      label: name,
      isOn: isGiven,
      isFixed,
    })),
  };
}

function suspensionInputs(form: FormValues, words: Words): HtmlValue {
  const t = words.user;
  return [
    field(
      form,
      {
        name: 'reason',
        label: t.reason,
        hint: t.reasonHint,
        autocomplete: 'off',
        required: false,
        maxLength: 255,
      },
      words,
    ),
    field(
      form,
      {
        name: 'until',
        label: words.inUtc(t.until),
        hint: t.untilHint,
        type: 'datetime-local',
        autocomplete: 'off',
        required: false,
      },
      words,
    ),
  ];
}

function sessionsOf({ sessions, endSessions }: UserValues, words: Words): Html {
  const t = words.user;
  return html`<section data-part="card">
<h2>${t.sessions}</h2>
${sessions.length === 0 && html`<p>${t.noSessions}</p>`}
${
  sessions.length > 0 &&
  html`<ul data-part="list">${sessions.map((session) => {
    const { device, ipAddress: address, createdAt: created, lastActiveAt: active, isActing, end } = session;
    const name = isActing ? t.actingSession : device === null ? t.unknownDevice : deviceIn(words, device);
    return html`<li data-part="item">${deviceIcon(device)}<div>
<p>${name}</p>
<p data-part="quiet">${address !== null && html`${address} · `}${t.signedIn(timeOf(created, words))} · ${t.lastActive(timeOf(active, words, 'ago'))}</p>
</div>${formOf(end, { submit: t.endSession, kind: 'secondary', about: html`${name}${words.comma}${t.signedIn(timeOf(created, words))}` }, words)}</li>`;
  })}</ul>`
}
${
  endSessions &&
  question(
    { label: t.endSessions, text: t.endSessionsText, submit: t.confirmEndSessions, form: endSessions },
    words,
  )
}
</section>`;
}

function eventsOf({ events }: UserValues, words: Words): HtmlValue {
  const t = words.user;
  if (!events) return null;
  return html`<section data-part="card">
<h2>${t.events}</h2>
${events.length === 0 && html`<p>${t.noEvents}</p>`}
${
  events.length > 0 &&
  html`<ul data-part="list">${actsIn(events).map(
    ({ kind, createdAt: at, ipAddress: address, device }) => html`<li data-part="item"><div>
<p>${t.eventNames[kind] ?? labelOf(kind.replace(/\./g, ' '))}</p>
<p data-part="quiet">${timeOf(at, words)}${[address, device && deviceIn(words, device)].map((text) => text !== null && html` · ${text}`)}</p>
</div></li>`,
  )}</ul>`
}
</section>`;
}

/** The events that an act of an administrator causes in addition to its own. */
const CAUSED_BY_ACTS: ReadonlyMap<string, string> = new Map([
  ['admin.user_created', 'user.created'],
  ['admin.user_updated', 'user.updated'],
  ['admin.user_deleted', 'user.deletion_requested'],
  ['admin.session_revoked', 'session.revoked'],
  ['admin.sessions_revoked', 'session.revoked'],
]);

/** The longest time between the events of one act. */
const ONE_ACT_MS = 2000;

/** Leaves out events that say the same as the event of an administrator's act at that time. */
function actsIn(events: readonly UserEvent[]): readonly UserEvent[] {
  const isOfAct = ({ kind, createdAt }: UserEvent) =>
    events.some(
      (act) =>
        CAUSED_BY_ACTS.get(act.kind) === kind &&
        Math.abs(Date.parse(act.createdAt) - Date.parse(createdAt)) < ONE_ACT_MS,
    );
  return events.filter((event) => !isOfAct(event));
}

declare module '../values.js' {
  interface PageValues {
    'administration/users/user': UserValues;
  }
}
