import type { Settings } from '../config/config.js';
import { isOnlyOurs } from '../config/session.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import { sessionOf } from './carriers.js';
import type { Devices } from './devices.js';
import type { Carrier, SessionAuthentication } from './request.js';
import type { Sessions } from './sessions.js';

/** What {@link OwnBrowser} needs. */
interface OwnBrowserNeeds {
  readonly context: CallContext;
  readonly settings: Settings;
  readonly carriers: readonly Carrier[];
  readonly devices: Devices;
  readonly sessions: Sessions;
}

/**
 * The only place that decides whether a request comes from an account's own browser, because of its session. If a link or
 * code is redeemed there, the owner of the mailbox is also the person who uses the account, so that the first proof of the
 * mailbox removes nothing. So a stranger who has signed up with the address must not be able to give a session to the
 * owner's browser:
 *
 * - A header counts. A cookie counts if no other host can set it: because of its name, or because the app runs on this
 *   machine. Otherwise it counts in a browser in which the user has signed in, whose device cookie no other host can set.
 * - The session must have begun with an authentication here. One that was taken over from a previous system did not, and the
 *   cookie of that system could be planted.
 *
 * It is a fact about the browser, and not a right of the session, so open tasks do not matter.
 */
export class OwnBrowser {
  constructor(private readonly core: OwnBrowserNeeds) {}

  /** Returns the user to whom the browser of a request belongs. Null if there is none. */
  async userOf(request: PlainRequest): Promise<string | null> {
    const found = await sessionOf(this.core.carriers, request);
    return found && (await this.counts(found)) ? found.user.id : null;
  }

  /**
   * Returns the user who is signed in, as the app's code says. If the code has passed the request, the request decides
   * whether this counts.
   */
  async confirmed(said: string | null): Promise<string | null> {
    const { request } = this.core.context.client;
    if (said === null || request === null) return said;
    return (await this.userOf(request)) === said ? said : null;
  }

  /** Whether the browser of the current request, which presents this session, is the user's own. */
  async counts({ user, session, via }: SessionAuthentication): Promise<boolean> {
    const { settings, context, devices, sessions } = this.core;
    const { cookie, baseUrl } = settings;
    const isSure = via !== 'cookie' || isOnlyOurs(cookie, baseUrl, context.client.request?.headers.host);
    if (!isSure && !(await devices.isKnownForCertain(user.id))) return false;
    // A later authentication does not count, because others can have the session too.
    return sessions.hasBegunHere(session.id);
  }

  /**
   * Whether a session is enough to confirm a change of the account's email, which a stranger could have requested in a session
   * planted by the stranger. Over plain http, nothing could make the browser count. A user with a second factor, for whom the
   * password is not enough, could then never change the email.
   */
  async confirms(found: SessionAuthentication): Promise<boolean> {
    return !this.core.settings.cookie.secure || (await this.counts(found));
  }
}
