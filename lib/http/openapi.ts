import * as z from 'zod';
import type { Core } from '../core/core.js';
import { type AuthErrorCode, statusOf } from '../errors.js';
import { isUnsafe } from '../sessions/origin.js';
import { type FORM_PAGES, SECOND_FACTOR_TO } from './forms.js';
import { resources } from './present.js';
import { problemSchema } from './problem.js';
import { type Route, takesForms } from './route.js';
import { asked, sensitiveProblems } from './sensitive.js';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  /** The version of the OpenAPI Specification. */
  openapi: '3.1.0';
  /** The API's title, version and description. */
  info: { title: string; version: string; description: string };
  /** The base path of the routes. */
  servers: { url: string }[];
  /** The groups of operations: those of the core, and those of each plugin. */
  tags: { name: string; description: string }[];
  /** The operations, by path and method. */
  paths: Record<string, Record<string, unknown>>;
  /** The named schemas and security schemes. */
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> };
}

/** The version of the package. A spec compares it with package.json, which a bundled app cannot read. */
const VERSION = '0.1.0';

/**
 * Generates the OpenAPI document of the given routes.
 *
 * @internal
 */
export function describeApi(core: Core, routes: readonly Route[], basePath: string): OpenApiDocument {
  const document = described.get(core) ?? describe(core, routes);
  described.set(core, document);
  return { ...document, servers: [{ url: `${core.settings.publicPath}${basePath}` || '/' }] };
}

// Cached, because generating a document is slow and the route is public.
const described = new WeakMap<Core, OpenApiDocument>();

function describe(core: Core, routes: readonly Route[]): OpenApiDocument {
  const { schemas, inputs, outputs } = components(core, routes);
  const security = securitySchemes(core);
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    const operation = {
      operationId: operationId(route),
      summary: route.summary,
      description: descriptionOf(core, route),
      tags: [tagOf(route).name],
      security: securityOf(core, route),
      ...(parameters(route).length > 0 && { parameters: parameters(route) }),
      ...requestBody(core, route, inputs.get(route.body), schemas),
      responses: {
        ...(route.forms !== 'only' && answers(route, outputs)),
        ...(takesForms(core.settings, route) && { 303: FORM_ANSWER }),
        ...problems(core, route),
        default: UNEXPECTED,
      },
    };
    paths[path] = { ...paths[path], [route.method]: operation };
  }
  return {
    openapi: '3.1.0',
    info: { title: 'latchkey', version: VERSION, description: 'Sessions and accounts.' },
    servers: [],
    tags: [...new Map(routes.map(tagOf).map((tag) => [tag.name, tag])).values()],
    paths,
    components: { schemas, securitySchemes: security },
  };
}

/** Returns all schemas as named components, and the names of the schemas of requests and responses. */
function components(core: Core, routes: readonly Route[]) {
  const requests = z.registry<{ id: string }>();
  const responses = z.registry<{ id: string }>();
  responses.add(core.settings.problems ? shapedProblem : problemSchema, { id: 'Problem' });
  const { user, session, listedSession } = resources(core);
  responses.add(user.schema, { id: 'User' });
  responses.add(session.schema, { id: 'Session' });
  responses.add(listedSession, { id: 'ListedSession' });
  const inputs = new Map<unknown, string>();
  const outputs = new Map<unknown, string>();
  for (const route of routes) {
    const name = operationId(route).replace(/^./, (first) => first.toUpperCase());
    // A form equivalent has the same body as its route.
    if (route.body && !inputs.has(route.body)) {
      inputs.set(route.body, `${name}Request`);
      requests.add(route.body, { id: `${name}Request` });
    }
    for (const answer of route.forms === 'only' ? [] : Object.values(route.answers)) {
      // Several routes can share one answer.
      if (!answer.schema || outputs.has(answer)) continue;
      outputs.set(answer, `${name}Response`);
      responses.add(answer.schema, { id: `${name}Response` });
    }
  }
  const uri = (id: string) => `#/components/schemas/${id}`;
  const schemas = {
    ...z.toJSONSchema(requests, { uri, io: 'input' }).schemas,
    ...z.toJSONSchema(responses, { uri, io: 'output' }).schemas,
  };
  // Components are identified by their key in the document.
  for (const schema of Object.values(schemas)) {
    delete schema.$id;
    delete schema.$schema;
  }
  return { schemas, inputs, outputs };
}

