import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import type { Route } from '../../lib/http/route.js';

/**
 * The contract of every route: who can call it, from where, and with which methods, parameters and bodies.
 * `docs/routes.md` lists who can call a route; the rest follows from its declaration.
 */

/** Who can call a route, in the words of docs/routes.md. */
export type Needs =
  | 'nothing'
  | 'session or API key'
  | 'session'
  | 'session or pending sign-in'
  | 'administrator';

/** Who sends a request. */
export type Caller =
  | 'nobody'
  | 'a dead cookie'
  | 'a program'
  | 'a user'
  | 'an administrator'
  | 'a user of long ago'
  | 'an administrator of long ago'
  | 'an administrator with one of two factors';

/** A route, with its entry in the page. */
export interface Listed {
  readonly route: Route;
  /** The method and the path, such as `POST /me/delete`. */
  readonly name: string;
  readonly needs: Needs;
  /** Whether the page requires a recent sign-in, without an alternative. */
  readonly fresh: boolean;
  /** Whether it accepts an HTML form. */
  readonly takesForm: boolean;
  /** The methods of all routes with its path. */
  readonly methods: readonly string[];
}

/** A request. Parts that are left out are as the route requires them. */
export interface Sent {
  readonly method?: string;
  readonly as?: Caller;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** The content type of the body. `null` for a body without a type. @default application/json */
  readonly type?: string | null;
  /** The wrong field, which the response must name. */
  readonly pointer?: string;
}

export interface Row {
  readonly name: string;
  readonly applies: (one: Listed) => boolean;
  readonly sent: (one: Listed) => readonly Sent[];
  readonly status: number;
  readonly code: string;
  /** Routes that follow the rule in another way, and why. */
  readonly exempt?: Readonly<Record<string, string>>;
  /** Whether the rule also applies if the app has already parsed the body. @default true for rows of the body */
  readonly parsed?: boolean;
}

const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`;
const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'options'];

function needsOf(text: string): Needs {
  if (
    text === '' ||
    /^(that cookie|a pending sign-in|only with|a session of the invited address, or none)/.test(text)
  )
    return 'nothing';
  if (text.startsWith('session or API key')) return 'session or API key';
  if (text.startsWith('session, or a pending sign-in')) return 'session or pending sign-in';
  if (/^(the )?session\b|^member\b|^`(organization|member|invitation):/.test(text)) return 'session';
  if (/^admin\b/.test(text)) return 'administrator';
  throw new TypeError(`docs/routes.md says of a route that it needs ${text}, which this table does not know`);
}

