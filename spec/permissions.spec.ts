import { describe, expect, test } from '@jest/globals';
import { covers, faultInRoles, Roles } from '../lib/permissions.js';

describe('permissions', () => {
  test.each<[granted: string[], asked: string[], outcome: boolean]>([
    [['posts:write'], ['posts:write'], true],
    [['posts:write'], ['posts:read'], false],
    [['posts:write'], ['posts:write-all'], false],
    [['posts:write'], ['posts:write:own'], false],
    [['posts:*'], ['posts:write'], true],
    [['posts:*'], ['posts:comments:write'], true],
    [['posts:*'], ['posts-of-others:write'], false],
    [['posts:*'], ['posts:*'], true],
    [['posts:*'], ['posts:comments:*'], true],
    [['posts:comments:*'], ['posts:*'], false],
    [['posts:comments:*'], ['posts:comments:write'], true],
    [['posts:write'], ['posts:*'], false],
    [['posts:*'], ['*'], false],
    [['*'], ['*'], true],
    [['*'], ['posts:*', 'users:read'], true],
    [['posts:read', 'posts:write'], ['posts:read', 'posts:write'], true],
    [['posts:read'], ['posts:read', 'posts:write'], false],
    [[], ['posts:read'], false],
    [[], [], true],
  ])('%j cover %j: %s', (granted, asked, outcome) => {
    expect(covers(granted, asked)).toBe(outcome);
  });

  test('a role that is not configured allows nothing, not even by a name of Object', () => {
    const roles = new Roles({ editor: ['posts:*'], reader: [] });
    expect(roles.permissionsOf(['editor', 'former', 'constructor', '__proto__'])).toEqual(['posts:*']);
    expect(['editor', 'constructor', 'toString'].map((name) => roles.has(name))).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('a permission is known if a role names it, or has it by a prefix', () => {
    const roles = new Roles({ owner: ['*'], editor: ['posts:*'], reader: ['pages:read'] }, ['member:update']);
    const known = (names: string[]) => names.map((name) => roles.knows(name));
    expect(known(['posts:write', 'posts:a:b', 'pages:read', 'member:update'])).toEqual(Array(4).fill(true));
    expect(known(['pages:write', 'users:read', 'posts', 'posts:*', '*', 'posts:', 'Posts:write'])).toEqual(
      Array(7).fill(false),
    );
  });

  test.each<[roles: unknown, fault: RegExp | null]>([
    [{ editor: ['posts:write', 'posts:*', 'a:b:c', 'a:b:*', '*'], 'a-1': [] }, null],
    [['editor'], /must be an object/],
    [null, /must be an object/],
    [{ Editor: [] }, /the role Editor/],
    [{ ['a'.repeat(33)]: [] }, /the role a/],
    [{ editor: 'posts:write' }, /a list of permissions for the role editor/],
    [{ editor: ['posts'] }, /posts for the role editor/],
    [{ editor: ['a:b:c:d'] }, /a:b:c:d/],
    [{ editor: ['posts:**'] }, /posts:\*\*/],
    [{ editor: ['*:write'] }, /\*:write/],
    [{ editor: [3] }, /3 for the role/],
  ])('the roles %j: %s', (roles, fault) => {
    if (fault === null) expect(faultInRoles(roles)).toBeNull();
    else expect(faultInRoles(roles)).toMatch(fault);
  });
});
