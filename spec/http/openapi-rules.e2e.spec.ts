import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { Projects } from '../support/projects.js';

/** Checks openapi.json by the recommended rules of a tool. Prints each rule that it breaks, with the place. */
const TOOLS = {
  redocly: `
    import { readFileSync } from 'node:fs';
    import { createConfig, lintFromString } from '@redocly/openapi-core';
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: readFileSync('openapi.json', 'utf8'), absoluteRef: 'openapi.json', config });
    console.log(JSON.stringify(problems.map(({ ruleId, location: [{ pointer }] }) => ruleId + ' ' + pointer)));`,
  spectral: `
    import { readFileSync } from 'node:fs';
    import core from '@stoplight/spectral-core';
    import rulesets from '@stoplight/spectral-rulesets';
    const spectral = new core.Spectral();
    spectral.setRuleset({ extends: [[rulesets.oas, 'recommended']] });
    const problems = await spectral.run(JSON.parse(readFileSync('openapi.json', 'utf8')));
    console.log(JSON.stringify(problems.map(({ code, path }) => code + ' #/' + path.join('/'))));`,
};

/** What is not latchkey's to change. */
const OF_THE_APP: Readonly<Record<keyof typeof TOOLS, string[]>> = {
  redocly: [
    // The app decides under which licence others can use its API.
    'info-license #/info',
    // This route refuses no request.
    'operation-4xx-response #/paths/~1openapi.json/get/responses',
  ],
  // The app knows whom to ask about it.
  spectral: ['info-contact #/info'],
};

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  const packages = ['@redocly/openapi-core@2.64.0', '@stoplight/spectral-core@1.24.1'];
  await projects.npm('.', ...packages, '@stoplight/spectral-rulesets@1.23.1');
  const auth = createAuth({
    database: 'sqlite:./unused.db',
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    bearerEnabled: true,
    email: { send: () => undefined },
    plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
  });
  await projects.write('.', { 'openapi.json': JSON.stringify(auth.openapi()) });
  await auth.close();
}, 180_000);
afterAll(() => projects.remove());

test.each(Object.keys(TOOLS) as (keyof typeof TOOLS)[])(
  'the OpenAPI document with every plugin follows the recommended rules of %s',
  async (tool) => {
    await projects.write('.', { [`${tool}.mjs`]: TOOLS[tool] });
    expect(JSON.parse(await projects.node('.', `${tool}.mjs`))).toEqual(OF_THE_APP[tool]);
  },
);
