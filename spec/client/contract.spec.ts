import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PLUGINS } from '../../lib/client/client.js';
import { CORE } from '../../lib/client/core.js';
import { PASSKEY_ROUTES } from '../../lib/client/passkeys.js';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

/** Compares the interfaces of the client, which are written by hand, with the OpenAPI document of a server with all on. */

interface Schema {
  readonly $ref?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

interface Operation {
  readonly parameters?: readonly { in: string; name: string; schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> };
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Schema }>> }>>;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

const root = fileURLToPath(new URL('../..', import.meta.url));
const auth = createAuth({
  database: 'sqlite:./unused.db',
  secret: SECRET,
  baseUrl: 'http://localhost:3000',
  bearerEnabled: true,
  email: { send: () => undefined },
  user: { fields: { plan: { type: 'string' }, seats: { type: 'integer', required: true } } },
  tasks: { onboarding: { open: () => false, page: '/welcome' } },
  plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
});
const { paths, components } = auth.openapi();
const operations = new Map(
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      `${method.toUpperCase()} ${path.replace(/{(\w+)}/g, ':$1')}`,
      operation as Operation,
    ]),
  ),
);

/** What browsers alone call, and the document itself. */
const LEFT_OUT = ['GET /oauth/:provider/callback', 'POST /oauth/:provider/callback', 'GET /openapi.json'];

const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': CORE,
  ...PLUGINS,
  'passkeys.routes': PASSKEY_ROUTES,
};
const methods = Object.entries(groups).flatMap(([group, routes]) =>
  Object.entries(routes).map(([name, text]) => {
    const [method = '', path = '', ...marks] = text.split(' ');
    return { name: group ? `${group}.${name}` : name, route: `${method} ${path}`, marks };
  }),
);

/** The schema of the input: the body in JSON, or the query as an object. */
function inputOf({ parameters = [], requestBody }: Operation): Schema | undefined {
  const query = parameters.filter((one) => one.in === 'query');
  if (query.length === 0) return requestBody?.content[JSON_TYPE]?.schema;
  return { type: 'object', properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])) };
}

/** A schema as a type of TypeScript. */
function typeOf(schema: Schema | undefined): string {
  if (!schema) return 'null';
  if (schema.$ref)
    return typeOf(components.schemas[schema.$ref.replace('#/components/schemas/', '')] as Schema);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  const either = schema.anyOf ?? schema.oneOf;
  if (either) return either.map((one) => `(${typeOf(one)})`).join(' | ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  switch (schema.type) {
    case 'object': {
      const members = Object.entries(schema.properties ?? {}).map(
        ([key, value]) => `${key}${schema.required?.includes(key) ? '' : '?'}: ${typeOf(value)}`,
      );
      return `{ ${members.join('; ')} }`;
    }
    case 'array':
      return `(${typeOf(schema.items)})[]`;
    case 'integer':
      return 'number';
    case 'string':
    case 'number':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'any';
  }
}

/** The codes of an operation. The client sends no forms. */
function codesOf({ requestBody, responses }: Operation): string[] {
  const codes = Object.values(responses).flatMap(({ content = {} }) => {
    const { $ref = '' } = content['application/problem+json']?.schema ?? {};
    const problem = components.schemas[$ref.replace('#/components/schemas/', '')] as Schema | undefined;
    const { enum: several, const: one } = problem?.properties?.code ?? {};
    return several ?? (one === undefined ? [] : [one]);
  });
  const takesForms = requestBody && FORM_TYPE in requestBody.content;
  return [...new Set(codes.map(String))].filter((code) => !takesForms || code !== 'invalid_callback_url');
}

function dataOf({ responses }: Operation): string {
  const schemas = Object.entries(responses)
    .filter(([status]) => /^2/.test(status))
    .map(([, { content }]) => content?.[JSON_TYPE]?.schema);
  return schemas.map((schema) => `(${typeOf(schema)})`).join(' | ');
}

const PRELUDE = `
  import type { Client } from 'latchkey/client';
  interface Shape {
    plugins: ${Object.keys(PLUGINS)
      .map((name) => `'${name}'`)
      .join(' | ')};
    // Users can be older than a required field, so the document says that it can be null.
    fields: { plan: string | null; seats: number | null };
    newFields: { plan?: string | null; seats: number };
    bearer: true;
  }
  declare const client: Client<Shape>;
  type Outcome<M> = M extends (...given: never[]) => Promise<infer R> ? R : never;
  type DataOf<R> = R extends { data: infer D; error: null } ? D : never;
  type CodeOf<R> = R extends { error: { code: infer C } } ? C : never;
  type Data<M> = DataOf<Outcome<M>>;
  type Code<M> = CodeOf<Outcome<M>>;
  // What the client adds.
  type Sent<T> = T extends object ? (T extends { step: unknown } ? Omit<T, 'step' | 'task'> : T) : T;
  type Flat<T> = T extends readonly (infer One)[]
    ? Flat<One>[]
    : T extends object
      ? { [K in keyof T as string extends K ? never : K]-?: Flat<T[K]> }
      : T;
  /** With the same members and types. Which members are optional can differ. */
  type Same<A, B> = [Flat<A>] extends [Flat<B>] ? ([Flat<B>] extends [Flat<A>] ? true : false) : false;
  type Fits<A, B> = [A] extends [B] ? true : false;
`;

