import { invalidField } from '../../errors.js';
import { html } from '../../html.js';
import { say } from '../../phrases.js';
import type { Words } from '../../words/pages/index.js';
import { disclosure, field, formOf } from '../controls.js';
import { type Page, page, type View } from '../page.js';
import { foundIn } from '../routes.js';
import type { Site } from '../site.js';
import { roleName } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';

/** The values of the page `account/organizations`. */
export interface OrganizationsValues {
  /** The organizations of the user, newest first. */
  readonly organizations: readonly ListedOrganization[];
  /** The page with the next organizations. Null on the last page. */
  readonly next: string | null;
  /** The form that creates an organization. Null if the user cannot. */
  readonly create: FormValues | null;
}

/** An organization of the user in the list. */
export interface ListedOrganization {
  readonly id: string;
  readonly name: string;
  /** The name in addresses. */
  readonly slug: string;
  /** The role of the user. */
  readonly role: string;
  /** The page of the organization. */
  readonly href: string;
}

const NAME = 'account/organizations';
const ORGANIZATION = 'account/organizations/organization';

/** @internal */
export function organizations(site: Site): Page | null {
  const path = '/account/organizations';
  const [list, create] = [site.route('get /organizations'), site.route('post /organizations')];
  if (!list || !create) return null;
  return page<OrganizationsValues>({
    name: NAME,
    path,
    kind: 'account',
    access: 'session',
    inNavigation: true,
    forms: [
      {
        name: 'create',
        route: create,
        check: requireName,
        translate: withSlug,
        errors: { slug_taken: 'slug' },
        next: ({ reply }) => {
          const { id } = foundIn(create, reply).organization;
          return site.page(ORGANIZATION, { done: 'organization-created', params: { id } });
        },
      },
    ],
    async values(visit) {
      const { auth, query } = visit;
      const cursor = query.get('cursor');
      const found = await site.read(list, visit, cursor === null ? {} : { cursor });
      const canCreate = auth !== null && site.organizations?.canCreate(auth.user) === true;
      return {
        organizations: found.organizations.map(({ id, name, slug, role }) => ({
          id,
          name,
          slug,
          role,
          href: site.page(ORGANIZATION, { params: { id } }),
        })),
        next: found.next_cursor === null ? null : site.page(NAME, { query: { cursor: found.next_cursor } }),
        create: canCreate ? withProposal(site.form(visit, { path }, 'create')) : null,
      };
    },
    view: organizationsView,
  });
}

function organizationsView(values: OrganizationsValues & CommonValues, words: Words): View {
  const { organizations: listed, next, create } = values;
  const { slug: typedSlug = '' } = create?.typed ?? {};
  const t = words.organizations;
  return {
    title: t.title,
    main: html`<section data-part="card"><p>${t.lead}</p>${listed.length === 0 && html`<p>${t.none}</p>`}${
      listed.length > 0 &&
      html`<ul data-part="list">${listed.map(
        ({ name, slug, role, href }) =>
          html`<li data-part="item"><div><p><strong><a href="${href}">${name}</a></strong> <span data-part="tag">${roleName(role, words)}</span></p><p data-part="quiet">${slug}</p></div></li>`,
      )}</ul>`
    }${next !== null && html`<p><a href="${next}">${t.next}</a></p>`}</section>${
      create &&
      html`<section data-part="card"><h2>${t.create}</h2>${formOf(create, { submit: t.submitCreate }, words, [
        field(
          create,
          { name: 'name', label: words.fields.name, autocomplete: 'organization', maxLength: MAX_NAME },
          words,
        ),
        disclosure(
          {
            label: t.ownSlug,
            kind: 'alternative',
            forms: [],
            isOpen: 'slug' in create.errors || typedSlug !== '',
          },
          field(
            create,
            {
              name: 'slug',
              label: t.slug,
              autocomplete: 'off',
              required: false,
              hint: t.newSlugHint,
              maxLength: MAX_SLUG,
              isCode: true,
            },
            words,
          ),
          words,
        ),
      ])}</section>`
    }`,
  };
}

/** The maximum numbers of characters of a name and a slug. The route decides. */
export const MAX_NAME = 100;
export const MAX_SLUG = 63;

/** Requires a name, because the slug is made from it. @throws AuthError `validation_failed` */
function requireName(fields: ReadonlyMap<string, string>): void {
  if (!fields.get('name')?.trim()) throw invalidField('/name', 'required', say('required'));
}

/** Returns the slug of the form, made from the name if none was typed. */
function withSlug(fields: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const typed = fields.get('slug')?.trim() ?? '';
  return { slug: typed === '' ? slugOf(fields.get('name') ?? '') : typed };
}

/** Shows the slug that was made from the name, if the route has rejected it. */
function withProposal(form: FormValues): FormValues {
  const { typed, errors } = form;
  if (!('slug' in errors) || typed.slug) return form;
  return { ...form, typed: { ...typed, slug: slugOf(typed.name ?? '') } };
}

/** Proposes a slug for a name. It is empty if the name has no letters or digits that a slug can have. */
function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-|-$/g, '');
}

declare module '../values.js' {
  interface PageValues {
    'account/organizations': OrganizationsValues;
  }
}
