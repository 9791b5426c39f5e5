import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, organizations } from '../../../lib/index.js';
import { ageSessions } from '../../support/account-pages.js';
import { act } from '../../support/acting.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { attribute, elementsIn, type PageBrowser, type Shown, textOf } from '../../support/page-browser.js';
import { createPerson, type PagesApp, signInOn, startPagesApp } from '../../support/pages-app.js';
import { settled } from '../../support/sessions.js';

const PATH = '/auth/account/organizations';
const MISSING = '00000000-0000-7000-8000-000000000000';
const config = { rateLimit: { signIn: false, signUp: false, mailAddress: false } } as const;
const plugins = [
  password({ username: true }),
  organizations({ maxOwned: 3, roles: { helper: ['member:remove'], former: [] } }),
  admin({ adminEmails: ['root@example.com'], actAs: {} }),
] as const;

interface Person {
  readonly id: string;
  readonly email: string;
  readonly browser: PageBrowser;
}

let app: PagesApp<typeof plugins>;
let owner: Person;
/** The organization of the owner. */
let id: string;
beforeAll(async () => {
  app = await startPagesApp(plugins, { config: config as never });
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM organizations');
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM rate_limits');
  owner = await person('owner');
  ({ id } = await app.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: owner.id }));
});

async function person(name: string): Promise<Person> {
  const email = `${name}@example.com`;
  const userId = await createPerson(app as never, { email, password: ada.password });
  const browser = app.open();
  expect((await signInOn(browser, { email, password: ada.password })).location).toBe('/home');
  return { id: userId, email, browser };
}

/** Creates a user who is a member. */
async function member(name: string, role: string): Promise<Person> {
  const created = await person(name);
  await app.auth.organizations.addMember(id, created.id, role);
  return created;
}

const page = ({ browser }: Person) => browser.open(`${PATH}/${id}`);
/** The forms of a page, without the ids of users and invitations. */
const formsOf = (shown: Shown) =>
  [
    ...new Set(
      shown.actions.map((action) =>
        action.slice(PATH.length + 1).replace(/^[0-9a-f-]{36}\/|\/[0-9a-f-]{36}$/g, ''),
      ),
    ),
  ].sort();
const optionsOf = (shown: Shown, form: string) =>
  [...elementsIn(shown.form(form).element)]
    .filter(({ tagName }) => tagName === 'option')
    .map((one) => `${attribute(one, 'value')}${attribute(one, 'selected') === undefined ? '' : ' *'}`);
const items = (shown: Shown) =>
  shown.all('li').flatMap((one) => {
    if (attribute(one, 'data-part') !== 'item') return [];
    const [first] = [...elementsIn(one)].filter(({ tagName }) => tagName === 'p');
    return first ? [textOf(first).replace(/\s+/g, ' ').trim()] : [];
  });
const rolesNow = async () => {
  const { members } = await app.auth.organizations.members(id);
  return Object.fromEntries(members.map(({ user, role }) => [user.email?.split('@')[0], role]));
};

