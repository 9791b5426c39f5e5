/// <reference lib="dom" />
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type { Client } from '../../lib/client.js';
import { inBrowser, specBrowser } from '../pages/browser/browser.js';
import { Projects } from '../support/projects.js';
import type { StoryShape } from './story.js';
import { startStoryApp } from './story-app.js';

declare const client: Client<StoryShape>;

/** An app as a server renders it and as a browser takes it over, in projects with the npm package. */

const FILES = {
  'app.js': `
    import { createElement, StrictMode } from 'react';
    import { createClient } from 'latchkey/client';
    import { useSession } from 'latchkey/react';
    export const client = createClient();
    function Greeting() {
      const { status, user } = useSession(client);
      return createElement('p', null, status + ' ' + (user && user.email));
    }
    export const app = createElement(StrictMode, null, createElement(Greeting));`,
  'server.js': `
    import { version } from 'react';
    import { renderToString } from 'react-dom/server';
    const requests = [];
    globalThis.fetch = async (url) => requests.push(url);
    const { app } = await import('./app.js');
    const html = renderToString(app);
    process.on('exit', () => console.log(JSON.stringify({ version, html, requests })));`,
  'page.js': `
    import { hydrateRoot } from 'react-dom/client';
    import { app, client } from './app.js';
    Object.assign(globalThis, { client });
    hydrateRoot(document.querySelector('main'), app);`,
};

const VERSIONS = ['18', '19'];
const person = { email: 'emmy@example.com', password: 'on invariants and rings' };

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  for (const version of VERSIONS) {
    await projects.npm(version, `react@${version}`, `react-dom@${version}`);
    await projects.link(version, 'express@5', 'sequelize@6');
    await projects.write(`${version}/app`, { 'package.json': '{ "type": "module" }', ...FILES });
  }
}, 180_000);
afterAll(() => projects.remove());

const renderOf = async (version: string) => JSON.parse(await projects.node(`${version}/app`, 'server.js'));

describe.each(VERSIONS)('React %s on a server', (version) => {
  test('renders the session as loading, and requests nothing', async () => {
    expect(await renderOf(version)).toEqual({
      version: expect.stringMatching(`^${version}\\.`),
      html: '<p>loading null</p>',
      requests: [],
    });
  });
});

inBrowser('React in a browser', () => {
  const browser = specBrowser();
  let app: Awaited<ReturnType<typeof startStoryApp>>;

  beforeAll(async () => {
    app = await startStoryApp();
    await app.auth.users.create({ ...person, emailVerified: true });
    for (const version of VERSIONS) {
      const { outputFiles } = await build({
        entryPoints: [join(projects.folder, version, 'app/page.js')],
        bundle: true,
        write: false,
        // With its warnings, such as one about HTML that differs from the server's.
        define: { 'process.env.NODE_ENV': '"development"' },
      });
      const { html } = await renderOf(version);
      app.app.get(`/${version}.js`, (_req, res) => void res.type('js').send(outputFiles[0]?.text));
      app.app.get(`/${version}`, (_req, res) => {
        res.send(
          `<!doctype html><title>App</title><main>${html}</main><script src="/${version}.js"></script>`,
        );
      });
    }
  });
  afterAll(() => app?.stop());

  test.each(VERSIONS)('%s shows the user after a sign-in, and null after a sign-out', async (version) => {
    const page = await browser.open(`${app.origin}/${version}`);
    const shows = (text: string) => page.locator('p').getByText(text, { exact: true }).waitFor();
    await shows('signed_out null');
    const signedIn = await page.evaluate((given) => client.credential.signIn(given), {
      credential: person.email,
      password: person.password,
    });
    expect(signedIn.data).toMatchObject({ step: 'done' });
    await shows(`signed_in ${person.email}`);
    await page.evaluate(() => client.signOut());
    await shows('signed_out null');
  });
});
