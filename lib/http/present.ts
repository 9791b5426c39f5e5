import { z } from 'zod';
import type { Core } from '../core/core.js';
import type { IssuedSession } from '../core/sessions.js';
import { type Session, sessions } from '../models/session.js';
import type { User } from '../models/user.js';
import { type Resource, resourceOf } from './resource.js';
import type { Answer, Reply } from './route.js';

interface Resources {
  readonly user: Resource<User>;
  /** A user as administrators see them. */
  readonly userForAdmins: Resource<User>;
  readonly session: Resource<Session>;
  /** A session in a list, with `current` set for the session of the request. */
  readonly listedSession: z.ZodObject;
}

const known = new WeakMap<Core, Resources>();

/** What clients see of users and sessions, including the attributes that plugins add. */
export function resources(core: Core): Resources {
  const made = known.get(core) ?? makeResources(core);
  known.set(core, made);
  return made;
}

function makeResources(core: Core): Resources {
  const session = resourceOf<Session>(sessions.columns, core.shownOfSession);
  return {
    user: resourceOf<User>(core.userColumns, core.shownOfUser),
    userForAdmins: resourceOf<User>(core.userColumns, [...core.shownOfUser, ...columnsForAdmins(core)]),
    session,
    listedSession: session.schema.extend({ current: z.boolean() }),
  };
}

function columnsForAdmins({ userColumns }: Core): readonly string[] {
  return Object.entries(userColumns).flatMap(([name, { visibility }]) =>
    visibility === 'admin' ? name : [],
  );
}

/** The documented response of a route that issues a session. */
export function sessionAnswer(core: Core, description: string): Answer {
  const { user, session } = resources(core);
  return { description, schema: z.object({ user: user.schema, session: session.schema }) };
}

/** The reply that issues a session: see {@link sessionAnswer}. */
export function sessionReply(core: Core, issued: IssuedSession, status = 200): Reply {
  const { user, session } = resources(core);
  const body = { user: user.present(issued.user), session: session.present(issued.session) };
  return { status, body, issue: issued };
}