describe('the list of organizations', () => {
  test('is in the navigation of an account, and shows the own roles', async () => {
    const ida = await member('ida', 'admin');
    await app.auth.organizations.create({ name: 'Ida & <b>', slug: 'ida', ownerId: ida.id });
    const account = await ida.browser.open('/auth/account');
    expect(account.links).toContain(PATH);
    const list = await ida.browser.open(PATH);
    expect([list.heading, list.parseErrors]).toEqual(['Organizations', []]);
    expect(items(list)).toEqual(['Ida & <b> Owner', 'Acme Administrator']);
    expect(list.links).toContain(`${PATH}/${id}`);
  });

  test('is empty at first, and leads to the sign-in without a session', async () => {
    const ida = await person('ida');
    expect((await ida.browser.open(PATH)).text).toContain('You are not a member of an organization.');
    expect((await app.open().open(PATH)).location).toBe(
      '/auth/sign-in?return_to=%2Fauth%2Faccount%2Forganizations',
    );
  });

  test('has 50 on a page', async () => {
    const ida = await person('ida');
    for (let i = 0; i < 51; i++)
      await app.auth.organizations.create({ name: `Number ${i}`, slug: `number-${i}`, ownerId: ida.id });
    const first = await ida.browser.open(PATH);
    const next = first.links.find((link) => link.startsWith(`${PATH}?cursor=`)) ?? '';
    const second = await ida.browser.open(next);
    expect([items(first).length, items(second).length]).toEqual([50, 1]);
    // Those of the same millisecond are in any order.
    const all = Array.from({ length: 51 }, (_, i) => `Number ${i} Owner`);
    expect([...items(first), ...items(second)].sort()).toEqual(all.sort());
  });

  test('does not exist without organizations', async () => {
    const other = await startPagesApp([password()] as const);
    try {
      await other.auth.users.create({ ...ada, emailVerified: true });
      const browser = other.open();
      await signInOn(browser, ada);
      expect((await browser.open('/auth/account')).links).not.toContain(PATH);
      for (const path of [PATH, `${PATH}/${id}`]) expect((await browser.open(path)).status).toBe(404);
    } finally {
      await other.stop();
    }
  });
});

describe('creating an organization', () => {
  test('makes the short name from the name, unless one is typed', async () => {
    const list = await owner.browser.open(PATH);
    const made = await owner.browser.submit(list, 'create', { name: '  Café & Söhne, Inc. ' });
    const found = await app.auth.organizations.get('cafe-sohne-inc');
    expect(found).toMatchObject({ name: 'Café & Söhne, Inc.' });
    expect(made.location).toBe(`${PATH}/${found?.id}?done=organization-created`);
    const shown = await owner.browser.follow(made);
    expect([shown.heading, shown.text.includes('The organization was created. You are its owner.')]).toEqual([
      'Café & Söhne, Inc.',
      true,
    ]);
    await owner.browser.submit(list, 'create', { name: 'Café', slug: ' my-cafe ' });
    expect(await app.auth.organizations.get('my-cafe')).toMatchObject({ name: 'Café' });
  });

  test('shows what is wrong beside its field, and the short name that was made', async () => {
    const list = await owner.browser.open(PATH);
    const taken = await owner.browser.submit(list, 'create', { name: 'Acme' });
    expect([taken.status, taken.fieldErrors]).toEqual([
      409,
      ['Another organization has this short name. Choose another.'],
    ]);
    expect([taken.form('create').value('name'), taken.form('create').value('slug')]).toEqual([
      'Acme',
      'acme',
    ]);
    const nameless = await owner.browser.submit(list, 'create', { name: ' ' });
    expect([nameless.status, nameless.fieldErrors]).toEqual([422, ['Enter a name.']]);
    const odd = await owner.browser.submit(list, 'create', { name: '北京' });
    expect([odd.status, odd.fieldErrors]).toEqual([422, ['Enter a short name.']]);
    const wrong = await owner.browser.submit(list, 'create', { name: 'A', slug: 'A--b' });
    expect(wrong.fieldErrors).toEqual([
      'Enter 2 to 63 small letters, digits and single hyphens, with a letter or digit at the start and end.',
    ]);
    expect(wrong.form('create').value('slug')).toBe('A--b');
  });

  test('says that an own organization too many is refused', async () => {
    for (const slug of ['two', 'three'])
      await app.auth.organizations.create({ name: slug, slug, ownerId: owner.id });
    const refused = await owner.browser.submit(await owner.browser.open(PATH), 'create', { name: 'Four' });
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.stringContaining('You own as many organizations as possible.'),
    ]);
  });

  test('leads a user whose email is not confirmed to its confirmation', async () => {
    await app.auth.users.create({ email: 'new@example.com', password: ada.password });
    const browser = app.open();
    await signInOn(browser, { email: 'new@example.com', password: ada.password });
    const refused = await browser.submit(await browser.open(PATH), 'create', { name: 'Mine' });
    expect([refused.status, refused.error]).toEqual([
      403,
      expect.stringContaining('Confirm your email first. Then you can create an organization.'),
    ]);
    expect(refused.links.some((link) => link.startsWith('/auth/verify-email?'))).toBe(true);
  });

  test('is offered only to administrators if the app says so', async () => {
    const other = await startPagesApp([
      password(),
      organizations({ creation: 'administrators' }),
      admin({ adminEmails: ['root@example.com'] }),
    ] as const);
    try {
      const found: string[][] = [];
      for (const email of ['root@example.com', 'ida@example.com']) {
        await createPerson(other as never, { email, password: ada.password });
        const browser = other.open();
        await signInOn(browser, { email, password: ada.password });
        found.push(formsOf(await browser.open(PATH)));
        const { status, error } = await browser.post(`${PATH}/create`, { name: 'Mine' });
        expect([email, status, error?.includes('Only administrators can create organizations.')]).toEqual(
          email.startsWith('root') ? [email, 303, undefined] : [email, 403, true],
        );
      }
      expect(found).toEqual([['create'], []]);
    } finally {
      await other.stop();
    }
  });
});