/** The group of an operation. */
function tagOf({ plugin }: Route): { name: string; description: string } {
  return plugin === undefined
    ? { name: 'core', description: 'Accounts and their sessions' }
    : { name: plugin, description: `The routes of the plugin ${plugin}` };
}

/** Says who can call a route, and what else it requires. */
function descriptionOf(core: Core, route: Route): string {
  const { access } = route;
  const hasOthers = core.carriers.some(({ presentsSession }) => !presentsSession);
  const who = access === 'authenticated' && !hasOthers ? CALLERS.session : CALLERS[access];
  const form = takesForms(core.settings, route)
    ? 'Accepts an HTML form, and responds to it with a redirect.'
    : '';
  return [who, ...asked(core, route), form].filter((sentence) => sentence !== '').join(' ');
}

const CALLERS: Readonly<Record<Route['access'], string>> = {
  public: 'Requires no session.',
  authenticated: 'Requires a session or another credential, such as an API key.',
  session: 'Requires a session.',
  'session-or-pending': 'Requires a session, or a pending sign-in in this browser.',
  admin: "Requires an administrator's session.",
};

const UNEXPECTED = { description: "An unexpected error, in the format of the app's error handler" };

const shapedProblem = z.unknown().describe('What this app returns for an error');

function answers(route: Route, outputs: Map<unknown, string>) {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => [
      status,
      { description: answer.description, ...(outputs.has(answer) && { content: json(outputs.get(answer)) }) },
    ]),
  );
}

/** The problems by which to recognize routes where users prove who they are, including routes of plugins. */
const PROOFS: ReadonlySet<string> = new Set([
  'invalid_credentials',
  'invalid_token',
  'invalid_api_key',
  'invalid_passkey',
  'invalid_code',
]);

