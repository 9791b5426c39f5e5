// Takes the pictures of the docs from the demo: docs/images/pages, each page in light and in dark.
// It needs Chromium, and the ports of the demo.
//
//   npm run docs:pictures
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { findBrowser } from '../spec/support/servers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const browserFound = await findBrowser();
if (!browserFound) throw new Error('Chromium was not found; install chromium');

const data = mkdtempSync(join(tmpdir(), 'latchkey-pictures-'));
const demo = spawn(process.execPath, ['--import', 'tsx', 'demo-app/server.ts'], {
  cwd: root,
  env: { ...process.env, DEMO_DATA: data },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const stopped = new Promise((done) => demo.once('close', done));
const ACCOUNT = { email: 'ada@example.com', password: 'an analytical engine' };
const AGENTS = [
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0',
];

/** The emailed codes that were entered already. */
const used = new Set();

let origin;
try {
  origin = await originOf(demo);
  const browser = await chromium.launch({
    executablePath: browserFound.path,
    args: ['--no-sandbox', '--headless', '--disable-gpu'],
  });
  const page = await (await browser.newContext({ baseURL: origin })).newPage();
  await page.request.post('/auth/signup/credential', { data: ACCOUNT });
  for (const agent of AGENTS) await signInFrom(origin, agent);
  const administrator = await (await browser.newContext({ baseURL: origin })).newPage();
  await signInAsAdministrator(administrator.request);
  await picturesOf(page, administrator);
  await browser.close();
} finally {
  demo.kill();
  await stopped;
  rmSync(data, { recursive: true });
}

/** Takes a picture of each page in light and in dark. The users of the pages are signed in. */
async function picturesOf(page, administrator) {
  const folder = join(root, 'docs/images/pages');
  mkdirSync(folder, { recursive: true });
  const visitor = await (await page.context().browser().newContext({ baseURL: origin })).newPage();
  for (const [name, path, opened = page, width = 800] of [
    ['sign-in', '/auth/sign-in', visitor],
    ['phone', '/auth/sign-up', visitor, 390],
    ['sign-up', '/auth/sign-up', visitor],
    ['forgot-password', '/auth/forgot-password', visitor],
    ['account', '/auth/account'],
    ['security', '/auth/account/security'],
    ['sessions', '/auth/account/sessions'],
    ['api-keys', '/auth/account/api-keys'],
    ['sign-out', '/auth/sign-out'],
    ['administration', '/auth/administration/users', administrator, 1000],
  ]) {
    await opened.setViewportSize({ width, height: 700 });
    for (const colorScheme of ['light', 'dark']) {
      await opened.emulateMedia({ colorScheme });
      await opened.goto(path);
      const clip = { x: 0, y: 0, width, height: 700 };
      await opened.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), clip, scale: 'css' });
    }
  }
}

async function signInAsAdministrator(request) {
  const password = readFileSync(join(data, 'admin-password.txt'), 'utf8').trim();
  // The list of an app with a single user looks empty.
  for (const name of ['grace', 'linus', 'margaret'])
    await request.post('/auth/signup/credential', {
      data: { email: `${name}@example.com`, password: ACCOUNT.password },
    });
  await request.post('/auth/signout');
  const answer = await request.post('/auth/signin/credential', {
    data: { credential: 'admin@example.com', password },
  });
  const { second_factor: step } = await answer.json();
  if (step)
    await request.post('/auth/signin/second-factor', {
      data: { method: 'email_code', code: await newCode(origin), pending_token: step.pending_token },
    });
}

/** Waits until the demo has printed where it is. */
async function originOf({ stdout }) {
  let text = '';
  for await (const chunk of stdout) {
    text += chunk;
    const [, origin] = /The demo is at (http:\S+)\s+.*password/.exec(text) ?? [];
    if (origin) return origin;
  }
  throw new Error('the demo did not start');
}

async function signInFrom(origin, agent) {
  const headers = { 'content-type': 'application/json', 'user-agent': agent };
  const send = (path, body) =>
    fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) }).then((response) =>
      response.json(),
    );
  const credentials = { credential: ACCOUNT.email, password: ACCOUNT.password };
  const { second_factor: step } = await send('/auth/signin/credential', credentials);
  if (!step) return;
  const code = await newCode(origin);
  const answer = { method: 'email_code', code, pending_token: step.pending_token };
  await send('/auth/signin/second-factor', answer);
}

/** The code of the next email. Emails are sent after the response. */
async function newCode(origin) {
  for (;;) {
    const { mails } = await (await fetch(`${origin}/api/mails`)).json();
    const codes = mails.flatMap(({ text }) => /^\d{8}$/m.exec(text) ?? []);
    const code = codes.find((one) => !used.has(one));
    if (code) {
      used.add(code);
      return code;
    }
    await new Promise((later) => setTimeout(later, 50));
  }
}
