import { expect, test } from '@jest/globals';
import { route } from '../lib/http/route.js';
import { authRouter, createAuth } from '../lib/index.js';
import { definePlugin, type Plugin, type PluginSetup } from '../lib/plugin.js';
import { column } from '../lib/tables/column.js';
import { declareTable, type TableDeclaration } from '../lib/tables/table.js';
import { UsernameRules } from '../lib/users/usernames.js';
import { password, SECRET } from './support/app.js';

const plugin = (name: string, parts: Partial<PluginSetup>) =>
  definePlugin({ name, setup: () => ({ api: null, ...parts }) });

const open = (first: Partial<PluginSetup>, second: Partial<PluginSetup>) =>
  createAuth({
    database: 'sqlite::memory:',
    secret: SECRET,
    plugins: [password(), plugin('second', second), plugin('first', first)],
  });

const table = (name: string, parts: Partial<TableDeclaration> = {}) =>
  declareTable({
    name,
    columns: {
      id: column.uuid().exported(),
      userId: column.uuid().exported(),
      atTime: column.time().exported(),
    },
    exported: 'It belongs to a spec.',
    ...(parts as object),
  });

const twoOf = (what: string) =>
  new TypeError(`latchkey: first() and second() both define ${what}: remove one of them from plugins`);
const oursToo = (what: string) =>
  new TypeError(`latchkey: the core and second() both define ${what}: remove second() from plugins`);

const exported = { as: 'reports', by: 'userId' };
const first = {
  Report: table('reports', {
    ofUser: 'reports',
    exported,
    indexes: { atTime: ['atTime'] },
    unique: { one: ['id'] },
  }),
};

test.each<[string, Record<string, TableDeclaration>, TypeError]>([
  ['model', { Report: table('others') }, twoOf('the model Report')],
  ['model as the core', { User: table('others') }, oursToo('the model User')],
  ['table', { Other: table('reports') }, twoOf('the table or index reports')],
  ['table as the core', { Other: table('sessions') }, oursToo('the table or index sessions')],
  [
    'name for a table and an index',
    { Other: table('reports_at_time') },
    twoOf('the table or index reports_at_time'),
  ],
  [
    'name for two indexes of different tables',
    { Other: table('reports_at', { indexes: { time: ['atTime'] } }) },
    twoOf('the table or index reports_at_time'),
  ],
  [
    'name for an index and a constraint',
    { Other: table('reports_one', { indexes: { unique: ['atTime'] } }) },
    twoOf('the table or index reports_one_unique'),
  ],
  [
    'association',
    { Other: table('others', { ofUser: 'reports' }) },
    twoOf('the association reports of User'),
  ],
  [
    'association as the core',
    { Other: table('others', { ofUser: 'devices' }) },
    oursToo('the association devices of User'),
  ],
  ['key in exports', { Other: table('others', { exported }) }, twoOf('the key reports of exports')],
])('two plugins with the same %s are refused by createAuth', (_what, tables, error) => {
  expect(() => open({ tables: first }, { tables })).toThrow(error);
});

test('two plugins that both give accounts usernames are refused by createAuth', () => {
  const named = (name: string) =>
    definePlugin({ name, accounts: { usernames: new UsernameRules() }, setup: () => ({ api: null }) });
  const of = (...plugins: Plugin[]) => createAuth({ database: 'sqlite::memory:', secret: SECRET, plugins });
  expect(() => of(named('second'), named('first'))).toThrow(twoOf('the usernames of accounts'));
  expect(() => of(named('second'), password())).not.toThrow();
});

test('two plugins with tables of their own are not refused', () => {
  open({ tables: first }, { tables: { Other: table('others', { ofUser: 'others' }) } });
});

test('two plugins with the same route are refused when the routes are created', () => {
  const of = (path: string) => ({
    routes: () => [
      route({
        method: 'delete',
        path,
        summary: 'Try something',
        access: 'public',
        answers: { 204: { description: 'Done' } },
        handle: async () => ({ status: 204 }),
      }),
    ],
  });
  for (const [one, other, error] of [
    ['/reports/:id', '/Reports/:report', twoOf('the route DELETE /Reports/:id')],
    ['/reports', '/sessions/:session', oursToo('the route DELETE /sessions/:id')],
  ] as const) {
    const auth = open(of(one), of(other));
    expect(() => authRouter(auth)).toThrow(error);
    expect(() => auth.openapi()).toThrow(error);
  }
  authRouter(open(of('/reports'), of('/reports/:id')));
});

test('a plugin of another version of latchkey is refused, because the core would ignore what it adds', () => {
  const foreign = { ...plugin('twoFactor', {}), [Symbol.for('latchkey.plugin')]: 99 };
  expect(() =>
    createAuth({ database: 'sqlite::memory:', secret: SECRET, plugins: [password(), foreign] }),
  ).toThrow(
    new TypeError(
      'latchkey: the plugin twoFactor comes from another version of latchkey: install one version only',
    ),
  );
});
