import { type Html, html } from '../../../html.js';
import { type Page, page, type View, type Visit } from '../../page.js';
import { allOf, type Site } from '../../site.js';
import type { CardValues, CommonValues } from '../../values.js';
import type { Words } from '../../words/index.js';
import { browsersCard, browsersView, changesCard, changesView } from './activity.js';
import { type CardView, frameOf, SECURITY } from './card.js';
import { linkedAccountsCard, linkedAccountsView } from './linked-accounts.js';
import { methodsCard, methodsView } from './methods.js';
import { passkeysCard, passkeysView } from './passkeys.js';
import { passwordCard, passwordView } from './password.js';
import { secondFactorCard, secondFactorView } from './second-factor.js';

/** The values of the page `account/security`. */
export interface SecurityValues {
  /** The values of each card that is shown, by its name: `sign-in-methods`, `password`, `second-factor`, `passkeys`, `linked-accounts`, `changes`, `browsers`. */
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
    passwordCard(site),
    secondFactorCard(site),
    passkeysCard(site),
    linkedAccountsCard(site),
    changesCard(site),
    browsersCard(site),
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
      const methods = site.methodsOf(visit);
      const [, pairs, others] = await allOf([
        methods,
        Promise.all(
          shown.map(async (card) => [card.name, await card.values({ ...visit, methods })] as const),
        ),
        own.length === 0 ? othersOf(visit) : [],
      ]);
      return { cards: Object.fromEntries(pairs), others, tasks: own };
    },
    view: securityView,
  });
}

/** Renders each card. They are shown in this order. */
const VIEWS: {
  readonly [Name in keyof CardValues]: (
    values: CardValues[Name],
    page: CommonValues,
    words: Words,
  ) => CardView;
} = {
  'sign-in-methods': methodsView,
  password: passwordView,
  'second-factor': secondFactorView,
  passkeys: passkeysView,
  'linked-accounts': linkedAccountsView,
  changes: changesView,
  browsers: browsersView,
};

function securityView(values: SecurityValues & CommonValues, words: Words): View {
  const { cards, tasks } = values;
  const t = words.security;
  const names = Object.keys(VIEWS) as (keyof CardValues)[];
  return {
    title: tasks.length > 0 ? t.taskTitle : t.title,
    ...(cards.passkeys !== undefined && { scripts: ['passkeys.js'] }),
    main: html`${tasks.length > 0 && html`<p>${t.taskText}</p>`}${names.map((name) =>
      cardOf(name, values, words),
    )}${values.others.map(({ title, content }, index) => frameOf(`other-${index + 1}`, title, content))}`,
  };
}

function cardOf<Name extends keyof CardValues>(
  name: Name,
  page: SecurityValues & CommonValues,
  words: Words,
): Html | null {
  const values = page.cards[name];
  if (!values) return null;
  const { title, content } = VIEWS[name](values as CardValues[Name], page, words);
  return frameOf(name, title, content);
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
