import { excerpt } from './errors.js';

/** The permission to do everything. */
export const EVERYTHING = '*';

/** The maximum number of roles of a user. */
export const MAX_ROLES = 16;

/** The maximum number of characters of a role's name. */
export const MAX_ROLE = 32;

const SEGMENT = '[a-z][a-z0-9-]*';
const PERMISSION = new RegExp(`^${SEGMENT}(?::${SEGMENT}){1,2}$`);
const PATTERN = new RegExp(`^(?:\\*|(?:${SEGMENT}:){1,2}\\*|${SEGMENT}(?::${SEGMENT}){1,2})$`);
const ROLE = /^[a-z][a-z0-9-]{0,31}$/;

/** Permissions and patterns: `posts:write`, `posts:*`, which covers all that start with `posts:`, and `*`. */
export type Permissions = readonly string[];

/**
 * Whether someone who has the permissions `granted` has all of `asked`. A pattern is covered only by the same or a wider
 * pattern. This is the only function that decides about permissions.
 */
export function covers(granted: Permissions, asked: Permissions): boolean {
  return asked.every((one) => granted.some((pattern) => coversOne(pattern, one)));
}

function coversOne(pattern: string, asked: string): boolean {
  if (pattern === asked || pattern === EVERYTHING) return true;
  return pattern.endsWith(':*') && asked.startsWith(pattern.slice(0, -1));
}

/** The permissions of each role, by its name. */
export type RolePermissions = Readonly<Record<string, Permissions>>;

/**
 * Returns what is wrong with an option that contains roles and their permissions.
 *
 * @returns null if nothing is wrong
 */
export function faultInRoles(roles: unknown): string | null {
  if (typeof roles !== 'object' || roles === null || Array.isArray(roles))
    return "must be an object with the permissions of each role, such as { editor: ['posts:write'] }";
  for (const [name, permissions] of Object.entries(roles)) {
    if (!ROLE.test(name))
      return `contains the role ${excerpt(name)}: a name has up to 32 small letters, digits and hyphens, and starts with a letter`;
    if (!Array.isArray(permissions)) return `must contain a list of permissions for the role ${name}`;
    const other = permissions.find((one) => typeof one !== 'string' || !PATTERN.test(one));
    if (other !== undefined)
      return `contains ${excerpt(String(other))} for the role ${name}: a permission is like posts:write, posts:* or *`;
  }
  return null;
}

/** Roles and what they allow. */
export class Roles {
  readonly #named: ReadonlySet<string>;
  readonly #prefixes: readonly string[];
  readonly #roles: ReadonlyMap<string, Permissions>;

  /** @param known permissions that exist although no role might name them */
  constructor(roles: RolePermissions, known: Permissions = []) {
    this.#roles = new Map(Object.entries(roles));
    const all = [...this.#roles.values()].flat();
    this.#named = new Set([...all, ...known]);
    this.#prefixes = all.filter((one) => one.endsWith(':*')).map((one) => one.slice(0, -1));
  }

  get names(): readonly string[] {
    return [...this.#roles.keys()];
  }

  has(role: string): boolean {
    return this.#roles.has(role);
  }

  /** Returns what roles allow together. A role that is not configured allows nothing. */
  permissionsOf(roles: readonly string[]): Permissions {
    return roles.flatMap((role) => this.#roles.get(role) ?? []);
  }

  /** Whether any role names the permission, literally or with a prefix. Others would be mistakes in the app's code. */
  knows(permission: string): boolean {
    if (!PERMISSION.test(permission)) return false;
    return this.#named.has(permission) || this.#prefixes.some((prefix) => permission.startsWith(prefix));
  }
}
