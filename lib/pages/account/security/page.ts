import { type Html, html } from '../../../html.js';
import { errorSummary } from '../../controls.js';
import { type Page, page, type Visit } from '../../page.js';
import type { Site } from '../../site.js';
import type { FormValues } from '../../values.js';
import { browsersCard, changesCard } from './activity.js';
import { frameOf, SECURITY } from './card.js';
import { linkedAccountsCard } from './linked-accounts.js';
import { methodsCard } from './methods.js';
import { passkeysCard } from './passkeys.js';
import { passwordCard } from './password.js';
import { secondFactorCard } from './second-factor.js';

/** The values of the page `account/security`. */
export interface SecurityValues {
  /** The values of each card, by its name: `sign-in-methods`, `password`, `second-factor`, `passkeys`, `linked-accounts`, `changes`, `browsers`. */
  readonly cards: Readonly<Record<string, object>>;
  /** The cards of other plugins. */
  readonly others: readonly { readonly title: string; readonly content: Html }[];
  /** The tasks that the user must do before the account can be used. */
  readonly tasks: readonly string[];
}

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
      // While a task is open, only the cards that do it can be used.
      const shown =
        own.length === 0 ? cards : cards.filter(({ does = [] }) => does.some((one) => own.includes(one)));
      const withMethods = { ...visit, methods: await site.methodsOf(visit) };
      const pairs = await Promise.all(
        shown.map(async (card) => [card.name, await card.values(withMethods)] as const),
      );
      return {
        cards: Object.fromEntries(pairs),
        others: own.length === 0 ? await othersOf(visit) : [],
        tasks: own,
      };
    },
    view(values, words) {
      const { cards: found, tasks } = values;
      const t = words.security;
      const shown = cards.filter(({ name }) => found[name] !== undefined);
      const forms = Object.values(found).flatMap(formsIn);
      return {
        title: tasks.length > 0 ? t.taskTitle : t.title,
        ...(found.passkeys !== undefined && { scripts: ['passkeys.js'] }),
        main: html`${errorSummary(values, forms, words)}${tasks.length > 0 && html`<p>${t.taskText}</p>`}${shown.map(
          (card) => {
            const { title, content } = card.view(found[card.name] as object, values, words);
            return frameOf(card.name, title, content);
          },
        )}${values.others.map(({ title, content }, index) => frameOf(`other-${index + 1}`, title, content))}`,
      };
    },
  });
}

async function othersOf({ site, auth }: Visit) {
  if (!auth) return [];
  const cards = site.core.contributions.map(({ forPages }) => forPages?.card?.(auth));
  return (await Promise.all(cards)).filter((card) => card !== null && card !== undefined);
}

/** Returns the forms among the values of a card. */
function formsIn(value: unknown): FormValues[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('action' in value && 'errors' in value) return [value as FormValues];
  return Object.values(value).flatMap(formsIn);
}

declare module '../../values.js' {
  interface PageValues {
    'account/security': SecurityValues;
  }
}