describe('the page of an organization', () => {
  test('offers each role what it allows', async () => {
    const people = {
      owner,
      admin: await member('admin', 'admin'),
      helper: await member('helper', 'helper'),
      member: await member('member', 'member'),
    };
    const found: Record<string, string[]> = {};
    for (const [role, one] of Object.entries(people)) {
      const shown = await page(one);
      expect([shown.status, shown.heading, shown.parseErrors]).toEqual([200, 'Acme', []]);
      found[role] = formsOf(shown);
    }
    expect(found).toEqual({
      // The only owner cannot leave.
      owner: ['delete', 'invite', 'remove', 'rename', 'set-role'],
      admin: ['invite', 'leave', 'remove', 'rename', 'set-role'],
      helper: ['leave', 'remove'],
      member: ['leave'],
    });
  });

  test('lists the members with their roles, 50 on a page', async () => {
    const ida = await member('ida', 'member');
    const shown = await page(ida);
    expect(items(shown).slice(0, 2)).toEqual(['ida@example.com Member you', 'owner@example.com Owner']);
    const many = Array.from({ length: 49 }, (_, i) => `many-${i}`);
    for (const username of many) {
      const { id: userId } = await app.auth.users.create({ username });
      await app.auth.organizations.addMember(id, userId, 'former');
    }
    const first = await page(ida);
    const next = first.links.find((link) => link.startsWith(`${PATH}/${id}?cursor=`)) ?? '';
    // Those who join within the same millisecond are in any order.
    const newest = items(first).slice(0, 49).sort();
    expect(newest).toEqual(many.map((username) => `${username} Former`).sort());
    expect(items(first)[49]).toBe('ida@example.com Member you');
    expect(items(await ida.browser.open(next))[0]).toBe('owner@example.com Owner');
  });

  test.each([
    ['an organization of others', () => id],
    ['an id that does not exist', () => MISSING],
    ['something that is not an id', () => 'acme'],
  ])('is the same 404 for %s', async (_name, idOf) => {
    const ida = await person('ida');
    const shown = await ida.browser.open(`${PATH}/${idOf()}`);
    expect([shown.status, shown.heading]).toEqual([404, 'Page not found']);
    expect(shown.text).toContain('This organization does not exist, or you are not a member of it.');
    expect(shown.links).toContain(PATH);
    const forms: Record<string, Record<string, string>> = {
      rename: { name: 'Evil', slug: 'evil' },
      invite: { email: 'x@example.com', role: 'member' },
      delete: { confirmation: 'acme' },
      [`remove/${owner.id}`]: {},
    };
    for (const [form, fields] of Object.entries(forms)) {
      const answer = await ida.browser.post(`${PATH}/${idOf()}/${form}`, fields);
      expect([form, answer.status]).toEqual([form, 404]);
    }
    expect(await app.auth.organizations.get('acme')).toMatchObject({ name: 'Acme' });
  });

  test('shows nothing to a member who was removed meanwhile', async () => {
    const ida = await member('ida', 'admin');
    const before = await page(ida);
    await app.auth.organizations.removeMember(id, ida.id);
    const answer = await ida.browser.submit(before, 'rename', { name: 'Mine' });
    expect([answer.status, answer.heading, answer.body.includes('owner@')]).toEqual([
      404,
      'Page not found',
      false,
    ]);
  });

  test('is closed to someone who acts as a member', async () => {
    const root = await person('root');
    const own = `latchkey=${(await app.auth.createSession(root.id)).token}`;
    const answer = await act(app as never, own, owner.id).expect(200);
    const cookie = String(answer.headers['set-cookie']).split(';')[0] ?? '';
    for (const path of [PATH, `${PATH}/${id}`])
      expect((await app.open({ cookie }).open(path)).status).toBe(403);
  });
});

