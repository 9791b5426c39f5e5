import { expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { checkLanguages } from '../../../lib/cli/checks/languages.js';
import { createAuth, credentialPassword, type Language } from '../../../lib/index.js';
import { LOADERS } from '../../../lib/languages/shipped.js';
import { pages } from '../../../lib/pages.js';
import { SECRET } from '../../support/app.js';

/** Returns the findings about languages of the app. */
async function findingsOf(...languages: Language[]) {
  const auth = createAuth({
    database: 'sqlite:./unused.db',
    secret: SECRET,
    email: { send: () => undefined },
    locale: { languages: ['en', ...languages] },
    plugins: [credentialPassword(), ...(languages.every((one) => one.pages) ? [pages()] : [])],
  });
  const findings: string[] = [];
  for await (const { status, check, detail, fix } of checkLanguages(internalsOf(auth).core)) {
    expect([check, fix === null]).toEqual(['languages', status === 'ok']);
    findings.push(`${status}: ${detail}`);
  }
  return findings;
}

/** A language with English texts. */
async function english(tag: string): Promise<Required<Pick<Language, 'pages'>> & Language> {
  const [ofPages, emails, errors] = await Promise.all([
    LOADERS.en.pages(),
    LOADERS.en.emails(),
    LOADERS.en.errors(),
  ]);
  return { tag, pages: ofPages, emails, errors };
}

test('finds nothing without a language of the app', async () => {
  expect(await findingsOf()).toEqual([]);
});

test('a language with all texts is complete, also without the words of pages', async () => {
  const nl = await english('nl');
  expect(await findingsOf(nl)).toEqual(['ok: nl has all texts']);
  const { pages: _, ...others } = nl;
  expect(await findingsOf(others)).toEqual(['ok: nl has all texts']);
});

test('names texts that are missing, of another type, or unknown, by the keys of locale.words', async () => {
  const nl = await english('nl');
  const { title: _, ...signIn } = nl.pages.signIn;
  const { 'verify-email': __, ...texts } = nl.emails.texts;
  const { invalid_token: ___, ...problems } = nl.errors.problems;
  const changed = {
    ...nl,
    pages: { ...nl.pages, signIn: { ...signIn, titel: 'Inloggen' }, titleOf: 'Inloggen', yes: undefined },
    emails: { ...nl.emails, texts },
    errors: { ...nl.errors, problems, extra: {}, more: { deep: 'x' } },
  } as unknown as Language;
  const findings = await findingsOf(changed, await english('sv'));
  expect(findings).toEqual([
    'problem: nl lacks the texts yes, sign-in.title, email.texts.verify-email.subject, email.texts.verify-email.before, email.texts.verify-email.action, email.texts.verify-email.after, error.problems.invalid_token',
    'problem: nl has texts of another type than English: title-of',
    'warning: nl has texts that latchkey does not know: sign-in.titel, error.more.deep',
    'ok: sv has all texts',
  ]);
});

test('names at most ten texts', async () => {
  const [missing] = await findingsOf({ tag: 'nl', emails: {}, errors: {} } as Language);
  expect(missing).toMatch(/^problem: nl lacks the texts (\S+, ){9}\S+ and \d{3} more$/);
});