/** Bodies that can lack a member that this server requires. */
const LOOSER = [
  // The email, with another \`identifier\`.
  'credential.signUp',
];
/** Data with any members, which the plugins of the server decide. */
const OPEN = ['exportMe'];
/** Data that is null on some servers. */
const NULLABLE = ['credential.signUp'];

const lines = methods.flatMap(({ name, route }) => {
  const operation = operations.get(route);
  if (!operation) return [];
  const at = `typeof client.${name}`;
  const data = NULLABLE.includes(name) ? `NonNullable<Data<${at}>>` : `Data<${at}>`;
  const parameters = route.split(':').length - 1;
  const input = `NonNullable<Parameters<${at}>[${parameters}]>`;
  const wanted = typeOf(inputOf(operation));
  const codes = ["'network'", "'unexpected'", ...codesOf(operation).map((code) => `'${code}'`)].join(' | ');
  return [
    ...(OPEN.includes(name) ? [] : [[`${name}: data`, `Same<Sent<${data}>, ${dataOf(operation)}>`]]),
    [`${name}: data that the server sends`, `Fits<${dataOf(operation)}, Sent<${data}>>`],
    [`${name}: codes`, `Same<Code<${at}>, ${codes}>`],
    ...(inputOf(operation)
      ? [
          [`${name}: input`, `Same<${input}, ${wanted}>`],
          ...(LOOSER.includes(name)
            ? []
            : [[`${name}: input that the server accepts`, `Fits<${input}, ${wanted}>`]]),
        ]
      : []),
  ] as [check: string, type: string][];
});

let folder: string;
let complaints: string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-client-'));
  const checks = lines.map(([, type], index) => `export const check${index}: ${type} = true;`);
  const start = PRELUDE.split('\n').length;
  await writeFile(join(folder, 'checks.mts'), [PRELUDE, ...checks].join('\n'));
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.json'),
      compilerOptions: {
        lib: ['es2024', 'dom'],
        types: [],
        paths: { 'latchkey/client': [join(root, 'lib/client.ts')] },
      },
      files: ['checks.mts'],
      include: [],
    }),
  );
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const options = { maxBuffer: 1e8 };
  const output = await promisify(execFile)(
    process.execPath,
    [compiler, '-p', folder, '--pretty', 'false'],
    options,
  ).then(
    () => '',
    (error: { stdout: string }) => error.stdout,
  );
  complaints = output
    .split('\n')
    .filter((line) => line.includes('error TS'))
    .map((line) => {
      const [, number] = /checks\.mts\((\d+),/.exec(line) ?? [];
      return number ? (lines[Number(number) - start - 1]?.[0] ?? line) : line;
    });
}, 180_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the methods of the client', () => {
  test('call every route once, except forms and what only browsers call', () => {
    const isForm = ({ requestBody, responses }: Operation) =>
      requestBody &&
      !(JSON_TYPE in requestBody.content) &&
      !Object.keys(responses).some((one) => /^2/.test(one));
    const called = methods.map(({ route }) => route);
    const wanted = [...operations].filter(([, operation]) => !isForm(operation)).map(([route]) => route);
    expect(called.sort()).toEqual(wanted.filter((route) => !LEFT_OUT.includes(route)).sort());
    expect(LEFT_OUT.filter((route) => !operations.has(route))).toEqual([]);
  });

  test('take an input where the route has a body or a query', () => {
    const wrong = methods.filter(({ route, marks }) => {
      const operation = operations.get(route);
      return operation && marks.includes('input') !== (inputOf(operation) !== undefined);
    });
    expect(wrong).toEqual([]);
  });

  test('add a step to every sign-in, and to nothing else', () => {
    const signs = methods.filter(({ marks }) => marks.includes('signs')).map(({ name }) => name);
    expect(signs.sort()).toEqual([
      'completeSignIn',
      'credential.signIn',
      'emailSignIn.confirm',
      'passkeys.routes.signIn',
    ]);
  });

  test('have the bodies, data and codes of the routes', () => {
    expect(lines.length).toBeGreaterThan(200);
    expect(complaints).toEqual([]);
  });

  test('an error has every member of a problem that is not in its headers', () => {
    const members = Object.entries(components.schemas)
      .filter(([name]) => /Problem\d*$/.test(name))
      .flatMap(([, schema]) => Object.keys((schema as Schema).properties ?? {}));
    expect([...new Set(members)].sort()).toEqual(
      ['code', 'detail', 'errors', 'missing', 'status', 'task', 'title', 'type'].sort(),
    );
  });
});
