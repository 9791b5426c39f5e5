import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, roles } from '../../../lib/index.js';
import { formIn, formsIn, PageVisitor, startPages } from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const helper = { email: 'helper@example.com', password: 'a root of all admins' };
const start = () =>
  startPages([
    password(),
    admin({ adminEmails: [root.email], role: 'admin' }),
    roles({
      roles: { admin: ['posts:write'], editor: ['posts:write'], owner: ['*'], reader: ['posts:read'] },
      default: 'reader',
    }),
  ] as const);

let app: Awaited<ReturnType<typeof start>>['app'];
let visitor: PageVisitor;
let rootId: string;
let id: string;
beforeAll(async () => {
  ({ app } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  rootId = (await app.auth.users.create({ ...root, emailVerified: true })).id;
  id = (await app.auth.users.create({ ...ada, emailVerified: true })).id;
  visitor = await new PageVisitor(app.origin).signIn(root);
});

const pathOf = (userId: string) => `/auth/administration/users/${userId}`;
const fact = ({ body }: { body: string }) => /<dt>Roles<\/dt><dd>([^<]*)</.exec(body)?.[1];
/** The boxes of the form, with what a browser sends. */
const boxes = ({ body }: { body: string }) => {
  const form = /<form [^>]*action="[^"]*\/roles"[^>]*>(.*?)<\/form>/s.exec(body)?.[1] ?? '';
  return [...form.matchAll(/<input ([^>]*type="checkbox"[^>]*)>/g)].map(([, one = '']) => {
    const value = /value="([^"]*)"/.exec(one)?.[1];
    const states = ['checked', 'disabled'].filter((state) => new RegExp(` ${state}\\b`).test(` ${one}`));
    return [value, ...states].join(' ');
  });
};
const byRole = async () => {
  const user = await app.auth.users.create({ ...helper, emailVerified: true });
  await app.auth.roles.set(user.id, ['admin']);
  return new PageVisitor(app.origin).signIn(helper);
};

describe('the roles of a user', () => {
  test('are shown, and changed by checkboxes', async () => {
    const before = await visitor.get(pathOf(id));
    expect([fact(before), boxes(before)]).toEqual(['None', ['admin', 'editor', 'owner']]);
    const sent = await visitor.submit(before, `/${id}/roles`, { roles: 'editor owner' });
    expect(sent.location).toBe(`${pathOf(id)}?done=user-roles-changed`);
    const after = await visitor.follow(sent);
    expect(after.body).toContain('The roles were changed.');
    expect([fact(after), boxes(after)]).toEqual([
      'editor, owner',
      ['admin', 'editor checked', 'owner checked'],
    ]);
    // A browser sends nothing for unchecked boxes.
    const none = await visitor.submit(after, `/${id}/roles`, { roles: undefined });
    expect(fact(await visitor.follow(none))).toBe('None');
  });

  test('that are no longer configured stay, and can be taken', async () => {
    await rows(app.database, "UPDATE users SET roles = 'former' WHERE id = :id", { id });
    const page = await visitor.get(pathOf(id));
    expect(boxes(page)).toEqual(['admin', 'editor', 'owner', 'former checked']);
    await visitor.submit(page, `/${id}/roles`, { roles: 'former editor' });
    expect(await app.auth.roles.of(id)).toEqual(['editor', 'former']);
  });

  test('which the administrator could not give are fixed, and sent as they are', async () => {
    const other = await byRole();
    await app.auth.roles.set(id, ['owner']);
    const page = await other.get(pathOf(id));
    expect(boxes(page)).toEqual(['admin', 'editor', 'owner checked disabled']);
    expect(page.body).toContain('Some roles allow more than you are allowed to do');
    expect(formIn(page.body, '/roles').fields).toMatchObject({ roles: 'owner' });
    await other.submit(page, `/${id}/roles`, { roles: 'owner editor' });
    expect(await app.auth.roles.of(id)).toEqual(['editor', 'owner']);
    const refused = await other.submit(page, `/${id}/roles`, { roles: 'admin' });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatch(/data-part="error"[^>]*>A role that you changed allows more than you/);
    expect(boxes(refused)).toEqual(['admin checked', 'editor', 'owner checked disabled']);
    expect(await app.auth.roles.of(id)).toEqual(['editor', 'owner']);
  });

  test('errors stand beside the boxes', async () => {
    const unproven = await app.auth.users.create({ email: 'unproven@example.com' });
    const page = await visitor.get(pathOf(unproven.id));
    const refused = await visitor.submit(page, `/${unproven.id}/roles`, { roles: 'editor' });
    expect(refused.status).toBe(409);
    expect(refused.body).toMatch(/data-part="error"[^>]*>No one has proven that the email of this user/);
    const unknown = await visitor.submit(await visitor.get(pathOf(id)), `/${id}/roles`, { roles: 'edtor' });
    expect(unknown.body).toMatch(/data-part="error"[^>]*>Choose roles of this list\./);
  });

  test('of the own account cannot be changed', async () => {
    const page = await visitor.get(pathOf(rootId));
    expect(formsIn(page.body).map(({ action }) => action)).not.toContain(`${pathOf(rootId)}/roles`);
    expect(await visitor.post(`${pathOf(rootId)}/roles`, { roles: 'editor' })).toMatchObject({ status: 409 });
  });

  test('of an administrator whom the config names are not changed by an administrator by role', async () => {
    const other = await byRole();
    const refused = await other.submit(await other.get(pathOf(rootId)), `/${rootId}/roles`, {
      roles: 'editor',
    });
    expect(refused.status).toBe(403);
    expect(refused.body).toContain('This user is an administrator, so this is not possible here.');
  });
});

test('without roles, the page has no trace of them', async () => {
  const other = await startPages([password(), admin({ adminEmails: [root.email] })] as const);
  try {
    await other.app.auth.users.create({ ...root, emailVerified: true });
    const user = await other.app.auth.users.create(ada);
    const page = await (await new PageVisitor(other.app.origin).signIn(root)).get(pathOf(user.id));
    expect(page.body).not.toContain('oles');
  } finally {
    await other.app.stop();
  }
});
