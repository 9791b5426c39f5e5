import { type Html, html } from '../../../html.js';
import type { Words } from '../../../words/pages/index.js';
import { type Page, page, type View, type Visit } from '../../page.js';
import { allOf, PASSWORD_DROPPED, type Site } from '../../site.js';
import type { CardValues, CommonValues } from '../../values.js';
import { confirmFirst } from '../proof.js';
import { browsersCard, browsersView, changesCard, changesView } from './activity.js';
import { type CardView, type CardVisit, closedCard, frameOf, SECURITY } from './card.js';
import { confirmEmailCard, confirmEmailView } from './confirm-email.js';
import { linkedAccountsCard, linkedAccountsView } from './linked-accounts.js';
import { methodsCard, methodsLine } from './methods.js';
import { passkeysCard, passkeysView } from './passkeys.js';
import { passwordCard, passwordView } from './password.js';
import { secondFactorCard, secondFactorView } from './second-factor.js';

/** The values of the page `account/security`. */
export interface SecurityValues {
  /** The values of each card that is shown, by its name: `sign-in-methods`, `confirm-email`, `second-factor`, `passkeys`, `password`, `linked-accounts`, `browsers`, `changes`. */
  readonly cards: Readonly<Partial<CardValues>>;
  /** The cards of other plugins. */
  readonly others: readonly { readonly title: string; readonly content: Html }[];
  /** The tasks that the user must do before the account can be used. */
  readonly tasks: readonly string[];
}

/** @internal */
export function security(site: Site): Page {
  const cards = [
    methodsCard,
    confirmEmailCard(site),
    secondFactorCard(site),
    passkeysCard(site),
    passwordCard(site),
    linkedAccountsCard(site),
    browsersCard(site),
    changesCard(site),
  ].filter((card) => card !== null);
  return page<SecurityValues>({
    name: 'account/security',
    path: SECURITY.path,
    kind: 'account',
    access: 'session',
    openTo: 'any-task',
    inNavigation: true,
    forms: cards.flatMap(({ forms }) => forms),
    async values(visit) {
      const tasks = visit.auth?.session.tasks ?? [];
      const own = tasks.filter((task) => cards.some(({ does = [] }) => does.includes(task)));
      // While a task is open, show only the cards that complete it.
      const shown =
        own.length === 0 ? cards : cards.filter(({ does = [] }) => does.some((one) => own.includes(one)));
      const cardVisit = cardVisitOf(visit);
      const [, pairs, others] = await allOf([
        cardVisit.methods,
        Promise.all(shown.map(async (card) => [card.name, await card.values(cardVisit)] as const)),
        own.length === 0 ? othersOf(visit) : [],
      ]);
      return {
        cards: Object.fromEntries(pairs.filter(([, values]) => values !== null)),
        others,
        tasks: own,
      };
    },
    view: securityView,
  });
}

/** Adds the data that several cards need. */
function cardVisitOf(visit: Visit): CardVisit {
  const { site, auth, returnTo } = visit;
  const { email = null, emailVerifiedAt = null } = auth?.user ?? {};
  return {
    ...visit,
    methods: site.methodsOf(visit),
    confirmFirst: (card) => confirmFirst(visit, `${site.page('account/security', { returnTo })}#${card}`),
    isUnconfirmed: site.core.mails !== null && email !== null && emailVerifiedAt === null,
  };
}

/** Renders each card. They are shown in this order, that of need. */
const VIEWS: {
  readonly [Name in Exclude<keyof CardValues, 'sign-in-methods'>]: (
    values: CardValues[Name],
    page: CommonValues,
    words: Words,
  ) => CardView;
} = {
  'confirm-email': confirmEmailView,
  'second-factor': secondFactorView,
  passkeys: passkeysView,
  password: passwordView,
  'linked-accounts': linkedAccountsView,
  browsers: browsersView,
  changes: changesView,
};

function securityView(values: SecurityValues & CommonValues, words: Words): View {
  const { cards, tasks, done, returnTo } = values;
  const t = words.security;
  const names = Object.keys(VIEWS) as (keyof typeof VIEWS)[];
  const methods = cards['sign-in-methods'];
  return {
    title: tasks.length > 0 ? t.taskTitle : t.title,
    ...(cards.passkeys !== undefined && { scripts: ['passkeys.js'] }),
    main: html`${tasks.length > 0 && html`<p>${t.taskText}</p>`}${
      done === PASSWORD_DROPPED &&
      returnTo !== null &&
      html`<p><a href="${returnTo}" data-part="button secondary">${words.continue}</a></p>`
    }${methods && methodsLine(methods, cards, words)}${names.map((name) =>
      cardOf(name, values, words),
    )}${values.others.map(({ title, content }, index) => frameOf(`other-${index + 1}`, title, content))}`,
  };
}

function cardOf<Name extends keyof typeof VIEWS>(
  name: Name,
  page: SecurityValues & CommonValues,
  words: Words,
): Html | null {
  const values = page.cards[name];
  if (!values) return null;
  const view = VIEWS[name](values as CardValues[Name], page, words);
  return closedCard(name, view, { values, isOpen: page.tasks.length > 0 }, words);
}

async function othersOf({ site, auth }: Visit) {
  if (!auth) return [];
  const cards = site.core.contributions.map(({ forPages }) => forPages?.card?.(auth));
  return (await Promise.all(cards)).filter((card) => card !== null && card !== undefined);
}

declare module '../../values.js' {
  interface PageValues {
    'account/security': SecurityValues;
  }
}