function problems(core: Core, route: Route) {
  const codes = new Set<AuthErrorCode>(route.problems);
  if (route.access !== 'public') codes.add('unauthenticated').add('invalid_session');
  if (route.access === 'admin') codes.add('admin_required');
  // API keys are held by tasks even where sessions are not.
  const isHeld = route.openTo !== 'any-task' || route.access === 'authenticated';
  if (route.access !== 'public' && isHeld) for (const code of core.tasks.problems) codes.add(code);
  for (const carrier of core.carriers.filter(({ presentsSession }) => !presentsSession)) {
    if (route.access === 'authenticated') for (const code of carrier.problems ?? []) codes.add(code);
    if (route.access !== 'public' && route.access !== 'authenticated') codes.add('session_required');
  }
  if ([...codes].some((code) => PROOFS.has(code)))
    for (const { accountProblems = [] } of core.contributions)
      for (const code of accountProblems) codes.add(code);
  for (const code of sensitiveProblems(core, route)) codes.add(code);
  const refusesPasswords = core.contributions.some(({ refusesPassword }) => refusesPassword);
  if (refusesPasswords && codes.has('invalid_credentials')) codes.add('new_password_required');
  const unsafe = isUnsafe(route.method.toUpperCase());
  if (unsafe) codes.add('origin_not_allowed');
  if (route.query) codes.add('invalid_request');
  if (takesForms(core.settings, route)) codes.add('invalid_callback_url').add('invalid_request');
  if (unsafe && !route.formPost) {
    codes.add('invalid_json').add('body_too_large').add('unsupported_media_type').add('validation_failed');
  }
  codes.add('unavailable');
  const byStatus = groupByStatus([...codes].sort());
  const type = core.settings.problems ? 'application/json' : 'application/problem+json';
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, list]) => [
      status,
      {
        description: list.join(', '),
        content: { [type]: { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

function parameters(route: Route) {
  const inPath = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const query = route.query && z.toJSONSchema(route.query, { io: 'input' });
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: query?.required?.includes(name) ?? false,
    schema,
  }));
  return [...inPath, ...inQuery];
}

function securitySchemes({ carriers }: Core) {
  return Object.fromEntries(carriers.map(({ via, securityScheme }) => [via, securityScheme]));
}

/** Returns the credentials that a route accepts. Any one of them is enough. */
function securityOf({ carriers }: Core, { access }: Route) {
  if (access === 'public') return [];
  const accepted = carriers.filter(({ presentsSession }) => access === 'authenticated' || presentsSession);
  return accepted.map(({ via }) => ({ [via]: [] }));
}

/** Names an operation: `DELETE /sessions/:id` becomes `deleteSessionsById`. */
function operationId({ method, path }: Route): string {
  const words = path.replace(/:(\w+)/g, 'by-$1').split(/[^A-Za-z0-9]+/);
  return method + words.map((word) => word.replace(/^./, (first) => first.toUpperCase())).join('');
}

function groupByStatus(codes: readonly AuthErrorCode[]): Record<string, AuthErrorCode[]> {
  const groups: Record<string, AuthErrorCode[]> = {};
  for (const code of codes) groups[statusOf(code)] = [...(groups[statusOf(code)] ?? []), code];
  return groups;
}

const FORM = 'application/x-www-form-urlencoded';

const FORM_ANSWER = {
  description:
    'For a form: redirect to redirect_to or, with ?error=<code>, to error_to or the page that sent it',
};

const PAGES = {
  redirect_to: {
    type: 'string',
    description:
      'Where to redirect afterwards: a path of this origin, or a URL of a trusted one. By default the root of this app',
  },
  error_to: {
    type: 'string',
    description: 'Likewise, after an error. By default the page that sent the form',
  },
} satisfies Record<(typeof FORM_PAGES)[number], object>;

const PAGE_OF_SECOND_FACTOR = {
  type: 'string',
  description: 'Likewise, if the account requires a second factor. By default /second-factor of this app',
};

/**
 * Describes the body of a request: as JSON, as a form, or as both.
 *
 * @param name the name of its schema among `schemas`
 *
 * @internal
 */
export function requestBody(
  core: Core,
  route: Route,
  name: string | undefined,
  schemas: Readonly<Record<string, unknown>>,
): { requestBody?: object } {
  if (route.formPost)
    return { requestBody: { required: true, content: { [FORM]: schemaOf(route.formPost) } } };
  const isForm = takesForms(core.settings, route);
  if (!name && !isForm) return {};
  const mayWait = Object.values(route.answers).some((answer) => answer.mayWait);
  const { formPage: next } = route;
  const pages = {
    ...PAGES,
    ...(mayWait && { [SECOND_FACTOR_TO]: PAGE_OF_SECOND_FACTOR }),
    ...(next && { [next.field]: { type: 'string', description: next.description } }),
  };
  const content = {
    ...(name && route.forms !== 'only' && json(name)),
    ...(isForm && { [FORM]: { schema: withPages(name ? schemas[name] : NO_FIELDS, pages) } }),
  };
  return { requestBody: { required: name !== undefined && route.method !== 'delete', content } };
}

function schemaOf(type: z.ZodType) {
  const { $schema, ...schema } = z.toJSONSchema(type, { io: 'input' });
  return { schema };
}

const NO_FIELDS = { type: 'object', properties: {}, additionalProperties: false };

/** Adds the fields that name the pages to redirect to, to the schema of a body. */
function withPages(body: unknown, pages: object): object {
  const { properties, anyOf, oneOf, ...schema } = body as Record<'properties', object | undefined> &
    Record<'anyOf' | 'oneOf', object[] | undefined>;
  const each = (variants: object[]) => variants.map((variant) => withPages(variant, pages));
  return {
    ...schema,
    ...(properties && { properties: { ...properties, ...pages } }),
    ...(anyOf && { anyOf: each(anyOf) }),
    ...(oneOf && { oneOf: each(oneOf) }),
  };
}

/** @internal */
export function json(name: string | undefined) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}
