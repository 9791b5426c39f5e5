import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SECRET } from '../support/app.js';
import { type Example, installExample, type RunningApp } from '../support/example.js';
import { freePort } from '../support/free-port.mjs';
import { type Answer, Visitor } from '../support/pages.js';
import { until } from '../support/until.js';

const PASSWORD = 'a bird in a teapot';
const JSON_TYPE = { 'content-type': 'application/json' };

let example: Example;
let app: RunningApp;
beforeAll(async () => {
  example = await installExample('teams');
  app = await example.start('server.ts', { AUTH_SECRET: SECRET, PORT: String(await freePort()) });
}, 180_000);
afterAll(() => example?.remove());

/** A user in a browser. */
class Person {
  readonly visitor = new Visitor(app.url, { origin: app.url });

  constructor(readonly email: string) {}

  json(method: string, path: string, body?: object): Promise<Answer> {
    return this.visitor.send(method, path, body && JSON.stringify(body), JSON_TYPE);
  }
}

/** Returns the token in the latest email to an address whose text matches. */
async function mailedToken(to: string, text: RegExp): Promise<string> {
  let token: string | undefined;
  await until(async () => {
    const log = await readFile(join(example.folder, 'mails.log'), 'utf8').catch(() => '');
    const mails = log.split(/^To: /m).filter((mail) => mail.startsWith(`${to}\n`) && text.test(mail));
    token = /token=(\S+)/.exec(mails.at(-1) ?? '')?.[1];
    return token;
  });
  return token ?? '';
}

/** Signs up, and verifies the email. */
async function signUp(email: string): Promise<Person> {
  const one = new Person(email);
  expect((await one.json('POST', '/auth/signup/credential', { email, password: PASSWORD })).status).toBe(201);
  const token = await mailedToken(email, /verify|confirm/i);
  expect((await one.json('POST', '/auth/verify-email', { token })).status).toBe(200);
  return one;
}

/** A team with its owner and its first project. */
interface Team {
  readonly owner: Person;
  readonly id: string;
  readonly slug: string;
  readonly project: string;
}

async function createTeam(slug: string): Promise<Team> {
  const owner = await signUp(`${slug}@example.com`);
  const made = await owner.visitor.post('/auth/organizations', { name: `Team ${slug}`, slug });
  expect([made.status, made.location]).toEqual([303, '/']);
  const { organizations } = JSON.parse((await owner.visitor.get('/auth/organizations')).body);
  const { projects } = JSON.parse((await owner.visitor.get(`/api/${slug}/projects`)).body);
  expect(projects).toEqual([expect.objectContaining({ name: 'First project' })]);
  return { owner, id: organizations[0].id, slug, project: projects[0].id };
}

let acme: Team;
let zen: Team;
test('a user signs up and creates a team, which has a first project', async () => {
  [acme, zen] = [await createTeam('acme'), await createTeam('zen')];
  const page = await acme.owner.visitor.get('/teams/acme');
  expect([
    page.status,
    page.body.includes('<h1>Team acme</h1>'),
    page.body.includes('First project'),
  ]).toEqual([200, true, true]);
});

/** Every route of a team, in pages and in the API. */
const ROUTES: readonly (readonly [method: string, path: (team: string, project: string) => string])[] = [
  ['GET', (team) => `/teams/${team}`],
  ['POST', (team) => `/teams/${team}/projects`],
  ['POST', (team, project) => `/teams/${team}/projects/${project}/delete`],
  ['GET', (team) => `/api/${team}/projects`],
  ['GET', (team, project) => `/api/${team}/projects/${project}`],
  ['POST', (team) => `/api/${team}/projects`],
  ['PATCH', (team, project) => `/api/${team}/projects/${project}`],
  ['DELETE', (team, project) => `/api/${team}/projects/${project}`],
];

/** Sends a request as a page or a program does. */
function send(person: Person, method: string, path: string): Promise<Answer> {
  const isApi = path.startsWith('/api');
  if (method === 'GET') return person.visitor.get(path);
  return isApi
    ? person.json(method, path, { name: 'Stolen' })
    : person.visitor.post(path, { name: 'Stolen' });
}

const projectsOf = async ({ owner, slug }: Team) =>
  JSON.parse((await owner.visitor.get(`/api/${slug}/projects`)).body).projects;

