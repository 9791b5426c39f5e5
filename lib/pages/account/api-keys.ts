import type { ShownScope } from '../../core/contribution.js';
import { invalidField } from '../../errors.js';
import { html } from '../../html.js';
import { say } from '../../phrases.js';
import type { Words } from '../../words/pages/index.js';
import { choice, field, formOf, question, selection } from '../controls.js';
import { type Page, page, type View } from '../page.js';
import { foundIn } from '../routes.js';
import type { Site } from '../site.js';
import { timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';

/** The values of the page `account/api-keys`. */
export interface ApiKeysValues {
  /** The keys, newest first. */
  readonly keys: readonly ApiKeyValues[];
  /** The key that was just created. It is shown once. Null otherwise. */
  readonly made: { readonly name: string; readonly key: string } | null;
  readonly make: FormValues;
  /** The scopes that the app has declared. Null if a key can have any. */
  readonly scopes: readonly ShownScope[] | null;
}

/** An API key in the list. */
export interface ApiKeyValues {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key. */
  readonly start: string;
  /** The scopes that the key is limited to. Empty if it is not limited. */
  readonly scopes: readonly string[];
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. Null if it was never used. */
  readonly lastUsedAt: string | null;
  /** ISO 8601. Null if it does not expire. */
  readonly expiresAt: string | null;
  readonly isExpired: boolean;
  /** The form that revokes it. A revoked key cannot be restored. */
  readonly revoke: FormValues;
}

/** The numbers of days after which a key can expire. */
const DAYS = ['30', '90', '365'];
/** A key that someone forgets should expire, so a key that does not has to be chosen. */
const DEFAULT_DAYS = '90';
const DAY_MS = 24 * 60 * 60 * 1000;
/** The field that says whether a key gets some rights or all. Forms of an app itself do not need it. */
const RIGHTS = 'rights';

/** @internal */
export function keys(site: Site): Page | null {
  const [path, name] = ['/account/api-keys', 'account/api-keys'];
  const list = site.route('get /api-keys');
  if (!list) return null;
  const [make, revoke] = [site.require('post /api-keys'), site.require('delete /api-keys/:id')];
  return page<ApiKeysValues>({
    name,
    path,
    kind: 'account',
    access: 'session',
    inNavigation: true,
    forms: [
      {
        name: 'create',
        route: make,
        ownFields: ['expires_in', RIGHTS, 'scopes'],
        check: checkRights,
        translate: (fields, { core }) => ({ ...expiryOf(fields, core), ...scopesOf(fields) }),
        next: () => site.page(name),
        showOnce(reply) {
          const { api_key, key } = foundIn(make, reply);
          return { name: api_key.name, key };
        },
      },
      { name: 'revoke/:id', route: revoke, next: () => site.page(name, { done: 'api-key-revoked' }) },
    ],
    async values(visit) {
      const { api_keys } = await site.read(list, visit);
      const now = site.core.database.clock.now();
      return {
        keys: api_keys.map(({ created_at, last_used_at, expires_at, ...key }) => ({
          ...key,
          createdAt: created_at,
          lastUsedAt: last_used_at,
          expiresAt: expires_at,
          isExpired: expires_at !== null && Date.parse(expires_at) <= now,
          revoke: site.form(visit, { path }, 'revoke/:id', { id: key.id }),
        })),
        made: (visit.shownOnce as ApiKeysValues['made'] | undefined) ?? null,
        make: site.form(visit, { path }, 'create'),
        scopes: site.core.contributions.find(({ forPages }) => forPages?.scopes)?.forPages?.scopes ?? null,
      };
    },
    view: keysView,
  });
}

/** Turns the chosen number of days into the time for the route, which a program can also send itself. */
function expiryOf(fields: ReadonlyMap<string, string>, core: Site['core']): Readonly<Record<string, string>> {
  const days = fields.get('expires_in') ?? '';
  if (days === '' || fields.get('expires_at')) return {};
  // The route rejects anything other than a time.
  const isKnown = DAYS.includes(days);
  return {
    expires_at: isKnown ? new Date(core.database.clock.now() + Number(days) * DAY_MS).toISOString() : days,
  };
}

/**
 * Requires a choice of rights, because the route creates a key with all of them if none is named.
 *
 * @throws AuthError `validation_failed`
 */
function checkRights(fields: ReadonlyMap<string, string>): void {
  const rights = fields.get(RIGHTS);
  if (rights === 'some' && !fields.get('scopes')?.trim())
    throw invalidField('/scopes', 'required', say('required'));
  if (rights !== undefined && rights !== 'some' && rights !== 'all')
    throw invalidField(`/${RIGHTS}`, 'wrong_type', say('invalid-rights'));
}

/** Leaves out the rights that are still chosen beside "everything". Commas separate what was typed, too. */
function scopesOf(fields: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const scopes = fields.get('scopes');
  const rights = fields.get(RIGHTS);
  if (scopes === undefined || rights === 'all') return {};
  // The name of a declared right can contain a comma, and so does JSON.
  const isTyped = rights === undefined && !scopes.startsWith('[');
  return { scopes: isTyped ? scopes.replaceAll(',', ' ') : scopes };
}

function keysView(values: ApiKeysValues & CommonValues, words: Words): View {
  const { keys, made, make: form, scopes } = values;
  const t = words.keys;
  return {
    title: t.title,
    main: html`${
      made &&
      html`<section data-part="card"><h2 tabindex="-1" autofocus>${t.made(made.name)}</h2><p>${t.madeText}</p><output id="new-key" data-part="secret">${made.key}</output><button type="button" hidden data-part="button secondary" data-copy="new-key" data-copied="${words.copied}">${words.copy}</button></section>`
    }<section data-part="card"><p>${t.lead}</p>${keys.length === 0 && html`<p>${t.none}</p>`}${
      keys.length > 0 &&
      html`<ul data-part="list">${keys.map(
        (key) =>
          html`<li data-part="item"><div><p><strong>${key.name}</strong> <code>${key.start}…</code>${
            key.isExpired && html` <span data-part="tag" data-state="warn">${t.expired}</span>`
          }</p><p data-part="quiet">${[
            [
              t.scopes,
              key.scopes.length === 0
                ? html`<strong>${t.noScopes}</strong>`
                : key.scopes.map((scope) => descriptionOf(scope, scopes, words)).join(words.comma),
            ] as const,
            [t.created, timeOf(key.createdAt, words)] as const,
            [t.used, key.lastUsedAt === null ? t.neverUsed : timeOf(key.lastUsedAt, words)] as const,
            [t.expires, key.expiresAt === null ? t.neverExpires : timeOf(key.expiresAt, words)] as const,
          ].map(
            ([label, value], index) => html`${index > 0 && html`<br>`}${words.labeled(label, value)}`,
          )}</p></div>${question(
            {
              label: t.revoke,
              about: t.about(key.name, key.start),
              text: t.revokeText,
              submit: t.confirmRevoke,
              form: key.revoke,
            },
            words,
          )}</li>`,
      )}</ul>`
    }</section><section data-part="card"><h2>${t.make}</h2>${formOf(form, { submit: t.submit }, words, [
      field(
        form,
        { name: 'name', label: words.fields.name, autocomplete: 'off', hint: t.nameHint, maxLength: 100 },
        words,
      ),
      choice(
        form,
        {
          name: 'expires_in',
          label: t.expires,
          value: DEFAULT_DAYS,
          options: [
            ...DAYS.map((days) => ({ value: days, label: t.inDays(Number(days)) })),
            { value: '', label: t.neverExpires },
          ],
        },
        words,
      ),
      scopes
        ? selection(form, {
            name: 'scopes',
            label: t.scopes,
            radio: { name: RIGHTS, some: t.someRights, all: t.everything },
            warning: t.everythingText,
            options: scopes.map(({ name }) => ({ value: name, label: descriptionOf(name, scopes, words) })),
          })
        : html`<p data-part="warning">${t.allRights}</p>${field(
            form,
            {
              name: 'scopes',
              label: t.scopes,
              autocomplete: 'off',
              required: false,
              hint: t.scopesHint,
              isCode: true,
            },
            words,
          )}`,
    ])}</section>`,
  };
}

/** Returns the app's words for a scope. A key can have a scope that is no longer declared. */
function descriptionOf(scope: string, scopes: readonly ShownScope[] | null, words: Words): string {
  return words.ofApp(scopes?.find(({ name }) => name === scope)?.description ?? scope);
}

declare module '../values.js' {
  interface PageValues {
    'account/api-keys': ApiKeysValues;
  }
}