/** Returns the entry of each route in docs/routes.md. */
async function page(): Promise<Map<string, string>> {
  const text = await readFile(new URL('../../docs/routes.md', import.meta.url), 'utf8');
  const lines = text.matchAll(/^\| ([A-Z, ]+) `([^`]+)` \|([^|]*)\|/gm);
  return new Map(
    [...lines].flatMap(([, methods = '', path = '', needs = '']) =>
      methods.split(', ').map((method) => [`${method} ${path}`, needs.trim()] as const),
    ),
  );
}

/** @throws TypeError if the page does not list a route */
export async function listed(
  routes: readonly Route[],
  takesForm: (route: Route) => boolean,
): Promise<Listed[]> {
  const needs = await page();
  return routes.map((route) => {
    const name = nameOf(route);
    const text = needs.get(name);
    if (text === undefined) throw new TypeError(`docs/routes.md does not list ${name}`);
    const methods = routes.filter(({ path }) => path === route.path).map(({ method }) => method);
    return {
      route,
      name,
      needs: needsOf(text),
      fresh: /\bfresh\b(?!.* or `password`)/.test(text),
      takesForm: takesForm(route),
      methods,
    };
  });
}

/** Returns the caller that the route admits. */
export function admitted({ needs }: Listed): Caller {
  if (needs === 'nothing') return 'nobody';
  return needs === 'administrator' ? 'an administrator' : 'a user';
}

const isUnsafe = ({ route }: Listed) => route.method !== 'get';
const takesJson = (one: Listed) =>
  isUnsafe(one) && one.route.forms !== 'only' && one.route.formPost === undefined;

export const ACCESS: readonly Row[] = [
  {
    name: 'without a session',
    applies: ({ needs }) => needs !== 'nothing',
    sent: () => [{ as: 'nobody' }],
    status: 401,
    code: 'unauthenticated',
  },
  {
    name: 'with a cookie that opens nothing',
    applies: ({ needs }) => needs !== 'nothing',
    sent: () => [{ as: 'a dead cookie' }],
    status: 401,
    code: 'invalid_session',
  },
  {
    name: 'with an API key',
    applies: ({ needs }) => needs !== 'nothing' && needs !== 'session or API key',
    sent: () => [{ as: 'a program' }],
    status: 403,
    code: 'session_required',
  },
  {
    name: 'to users who are no administrators',
    applies: ({ needs }) => needs === 'administrator',
    sent: () => [{ as: 'a user' }],
    status: 403,
    code: 'admin_required',
  },
  {
    name: 'long after the sign-in',
    // If a password in the body is an alternative, spec/http/recent.express.walk.spec.ts sends one.
    applies: ({ fresh, route }) => fresh || route.sensitive?.asks === 'fresh',
    sent: (one) => [{ as: `${admitted(one)} of long ago` as Caller }],
    status: 403,
    code: 'reauthentication_required',
  },
  {
    // The changes by users are in spec/sessions/second-factor-rules.spec.ts, which sends requests that would succeed.
    name: 'with one factor of two, to administrators who change something',
    applies: ({ needs, route }) => needs === 'administrator' && route.sensitive !== undefined,
    sent: () => [{ as: 'an administrator with one of two factors' }],
    status: 403,
    code: 'second_factor_required',
  },
  {
    name: 'from another site',
    applies: isUnsafe,
    sent: () =>
      [
        ['sec-fetch-site', 'cross-site'],
        ['origin', 'https://evil.example'],
        ['origin', 'null'],
      ].map(([name = '', value = '']) => ({ headers: { [name]: value } })),
    status: 403,
    code: 'origin_not_allowed',
    exempt: {
      'POST /oauth/:provider/callback':
        'a page of the provider sends the form, and the flow is bound to the browser',
    },
  },
  {
    name: 'from a page of another site, although it is read with GET, since it begins a flow',
    applies: ({ route }) => route.method === 'get' && 302 in route.answers,
    sent: () => [{ headers: { 'sec-fetch-site': 'cross-site' } }],
    status: 403,
    code: 'origin_not_allowed',
  },
  {
    name: 'with another method',
    // Apply it once for each path.
    applies: ({ route, methods }) => methods[0] === route.method,
    sent: ({ methods }) =>
      METHODS.filter((method) => !methods.includes(method)).map((method) => ({ method, as: 'nobody' })),
    status: 405,
    code: 'method_not_allowed',
  },
  {
    name: 'with a parameter twice, as a list, or with a NUL',
    applies: ({ route }) => route.query !== undefined,
    sent: ({ route: { query } }) =>
      query instanceof z.ZodObject
        ? Object.keys(query.shape).flatMap((key) =>
            ['=a&@=a', '[]=a', '[a][b]=c', '=a%00b'].map((rest) => ({
              query: `${key}${rest.replace('@', key)}`,
            })),
          )
        : [{ query: 'state=a&state=b' }],
    status: 400,
    code: 'invalid_request',
  },
];

const FORM = 'application/x-www-form-urlencoded';
const MAX_BYTES = 16 * 1024;
/** A value that a client has typed, which no response repeats. */
export const TYPED = 'typed by somebody';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

const partsOf = ({ anyOf = [], oneOf = [] }: JsonSchema) => [...anyOf, ...oneOf];

/** The possible shapes of a route's body, with the fields that determine the shape. */
function shapesOf({ route: { body } }: Listed) {
  if (!body) return [];
  const schema = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  const variants = partsOf(schema);
  return (variants.length > 0 ? variants : [schema]).map(({ properties = {}, required = [] }) => {
    const deciding = variants.length > 0 ? Object.entries(properties) : [];
    const lead = Object.fromEntries(
      deciding.flatMap(([name, { const: only, enum: [first] = [only] }]) =>
        first === undefined ? [] : [[name, first]],
      ),
    );
    const fields = Object.entries(properties).filter(([name]) => !(name in lead));
    return { lead, fields, required: required.filter((name) => !(name in lead)) };
  });
}

/** A value of each type of JSON. */
const SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  null: [null],
  number: [12345678],
  boolean: [true],
  array: [[], ['ada@example.com']],
  object: [{ $ne: null }, { toString: 'x', length: 9 }],
  string: ['true', ''],
};

function* wrongValues(field: JsonSchema): Generator<unknown> {
  const all = [field, ...partsOf(field)];
  // The route itself checks such a value, and only if it needs the value.
  if (all.some((part) => Object.keys(part).length === 0)) return;
  const types = all.flatMap(({ type = [], enum: values = [] }) =>
    [type, values.map((one) => typeof one)].flat(2),
  );
  const given = types.map((type) => (type === 'integer' ? 'number' : type));
  for (const [type, values] of Object.entries(SAMPLES)) if (!given.includes(type)) yield* values;
  const text = all.find(({ type }) => type === 'string');
  if (!text) return;
  yield* ['ada\ud800lovelace', 'ada\0lovelace@example.com'];
  if (text.minLength) yield '';
  // Without a maximum, this would be accepted.
  yield 'a'.repeat((text.maxLength ?? 10_000) + 1);
}

const json = (value: unknown): Sent => ({ body: JSON.stringify(value) });

export const BODIES: readonly Row[] = [
  {
    name: 'in another type, character set or encoding',
    applies: takesJson,
    sent: ({ takesForm }) =>
      [
        'text/plain',
        'text/html',
        'multipart/form-data; boundary=x',
        'application/jsonp',
        'nonsense',
        null,
        ...(takesForm ? [] : [FORM]),
      ].map((type) => ({ body: '{}', type })),
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'in another character set or encoding',
    applies: takesJson,
    sent: () => [
      ...['utf-16', 'latin1'].map((charset) => ({
        body: '{}',
        type: `application/json; charset=${charset}`,
      })),
      ...['gzip', 'nonsense'].map((encoding) => ({ body: '{}', headers: { 'content-encoding': encoding } })),
    ],
    status: 415,
    code: 'unsupported_media_type',
    parsed: false,
  },
  {
    name: 'that is JSON, on a path for forms',
    applies: ({ route }) => route.forms === 'only',
    sent: () => [{ body: '{}' }],
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'that is missing, although something is required',
    applies: (one) => takesJson(one) && shapesOf(one).some(({ required }) => required.length > 0),
    sent: () => [{}],
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'of more than 16 KiB',
    applies: takesJson,
    sent: () => [{ body: '{}'.padEnd(MAX_BYTES + 1) }, { body: `{"x":"${'x'.repeat(100_000)}"}` }],
    status: 413,
    code: 'body_too_large',
  },
  {
    name: 'that is malformed',
    applies: takesJson,
    sent: () =>
      [
        '{',
        '{"a":1,}',
        "{'a':1}",
        'undefined',
        '{"a":NaN}',
        '\0',
        '<xml/>',
        '{} {}',
        '['.repeat(MAX_BYTES),
        Buffer.from([...Buffer.from('{"email":"'), 0xc3, 0x28, 0xff, 0xfe, ...Buffer.from('"}')]),
      ].map((body) => ({ body })),
    status: 400,
    code: 'invalid_json',
    parsed: false,
  },
  {
    name: 'that is no object',
    applies: takesJson,
    sent: () => [5, 'text', true, [], [{}]].map(json),
    status: 422,
    code: 'validation_failed',
    // Parsers of apps reject most of these themselves.
    parsed: false,
  },
  {
    name: 'with keys that are not declared',
    applies: takesJson,
    sent: (one) => {
      const shapes = shapesOf(one);
      const [{ lead } = { lead: {} }] = shapes;
      const names = ['id', 'role', 'is_admin', 'emailVerifiedAt', 'auth_epoch', 'constructor', 'a/b~c', ''];
      const declared = shapes.flatMap(({ fields }) => fields.map(([name]) => name));
      return names
        .filter((name) => !declared.includes(name))
        .map((name) => ({
          ...json({ ...lead, [name]: 'x' }),
          pointer: `/${name.replace('~', '~0').replace('/', '~1')}`,
        }));
    },
    status: 422,
    code: 'validation_failed',
  },
  {
    name: 'with a field of another type, of ill-formed Unicode, or too long',
    applies: (one) => takesJson(one) && shapesOf(one).some(({ fields }) => fields.length > 0),
    sent: (one) =>
      shapesOf(one).flatMap(({ lead, fields }) => {
        const typed = Object.fromEntries(fields.map(([name]) => [name, TYPED]));
        return fields.flatMap(([name, field]) =>
          [...wrongValues(field)].map((value) => ({
            ...json({ ...typed, ...lead, [name]: value }),
            pointer: `/${name}`,
          })),
        );
      }),
    status: 422,
    code: 'validation_failed',
  },
  {
    name: 'without what is required',
    applies: (one) => takesJson(one) && shapesOf(one).some(({ required }) => required.length > 0),
    sent: (one) =>
      shapesOf(one).flatMap(({ lead, required }) =>
        required.map((name) => ({ ...json(lead), pointer: `/${name}` })),
      ),
    status: 422,
    code: 'validation_failed',
  },
];
