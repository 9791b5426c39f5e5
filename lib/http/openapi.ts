import * as z from 'zod';
import type { Core } from '../core/core.js';
import { problemsOf, schemaOfProblems } from './declared-problems.js';
import { type FORM_PAGES, SECOND_FACTOR_TO } from './forms.js';
import { resources } from './present.js';
import { attachment } from './respond.js';
import { type Route, takesForms } from './route.js';
import { asked } from './sensitive.js';

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  /** The version of the OpenAPI Specification. */
  openapi: '3.1.0';
  /** The API's title, version and description. */
  info: { title: string; version: string; description: string };
  /** The base path of the routes. */
  servers: { url: string }[];
  /** The groups of operations: one for the core, and one for each plugin. */
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
  const { schemas, inputs, outputs, refusals } = components(core, routes);
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
        ...problems(core, route, refusals),
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

/**
 * Returns all schemas as named components, and the names of the schemas of requests, responses and problems. Several
 * routes can share a schema.
 */
function components(core: Core, routes: readonly Route[]) {
  const requests = z.registry<{ id: string }>();
  const responses = z.registry<{ id: string }>();
  const { user, session, listedSession } = resources(core);
  responses.add(user.schema, { id: 'User' });
  responses.add(session.schema, { id: 'Session' });
  responses.add(listedSession.schema, { id: 'ListedSession' });
  const inputs = new Map<unknown, string>();
  const outputs = new Map<unknown, string>();
  /** The names of problem schemas, by the codes of the problems. */
  const refusals = new Map<string, string>();
  if (core.settings.problems) responses.add(shapedProblem, { id: 'Problem' });
  for (const route of routes) {
    const name = inCapitals(operationId(route));
    // A form equivalent has the same body as its route.
    if (route.body && !inputs.has(route.body)) {
      inputs.set(route.body, `${name}Request`);
      requests.add(route.body, { id: `${name}Request` });
    }
    for (const answer of route.forms === 'only' ? [] : Object.values(route.answers)) {
      if (!answer.schema || outputs.has(answer)) continue;
      outputs.set(answer, `${name}Response`);
      responses.add(answer.schema, { id: `${name}Response` });
    }
    for (const [status, codes] of Object.entries(problemsOf(core, route))) {
      const key = codes.join();
      if (refusals.has(key)) continue;
      const [code = '', ...others] = codes;
      const own = others.length > 0 ? `${name}Problem${status}` : `${inCapitals(code)}Problem`;
      refusals.set(key, core.settings.problems ? 'Problem' : own);
      if (!core.settings.problems) responses.add(schemaOfProblems(codes), { id: own });
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
  return { schemas, inputs, outputs, refusals };
}

/** The group of an operation. */
function tagOf({ plugin }: Route): { name: string; description: string } {
  return plugin === undefined
    ? { name: 'core', description: 'Accounts and their sessions' }
    : { name: plugin, description: `The routes of the plugin ${plugin}` };
}

/** Describes who can call a route, and its other requirements. */
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
  'session-or-none': 'Requires no session, but uses the session that the request presents.',
  admin: "Requires an administrator's session.",
};

const UNEXPECTED = { description: "An unexpected error, in the format of the app's error handler" };

const shapedProblem = z
  .unknown()
  .describe("The body of an error response, in this app's own format: any JSON value except null");

function answers(route: Route, outputs: Map<unknown, string>) {
  return Object.fromEntries(
    Object.entries(route.answers).map(([status, answer]) => [
      status,
      {
        description: answer.description,
        ...(answer.file && { headers: { 'Content-Disposition': nameOfFile(answer.file) } }),
        ...(outputs.has(answer) && { content: json(outputs.get(answer)) }),
      },
    ]),
  );
}

function nameOfFile(file: string) {
  const description = 'Makes a browser save the body as a file';
  return { description, required: true, schema: { type: 'string', const: attachment(file) } };
}

/** Describes the problems of a route: their codes in words and, by the schema, for programs. */
function problems(core: Core, route: Route, refusals: ReadonlyMap<string, string>) {
  const type = core.settings.problems ? 'application/json' : 'application/problem+json';
  return Object.fromEntries(
    Object.entries(problemsOf(core, route)).map(([status, codes]) => [
      status,
      { description: codes.join(', '), content: content(type, refusals.get(codes.join())) },
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
  const inHeader = Object.entries(route.headers ?? {}).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  }));
  return [...inPath, ...inQuery, ...inHeader];
}

function securitySchemes({ carriers }: Core) {
  return Object.fromEntries(carriers.map(({ via, securityScheme }) => [via, securityScheme]));
}

/** Returns the credentials that a route accepts. Any one of them is enough. */
function securityOf({ carriers }: Core, { access, byCookieOnly }: Route) {
  if (access === 'public') return [];
  const accepted = carriers
    .filter(({ presentsSession }) => access === 'authenticated' || presentsSession)
    .filter(({ via }) => !byCookieOnly || via === 'cookie');
  // An empty requirement means that the credential is optional.
  return [...accepted.map(({ via }) => ({ [via]: [] })), ...(access === 'session-or-none' ? [{}] : [])];
}

/** Names an operation: `DELETE /sessions/:id` becomes `deleteSessionsById`. */
function operationId({ method, path }: Route): string {
  return method + inCapitals(path.replace(/:(\w+)/g, 'by-$1'));
}

/** Joins words: `rate_limited` becomes `RateLimited`. */
function inCapitals(words: string): string {
  return words.replace(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9]?)/g, (_match, first: string) => first.toUpperCase());
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
      'Where to redirect afterwards: a path of this origin, or a URL of a trusted origin. By default the root of this app',
  },
  error_to: {
    type: 'string',
    description: 'Where to redirect after an error, like redirect_to. By default the page that sent the form',
  },
} satisfies Record<(typeof FORM_PAGES)[number], object>;

const PAGE_OF_SECOND_FACTOR = {
  type: 'string',
  description:
    'Where to redirect if the account requires a second factor, like redirect_to. By default /second-factor of this app',
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
    ...Object.fromEntries(
      Object.entries(route.formFields ?? {}).map(([name, description]) => [
        name,
        { type: 'string', description },
      ]),
    ),
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

/** Adds the fields that only forms have, such as the pages to redirect to, to the schema of a body. */
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
  return content('application/json', name);
}

function content(type: string, name: string | undefined) {
  return { [type]: { schema: { $ref: `#/components/schemas/${name}` } } };
}