describe('changing the name', () => {
  test('saves both, and shows an error beside its field', async () => {
    await app.auth.organizations.create({ name: 'Other', slug: 'other', ownerId: owner.id });
    const before = await page(owner);
    const taken = await owner.browser.submit(before, 'rename', { name: 'New', slug: 'other' });
    expect([taken.status, taken.fieldErrors]).toEqual([
      409,
      ['Another organization has this short name. Choose another.'],
    ]);
    expect(taken.form('rename').value('name')).toBe('New');
    const empty = await owner.browser.submit(before, 'rename', { slug: '' });
    expect([empty.status, empty.fieldErrors]).toEqual([422, ['Enter a short name.']]);
    const done = await owner.browser.submit(before, 'rename', { name: 'New', slug: 'new-one' });
    expect(done.location).toBe(`${PATH}/${id}?done=organization-saved`);
    expect((await owner.browser.follow(done)).heading).toBe('New');
    expect(await app.auth.organizations.get(id)).toMatchObject({ name: 'New', slug: 'new-one' });
  });
});

describe('members', () => {
  test('get another role, of those that the own permissions cover', async () => {
    const ida = await member('ida', 'member');
    const chief = await member('chief', 'admin');
    const all = ['owner', 'admin', 'helper', 'member *', 'former'];
    expect(optionsOf(await page(owner), `set-role/${ida.id}`).sort()).toEqual([...all].sort());
    const shown = await page(chief);
    const allowed = all.filter((role) => role !== 'owner').sort();
    expect(optionsOf(shown, `set-role/${ida.id}`).sort()).toEqual(allowed);
    // Neither an owner's role nor an owner's membership is an administrator's to take.
    expect(shown.actions.filter((action) => action.endsWith(owner.id))).toEqual([]);
    const done = await chief.browser.submit(shown, `set-role/${ida.id}`, { role: 'helper' });
    expect(done.location).toBe(`${PATH}/${id}?done=member-role-changed`);
    expect((await rolesNow()).ida).toBe('helper');
    const refused = await chief.browser.post(`${PATH}/${id}/set-role/${ida.id}`, { role: 'owner' });
    expect([refused.status, refused.fieldErrors]).toEqual([
      403,
      ['Your role does not allow you to give or take this role.'],
    ]);
    const unknown = await owner.browser.post(`${PATH}/${id}/set-role/${ida.id}`, { role: 'king' });
    expect([unknown.status, unknown.fieldErrors]).toEqual([
      422,
      ['Choose a role of this list. It might have changed, so open this page again.'],
    ]);
  });

  test('keep a role that is no longer configured until another one is chosen', async () => {
    const ida = await member('ida', 'member');
    await rows(app.database, "UPDATE organization_members SET role = 'gone' WHERE user_id = :id", {
      id: ida.id,
    });
    expect(optionsOf(await page(owner), `set-role/${ida.id}`)).toContain('gone *');
    expect(items(await page(ida))[0]).toBe('ida@example.com Gone you');
  });

  test('are removed after a question, and a helper removes no one who can do more', async () => {
    const ida = await member('ida', 'member');
    const helper = await member('helper', 'helper');
    const chief = await member('chief', 'admin');
    const shown = await page(helper);
    const removes = (one: Person) => shown.actions.includes(`${PATH}/${id}/remove/${one.id}`);
    expect([ida, chief, owner, helper].map(removes)).toEqual([true, false, false, false]);
    const done = await helper.browser.submit(shown, `remove/${ida.id}`);
    expect(done.location).toBe(`${PATH}/${id}?done=member-removed`);
    expect(Object.keys(await rolesNow()).sort()).toEqual(['chief', 'helper', 'owner']);
    const again = await helper.browser.submit(shown, `remove/${ida.id}`);
    expect([again.status, again.error]).toEqual([
      404,
      expect.stringContaining('This user is not a member. The membership might have ended already.'),
    ]);
  });

  test('leave, even if they signed in a while ago, but not as the last owner', async () => {
    const ida = await member('ida', 'member');
    await ageSessions(app as never);
    const before = await page(ida);
    expect(before.all('h2').map(textOf)).toContain('Leave the organization');
    expect(before.all('h2').map(textOf)).not.toContain('Delete the organization');
    const done = await ida.browser.submit(before, `leave/${ida.id}`);
    expect(done.location).toBe(`${PATH}?done=organization-left`);
    expect((await ida.browser.follow(done)).text).toContain(
      'You are no longer a member of this organization.',
    );
    const shown = await page(owner);
    expect(shown.text).toContain(
      'Leave the organizationYou are the only owner, so another member must become an owner before you can leave.',
    );
    expect(formsOf(shown)).not.toContain('leave');
    // Another owner can have left since the page was shown.
    const refused = await owner.browser.post(`${PATH}/${id}/leave/${owner.id}`, {});
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.stringContaining('Make another member an owner first. Nothing was changed.'),
    ]);
    expect(await rolesNow()).toEqual({ owner: 'owner' });
  });

  test('cannot delete the account as the last owner, and read which organization needs another one', async () => {
    const before = await owner.browser.open('/auth/account');
    expect(before.links).not.toContain(`${PATH}/${id}`);
    await member('joe', 'member');
    const kept = await owner.browser.submit(before, 'delete', { confirmation: owner.email });
    expect([kept.status, kept.error]).toEqual([409, expect.stringContaining('Nothing was deleted.')]);
    expect(kept.links).toContain(`${PATH}/${id}`);
    expect(await rolesNow()).toEqual({ owner: 'owner', joe: 'member' });
  });
});

