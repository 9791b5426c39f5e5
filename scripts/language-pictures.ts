// Takes the pictures of docs/languages.md: the sign-in page in three languages, in light and in dark. It needs
// Chromium, and a font with Japanese letters, such as fonts-ipafont-gothic of Debian.
//
//   npm run docs:pictures
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { chromium } from 'playwright-core';
import { authRouter, createAuth, credentialPassword, emailSignIn, passkeys } from '../lib/index.js';
import { pages } from '../lib/pages.js';
import { findBrowser } from '../spec/support/servers.mjs';

const LANGUAGES = ['de', 'ja', 'ar'] as const;

const found = await findBrowser();
if (!found) throw new Error('Chromium was not found; install chromium');

const app = express();
const server = app.listen(0, '127.0.0.1');
await new Promise((listening) => server.once('listening', listening));
const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
const auth = createAuth({
  database: 'sqlite::memory:',
  secret: 'a secret for pictures, of 32 bytes and more',
  baseUrl: origin,
  appName: 'Example',
  email: { send: () => undefined },
  locale: { languages: ['en', ...LANGUAGES] },
  plugins: [credentialPassword(), emailSignIn(), passkeys(), pages()],
});
await auth.migrate();
app.use('/auth', authRouter(auth));

const browser = await chromium.launch({
  executablePath: found.path,
  args: ['--no-sandbox', '--headless', '--disable-gpu'],
});
for (const locale of LANGUAGES) {
  const viewport = { width: 330, height: 640 };
  const page = await (await browser.newContext({ baseURL: origin, locale, viewport })).newPage();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto('/auth/sign-in');
    const path = fileURLToPath(
      new URL(`../docs/images/pages/sign-in-${locale}-${colorScheme}.png`, import.meta.url),
    );
    await page.screenshot({ path, scale: 'css' });
  }
}
await browser.close();
server.close();
await auth.close();
