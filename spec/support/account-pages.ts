import { expect } from '@jest/globals';
import type { Plugin } from '../../lib/index.js';
import { FOR_USER } from '../../lib/pages/controls.js';
import { type PagesOptions, pages } from '../../lib/pages.js';
import { ada, type SpecApp, type SpecAppOptions, startApp } from './app.js';
import { mailbox } from './mailbox.js';
import { type Answer, Visitor } from './pages.js';

/** A value that would become markup if a page did not escape it. */
export const HOSTILE = `<script>alert(1)</script>"'>&amp;`;
const HARMLESS = '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&gt;&amp;amp;';

/** Starts an app with `pages()` and emails. */
export async function startPages<const P extends readonly Plugin[]>(
  plugins: P,
  config: Exclude<SpecAppOptions<P>['config'], undefined | ((...given: never[]) => unknown)> = {},
  options: PagesOptions = {},
) {
  const box = mailbox();
  const app = (await startApp({
    plugins: [...plugins, pages(options)] as unknown as P,
    config: {
      baseUrl: 'http://app.localhost',
      email: { send: (mail) => box.send(mail) },
      ...config,
    } as typeof config,
  })) as SpecApp<P>;
  return { app, box };
}

/** A browser without JavaScript. */
export class PageVisitor extends Visitor {
  /**
   * Sends a form of a page as the page shows it.
   *
   * @param typed the values that the user changes. Undefined for a checkbox that the user unchecks
   */
  async submit(page: Answer, end: string, typed: Record<string, string | undefined> = {}): Promise<Answer> {
    const { action, fields, names, user } = formIn(page.body, end);
    for (const name of Object.keys(typed)) expect(names).toContain(name);
    const sent = Object.entries({ ...user, ...fields, ...typed });
    return this.post(
      action,
      Object.fromEntries(sent.filter((one): one is [string, string] => one[1] !== undefined)),
    );
  }

  /** Opens the page that a response redirects to. */
  async follow({ status, location }: Answer): Promise<Answer> {
    expect(status).toBe(303);
    return this.send('GET', String(location), undefined, { 'sec-fetch-site': 'same-origin' });
  }

  async signIn({ email, password } = ada): Promise<this> {
    const answer = await this.post('/auth/sign-in/password', { credential: email, password });
    expect(answer).toMatchObject({ status: 303, location: '/' });
    return this;
  }
}

/** Returns the form of a page whose path ends like this, with its fields as a browser sends them. */
export function formIn(body: string, end: string) {
  const found = formsIn(body).filter(({ action }) => action.endsWith(end));
  expect(found).toHaveLength(1);
  return found[0] as ReturnType<typeof formsIn>[number];
}

/** Returns the forms of a page, with the text of their buttons. */
export function formsIn(body: string) {
  return [...body.matchAll(/<form method="post" action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(
    ([, action = '', content = '']) => ({
      action: decoded(action),
      fields: Object.fromEntries(
        [...inputsIn(content), ...selectsIn(content)].filter(([name]) => name !== FOR_USER),
      ),
      /** The names of all fields, including checkboxes that are not checked. */
      names: [...inputsIn(content, true), ...selectsIn(content)].map(([name]) => name),
      /** The field that says whose form it is, which forms of accounts have. */
      user: Object.fromEntries([...inputsIn(content)].filter(([name]) => name === FOR_USER)),
      button: decoded(/<button[^>]*>(.*?)<\/button>/s.exec(content)?.[1]?.replace(/<[^>]*>/g, '') ?? ''),
    }),
  );
}

/** @param all whether to include checkboxes that are not checked, which browsers do not send. @default false */
function* inputsIn(content: string, all = false): Generator<[string, string]> {
  for (const [, attributes = ''] of content.matchAll(/<input ([^>]*)>/g)) {
    const name = attribute(attributes, 'name');
    const isUnchecked = attribute(attributes, 'type') === 'checkbox' && !/ checked\b/.test(attributes);
    // A browser does not send an input without a name.
    if (name !== undefined && (all || !isUnchecked)) yield [name, attribute(attributes, 'value') ?? ''];
  }
}

function* selectsIn(content: string): Generator<[string, string]> {
  for (const [, attributes = '', options = ''] of content.matchAll(/<select ([^>]*)>(.*?)<\/select>/gs)) {
    const all = [...options.matchAll(/<option ([^>]*)>/g)].map(([, one = '']) => one);
    const chosen = all.find((one) => / selected$/.test(one)) ?? all[0] ?? '';
    yield [attribute(attributes, 'name') ?? '', attribute(chosen, 'value') ?? ''];
  }
}

function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];
  return found === undefined ? undefined : decoded(found);
}

const CHARACTERS: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };

function decoded(text: string): string {
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_all, name: string) => CHARACTERS[name] ?? '');
}

/** Expects that a page shows {@link HOSTILE} as text. */
export function expectEscaped({ body }: Answer): void {
  expect(body).toContain(HARMLESS);
  expect(body).not.toContain('<script>');
}

/** Makes all sessions too old for sensitive changes. */
export async function ageSessions(app: {
  auth: { models: { Session: { update(...given: never[]): unknown } } };
}): Promise<void> {
  const past = { authenticatedAt: new Date(Date.now() - 3_600_000) };
  await app.auth.models.Session.update(past as never, { where: {} } as never);
}
