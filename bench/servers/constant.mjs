// A page that is the same for everybody, as long as the others.
import { emailOf, IP, times, USER_AGENT, uuidOf } from '../support/people.mjs';
import { page } from './page.mjs';

const { created, monthAhead } = times;
const [id, sessionId] = [uuidOf('user', 1), uuidOf('session', 1)];

export const constant = page(
  { id, email: emailOf(1), emailVerified: true, createdAt: created, updatedAt: created },
  {
    id: sessionId,
    userId: id,
    createdAt: created,
    expiresAt: monthAhead,
    ipAddress: IP,
    userAgent: USER_AGENT,
  },
);
