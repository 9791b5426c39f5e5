import { declareProblems } from '../../errors.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { declareEvents, OF_ADMINISTRATOR } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';

const OWNER: Owner = { name: 'admin' };

/** The user that an administrator acted on. `adminId` is null for a programmatic call that does not pass it. */
interface ByAdmin {
  readonly userId: string;
  readonly adminId: string | null;
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** An administrator created a user, in addition to `user.created`. */
    'admin.user_created': ByAdmin;
    /** An administrator changed fields or the username of a user, in addition to `user.updated`. */
    'admin.user_updated': ByAdmin;
    /** An administrator deleted a user, in addition to `user.deleted`. */
    'admin.user_deleted': ByAdmin;
    /** An administrator sent a reset link to a user. */
    'admin.password_reset_sent': ByAdmin;
    /** An administrator revoked one session of a user, in addition to `session.revoked`. */
    'admin.session_revoked': ByAdmin & { readonly sessionId: string };
    /** An administrator revoked all sessions of a user. */
    'admin.sessions_revoked': ByAdmin;
    /**
     * An administrator started to act as a user: see `admin({ actAs })`. Its end is `session.revoked` with `actorId`, unless
     * the session expires at `expiresAt`.
     */
    'admin.acting_started': {
      readonly userId: string;
      readonly adminId: string;
      readonly sessionId: string;
      /** The administrator's note. The user never sees it. */
      readonly reason: string;
      readonly expiresAt: Date;
    };
  }
}

declareEvents(OWNER, {
  'admin.user_created': { adminId: OF_ADMINISTRATOR },
  'admin.user_updated': { adminId: OF_ADMINISTRATOR },
  'admin.user_deleted': { adminId: OF_ADMINISTRATOR },
  'admin.password_reset_sent': { adminId: OF_ADMINISTRATOR },
  'admin.session_revoked': { adminId: OF_ADMINISTRATOR, sessionId: true },
  'admin.sessions_revoked': { adminId: OF_ADMINISTRATOR },
  'admin.acting_started': {
    adminId: OF_ADMINISTRATOR,
    sessionId: true,
    reason: 'It is a note for administrators, which users never see.',
    expiresAt: true,
  },
});

export const actingNotices = declareNotices(OWNER, { 'administrator-acted': {} });

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof actingNotices, unknown> {}
}

const problems = declareProblems({
  email_missing: [409, 'This user has no email address to send a link to.'],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
