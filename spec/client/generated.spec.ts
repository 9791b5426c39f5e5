import { readdir, readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import * as z from 'zod';
import { problemSchema } from '../../lib/http/problem.js';
import { named } from '../../lib/http/route.js';
import { folder, generated } from '../../scripts/client/files.js';
import { type Method, methodsOf } from '../../scripts/client/methods.js';
import { type Server, servers } from '../../scripts/client/servers.js';
import { Source } from '../../scripts/client/source.js';
import { merged, type Type, Types } from '../../scripts/client/types.js';

const types = new Types();
let all: readonly Server[];
let methods: readonly Method[];
beforeAll(() => {
  all = servers();
  methods = methodsOf(all, types);
});

describe('lib/client/generated', () => {
  test('is what `npm run client` writes', async () => {
    const files = await generated();
    expect((await readdir(folder)).sort()).toEqual([...files.keys()].sort());
    const present = await Promise.all(
      [...files.keys()].map(async (name) => [name, await readFile(new URL(name, folder), 'utf8')] as const),
    );
    const stale = present.filter(([name, source]) => source !== files.get(name)).map(([name]) => name);
    if (stale.length > 0) throw new Error(`${stale.join(' and ')} must be written again: npm run client`);
  });
});

describe('the methods of the client', () => {
  test('call every route, except what only browsers open, and the OpenAPI document', () => {
    const routes = all.flatMap((server) => server.routes);
    const others = routes.filter(({ client }) => client === undefined);
    expect([...new Set(others.map(({ method, path }) => `${method} ${path}`))].sort()).toEqual([
      'get /oauth/:provider/callback',
      'get /openapi.json',
      'post /oauth/:provider/callback',
    ]);
  });

  test('are declared to do something to the session if their data has the user or the session', () => {
    const silent = methods.filter(({ route, data }) => {
      const isOfUser = namesIn(data).some((name) => name === 'User' || name === 'Session');
      return route.method !== 'get' && isOfUser && !route.session;
    });
    expect(silent.map(({ name }) => name)).toEqual([]);
  });

  test('are members of the client, which has a member for each plugin', async () => {
    const source = await readFile(new URL('../../lib/client/client.ts', import.meta.url), 'utf8');
    const [, members = ''] = /interface PluginClients<[^{]*\{\n([\s\S]*?)\n\}/.exec(source) ?? [];
    const plugins = methods.flatMap(({ name }) => (name.includes('.') ? name.split('.')[0] : []));
    const named = [...members.matchAll(/^ {2}readonly (\w+):/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual([...new Set(plugins)].sort());
  });

  test('are named in docs/client.md, with the ceremonies', async () => {
    const page = await readFile(new URL('../../docs/client.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `client\.?(\w*)` \| (.*) \|$/gm)].flatMap(([, object, row = '']) =>
      [...row.matchAll(/`(\w+)`/g)].map(([, name]) => [object, name].filter(Boolean).join('.')),
    );
    const ceremonies = ['create', 'signIn', 'completeSignIn', 'reauthenticate', 'undoChange', 'routes'];
    const names = methods.map(({ name }) => name).filter((name) => !name.startsWith('passkeys.routes.'));
    expect(rows.sort()).toEqual([...names, ...ceremonies.map((name) => `passkeys.${name}`)].sort());
  });

  test('an error has every member of a problem that is not in its headers', () => {
    expect(Object.keys(problemSchema.shape).sort()).toEqual(
      ['code', 'detail', 'errors', 'missing', 'status', 'task', 'title', 'type'].sort(),
    );
  });
});

/** The names of the shapes in a type, and of those within them. */
function namesIn(type: Type): readonly string[] {
  return type.flatMap((one) => {
    if ('name' in one) return [one.name, ...namesIn(types.named.get(one.name)?.type ?? [])];
    if ('items' in one) return namesIn(one.items);
    return 'members' in one ? [...one.members.values()].flatMap((member) => namesIn(member.type)) : [];
  });
}

describe('a type', () => {
  const sourceOf = (...schemas: readonly z.ZodType[]) => {
    const types = new Types();
    const type = schemas.map((schema) => types.of(schema, 'output')).reduce(merged);
    return new Source(types).type(type, true);
  };
  const known = { id: z.string() };

  test.each<[what: string, schemas: readonly z.ZodType[], source: string]>([
    ['a string or null', [z.string().nullable()], 'string | null'],
    ['a list', [z.array(z.string().nullable())], 'readonly (string | null)[]'],
    ['words', [z.enum(['on', 'off'])], "'on' | 'off'"],
    ['a time', [z.iso.datetime()], 'string'],
    [
      'any JSON',
      [z.object({ ...known, app: z.unknown() })],
      '{ readonly id: string; readonly app: unknown; }',
    ],
    [
      'what some servers leave out',
      [z.object({ ...known, name: z.string() }), z.object(known)],
      "{ readonly id: string; \n/** Depends on the server's config. */\nreadonly name?: string; }",
    ],
    [
      'what is null on some servers',
      [z.object({ ...known, name: z.string() }), z.object({ ...known, name: z.string().nullable() })],
      '{ readonly id: string; readonly name: string | null; }',
    ],
    ['no body on some servers', [z.object(known), z.null()], '{ readonly id: string; } | null'],
    [
      'objects with different kinds',
      [
        z.union([
          z.object({ kind: z.literal('code'), code: z.string() }),
          z.object({ kind: z.literal('email'), code: z.string() }),
          z.object({ kind: z.literal('key'), response: z.string() }),
        ]),
      ],
      "{ readonly kind: 'code' | 'email'; readonly code: string; } | { readonly kind: 'key'; readonly response: string; }",
    ],
    ['a shape with a name', [z.array(named('Thing', 'A thing', z.object(known)))], 'readonly Thing[]'],
  ])('%s', (_what, schemas, source) => {
    expect(sourceOf(...schemas)).toBe(source);
  });
});