test('the list of routes is whole', async () => {
  const sources = await Promise.all(
    ['api.ts', 'site.ts'].map((file) => readFile(join(example.folder, file), 'utf8')),
  );
  const declared = sources.join('\n').match(/^(?:api|site)\.\w+\('\/(?:teams\/)?:organization/gm) ?? [];
  expect(declared.length).toBe(ROUTES.length);
});

test.each(
  ROUTES.map(([method, path]) => [`${method} ${path(':organization', ':id')}`, method, path] as const),
)('%s of a team is 404 for a member of another one', async (_name, method, path) => {
  const before = await projectsOf(zen);
  for (const name of [zen.slug, zen.id])
    expect((await send(acme.owner, method, path(name, zen.project))).status).toBe(404);
  expect(await projectsOf(zen)).toEqual(before);
});

test.each(
  ROUTES.filter(([, path]) => path('', 'x').includes('/x')).map(
    ([method, path]) => [`${method} ${path(':organization', ':id')}`, method, path] as const,
  ),
)('%s with a project of another team is 404', async (_name, method, path) => {
  const before = await projectsOf(zen);
  expect((await send(acme.owner, method, path(acme.slug, zen.project))).status).toBe(404);
  expect(await projectsOf(zen)).toEqual(before);
});

test('without a session, a program gets 401 and a browser the sign-in page', async () => {
  const nobody = new Visitor(app.url);
  expect((await nobody.get('/api/acme/projects')).status).toBe(401);
  const page = await nobody.send('GET', '/teams/acme', undefined, { accept: 'text/html' });
  expect([page.status, page.location]).toEqual([303, expect.stringContaining('/auth/sign-in')]);
});

test('an invited colleague joins, and sees the projects but cannot write', async () => {
  const email = 'grace@example.com';
  const body = { email, role: 'member' };
  const invited = await acme.owner.json('POST', `/auth/organizations/${acme.id}/invitations`, body);
  expect(invited.status).toBe(201);
  const token = await mailedToken(email, /invited/i);
  expect(invited.body).not.toContain(token);
  const grace = new Person(email);
  const joined = await grace.json('POST', '/auth/invitations/accept', { token, password: PASSWORD });
  expect(joined.status).toBe(200);
  expect((await grace.visitor.get('/teams/acme')).body).toContain('First project');
  expect((await grace.visitor.get('/teams/acme')).body).not.toContain('Add a project');
  expect((await grace.json('POST', '/api/acme/projects', { name: 'Second' })).status).toBe(403);
  expect((await grace.visitor.get('/teams/zen')).status).toBe(404);

  const { id } = JSON.parse(joined.body).user;
  const member = `/auth/organizations/${acme.id}/members/${id}`;
  expect((await acme.owner.json('PATCH', member, { role: 'editor' })).status).toBe(200);
  expect((await grace.json('POST', '/api/acme/projects', { name: 'Second' })).status).toBe(201);
  // The same name in another organization is free.
  expect((await zen.owner.json('POST', '/api/zen/projects', { name: 'Second' })).status).toBe(201);
  expect((await acme.owner.json('DELETE', member)).status).toBe(204);
  expect((await grace.visitor.get('/api/acme/projects')).status).toBe(404);
});

test('a team that has projects cannot be deleted', async () => {
  const path = `/auth/organizations/${acme.id}`;
  const refused = await acme.owner.json('DELETE', path);
  expect([refused.status, JSON.parse(refused.body).code]).toEqual([409, 'organization_in_use']);
  for (const { id } of await projectsOf(acme))
    expect((await acme.owner.json('DELETE', `/api/acme/projects/${id}`)).status).toBe(204);
  expect((await acme.owner.json('DELETE', path)).status).toBe(204);
});

test('npm run routes finds no route that forgets the organization', async () => {
  const args = ['routes', 'app.ts', '--tenant', 'organization'];
  const cli = 'node_modules/latchkey/dist/esm/cli.js';
  const listed = await example.run(cli, { AUTH_SECRET: SECRET }, args);
  expect(listed.match(/:organization.* guarded by requireMember/g)).toHaveLength(ROUTES.length);
  expect(listed).not.toContain('unscoped');
});

test('npm run typecheck passes', async () => {
  const tsc = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', example.folder]).catch(
    (error) => error,
  );
  expect(stdout).toBe('');
}, 120_000);
