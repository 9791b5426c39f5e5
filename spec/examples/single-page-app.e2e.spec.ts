import { afterAll, beforeAll, test } from '@jest/globals';
import { inBrowser, press, specBrowser } from '../pages/browser/browser.js';
import { ada, SECRET } from '../support/app.js';
import { type Example, installExample } from '../support/example.js';

const VITE = 'node_modules/vite/bin/vite.js';

inBrowser('examples/single-page-app', () => {
  const browser = specBrowser();
  let example: Example;
  const urls = { 'as built': '', 'in development': '' };

  beforeAll(async () => {
    example = await installExample('single-page-app');
    await example.run(VITE, {}, ['build']);
    const server = await example.start('server.js', { AUTH_SECRET: SECRET });
    const vite = await example.start(VITE, { API_URL: server.url });
    urls['as built'] = server.url;
    urls['in development'] = vite.url;
  }, 180_000);
  afterAll(() => example?.remove());

  test.each(['as built', 'in development'] as const)('signs users up, out and in, %s', async (how) => {
    const page = await browser.open(urls[how]);
    const email = `${how.replaceAll(' ', '-')}@example.com`;
    const fill = async (password: string) => {
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill(password);
    };
    const greets = () => page.getByRole('heading', { name: `Hello ${email}` }).waitFor();
    await fill(ada.password);
    await press(page, 'Create an account');
    await greets();
    await page.reload();
    await greets();
    await press(page, 'Sign out');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await fill('a wrong guess');
    await press(page, 'Sign in');
    await page.getByRole('alert').waitFor();
    await fill(ada.password);
    await press(page, 'Sign in');
    await greets();
  });
});