describe('invitations', () => {
  test('are emailed, listed and revoked', async () => {
    const before = await page(owner);
    // The role that allows least is chosen.
    expect(['member', 'former']).toContain(before.form('invite').value('role'));
    const invite = { email: 'Grace@Example.com', role: 'helper' };
    let done: Shown | undefined;
    await app.mailOf('grace@example.com', 'organization-invitation', async () => {
      done = await owner.browser.submit(before, 'invite', invite);
    });
    await settled(app.auth);
    expect(done?.location).toBe(`${PATH}/${id}?done=member-invited`);
    const shown = await owner.browser.follow(done!);
    expect(shown.text).toContain('The invitation is on its way by email.');
    expect(items(shown)).toContain('grace@example.com Helper');
    expect(shown.body).not.toContain('lki_');
    const [action = ''] = shown.actions.filter((one) => one.includes('/revoke/'));
    const revoked = await owner.browser.submit(shown, action.split('/').slice(-2).join('/'));
    expect(revoked.location).toBe(`${PATH}/${id}?done=organization-invitation-revoked`);
    expect((await app.auth.organizations.invitations(id)).invitations).toEqual([]);
    const again = await owner.browser.post(action, {});
    expect([again.status, again.error]).toEqual([
      404,
      expect.stringContaining('It might have been accepted or revoked already.'),
    ]);
  });

  test('show what is wrong beside the field', async () => {
    const ida = await member('ida', 'member');
    const before = await page(owner);
    const send = (email: string) => owner.browser.submit(before, 'invite', { email });
    const member_ = await send(ida.email);
    expect([member_.status, member_.fieldErrors]).toEqual([409, ['This user is already a member.']]);
    expect(member_.form('invite').value('email')).toBe(ida.email);
    expect((await send('')).fieldErrors).toEqual(['Enter an email.']);
    expect((await send('nobody')).fieldErrors).toEqual(['Enter an email such as ada@example.com.']);
  });

  test('offer only roles that the own permissions cover', async () => {
    const chief = await member('chief', 'admin');
    const shown = await page(chief);
    expect(
      optionsOf(shown, 'invite')
        .map((one) => one.replace(' *', ''))
        .sort(),
    ).toEqual(['admin', 'former', 'helper', 'member']);
    const refused = await chief.browser.post(`${PATH}/${id}/invite`, {
      email: 'x@example.com',
      role: 'owner',
    });
    expect([refused.status, refused.error]).toEqual([
      403,
      expect.stringContaining('Your role does not allow you to invite someone with this role.'),
    ]);
  });

  test('are not shown to a member who cannot invite, whatever the address says', async () => {
    const ida = await member('ida', 'member');
    await app.auth.organizations.invite(id, { email: 'grace@example.com', role: 'member' });
    const shown = await ida.browser.open(`${PATH}/${id}?invitations=${MISSING}`);
    expect([shown.status, shown.body.includes('grace@')]).toEqual([200, false]);
  });
});

