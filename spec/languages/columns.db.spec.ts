import { describe, expect, test } from '@jest/globals';
import { DataTypes, type ModelAttributes } from 'sequelize';
import { createAuth } from '../../lib/index.js';
import type { ShippedLanguage } from '../../lib/languages/shipped.js';
import { ada, memoryLogger, password, SECRET, startApp } from '../support/app.js';
import { createDatabase, rows } from '../support/database.js';
import { allSent, BASE_URL } from '../support/mail-app.js';
import { mailbox } from '../support/mailbox.js';
import { ownRows } from '../support/own-rows.js';

// Where the languages of users are stored. What they do is in languages.spec.ts.
const locale = { languages: ['en', 'de', 'fr'] } as const;

describe('auth.migrate()', () => {
  const open = (database: string, languages?: readonly [ShippedLanguage, ...ShippedLanguage[]]) =>
    createAuth({
      ...{ database, secret: SECRET, rateLimit: false, logger: memoryLogger(), plugins: [password()] },
      ...(languages && { locale: { default: languages[0], languages } }),
    });

  test('adds two columns to users who were there before, and loses nothing', async () => {
    const database = await createDatabase();
    const before = open(database.url);
    await before.migrate();
    const { id } = await before.users.create({ ...ada, emailVerified: true });
    const [stored] = await rows(database, 'SELECT * FROM users');
    expect(Object.keys(stored ?? {}).filter((name) => /locale|language/.test(name))).toEqual([]);
    expect(await before.users.get(id)).not.toHaveProperty('locale');
    await before.close();

    const auth = open(database.url, ['en', 'de']);
    expect((await auth.migrate()).sort()).toEqual(['users.locale', 'users.sign_up_language']);
    expect(await auth.migrate()).toEqual([]);
    expect(await rows(database, 'SELECT * FROM users')).toEqual([
      { ...stored, locale: null, sign_up_language: null },
    ]);
    expect(await auth.users.get(id)).toMatchObject({ email: ada.email, locale: null });
    await auth.credential.signIn({ credential: ada.email, password: ada.password });
    await auth.users.update(id, { fields: { locale: 'de' } as never });
    await auth.close();

    // With one language again, the columns stay.
    const one = open(database.url, ['de']);
    expect(await one.migrate()).toEqual([]);
    expect(await one.users.get(id)).not.toHaveProperty('locale');
    await one.users.create({ email: 'grace@example.com' });
    await one.close();
    expect(await rows(database, "SELECT locale FROM users WHERE email = 'ada@example.com'")).toEqual([
      { locale: 'de' },
    ]);
    await database.drop();
  });
});

describe('with user.model', () => {
  const withModel = (attributes: ModelAttributes) => {
    const box = mailbox();
    return startApp({
      plugins: [password({ sendVerificationOnSignUp: true })] as const,
      config: async (database) => {
        const own = ownRows(database, attributes);
        await own.model.sync();
        return { ...own.config, baseUrl: BASE_URL, locale, email: { send: box.send } };
      },
    }).then((started) => ({ ...started, mails: box.mails }));
  };

  test('the choice is an attribute of the model, and the language of the sign-up a column of the accounts', async () => {
    const own = await withModel({ locale: { type: DataTypes.STRING(35), field: 'Chosen Language' } });
    const sent = { ...ada, name: 'Ada' };
    await own.http.post('/auth/signup/credential').set('accept-language', 'fr').send(sent).expect(201);
    await allSent(own.auth);
    const { token } = await own.auth.credential.signIn({ credential: ada.email, password: ada.password });
    const patch = own.http.patch('/auth/me').set('cookie', `latchkey=${token}`);
    expect((await patch.send({ locale: 'de' }).expect(200)).body.user.locale).toBe('de');
    await own.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
    await allSent(own.auth);
    expect(own.mails.map(({ kind, language }) => `${kind} ${language}`)).toEqual([
      'verify-email fr',
      'reset-password de',
    ]);
    const [row] = await rows(own.database, 'SELECT * FROM users');
    expect(row).toMatchObject({ 'Chosen Language': 'de' });
    expect(await rows(own.database, 'SELECT sign_up_language FROM auth_users')).toEqual([
      { sign_up_language: 'fr' },
    ]);
    const columns = Object.keys((await rows(own.database, 'SELECT * FROM auth_users'))[0] ?? {});
    expect(columns).not.toContain('locale');
    await own.stop();
  });

  test('a model without the attribute is named', async () => {
    await expect(withModel({})).rejects.toThrow(/AppUser has no attribute locale/);
  });
});
