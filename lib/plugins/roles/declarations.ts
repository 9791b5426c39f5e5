import { declareNotices, type NoticeTemplate } from '../../mail/notice-kinds.js';
import { declareEvents, OF_ADMINISTRATOR } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { MAX_ROLE, MAX_ROLES } from '../../permissions.js';
import { column, type RowOf } from '../../tables/column.js';

const OWNER: Owner = { name: 'roles' };

/** The column that the plugin adds to users. */
export const rolesColumns = {
  /** The roles of the user, sorted, without the default role. A role that is not configured allows nothing. */
  roles: column
    .words(MAX_ROLES * (MAX_ROLE + 1))
    .default('')
    .onWire({ description: 'The roles of the user, without the role that every user has' }),
};

/** The roles of a user. */
export interface RolesOfUser extends RowOf<typeof rolesColumns> {}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /**
     * The roles of a user changed, from `before` to `after`. `adminId` is null for a programmatic call without it.
     */
    'user.roles_changed': {
      readonly userId: string;
      readonly adminId: string | null;
      readonly before: readonly string[];
      readonly after: readonly string[];
    };
  }
}

declareEvents(OWNER, { 'user.roles_changed': { adminId: OF_ADMINISTRATOR, before: true, after: true } });

export const rolesNotices = declareNotices(OWNER, { 'administrator-added': {} });

/** The notice to the other administrators. */
export const OTHERS_NOTICE: NoticeTemplate = {
  ...rolesNotices['administrator-added'],
  text: 'administrator-added/others',
};

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof rolesNotices, unknown> {}
}