describe('deleting an organization', () => {
  test('needs its short name, typed', async () => {
    const before = await page(owner);
    for (const [typed, told] of [
      ['', 'Type it to confirm. Nothing was deleted.'],
      ['other', 'This does not match. Nothing was deleted.'],
    ]) {
      const refused = await owner.browser.submit(before, 'delete', { confirmation: typed! });
      expect([refused.status, refused.fieldErrors]).toEqual([422, [told]]);
    }
    const done = await owner.browser.submit(before, 'delete', { confirmation: ' ACME ' });
    expect(done.location).toBe(`${PATH}?done=organization-deleted`);
    expect((await owner.browser.follow(done)).text).toContain('The organization was deleted.');
    expect(await app.auth.organizations.get(id)).toBeNull();
  });

  test('needs the permission, even without the page', async () => {
    const chief = await member('chief', 'admin');
    const refused = await chief.browser.post(`${PATH}/${id}/delete`, { confirmation: 'acme' });
    expect([refused.status, refused.error]).toEqual([
      403,
      expect.stringContaining('Your role does not allow this. Ask an owner of the organization.'),
    ]);
    expect(await app.auth.organizations.get(id)).not.toBeNull();
  });
});

test.each([
  ['invite', 'invite someone', { email: 'grace@example.com' }],
  ['delete', 'delete this organization', { confirmation: 'acme' }],
])('%s asks a session that is not recent who it is, and comes back', async (form, what, typed) => {
  const before = await page(owner);
  await ageSessions(app as never);
  const pressed = await owner.browser.submit(before, form, typed);
  const confirming = await owner.browser.follow(pressed);
  expect(confirming.text).toContain(`To ${what}, confirm that it is you.`);
  const confirmed = await owner.browser.submit(confirming, 'confirm', { password: ada.password });
  const back = await owner.browser.follow(confirmed);
  expect(back.url).toBe(`${PATH}/${id}`);
  const done = await owner.browser.submit(back, form);
  expect(done.location).toMatch(/\?done=(member-invited|organization-deleted)$/);
});
