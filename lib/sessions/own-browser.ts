import type { Settings } from '../config/config.js';
import { isOfThisHost } from '../config/session.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import type { Session } from '../tables/core.js';
import { sessionOf } from './carriers.js';
import type { Carrier, SessionAuthentication } from './request.js';

/** What {@link OwnBrowser} needs. */
interface OwnBrowserNeeds {
  readonly context: CallContext;
  readonly settings: Settings;
  readonly carriers: readonly Carrier[];
}

/**
 * The only place that decides whether a request comes from an account's own browser, because of its session. If a link or
 * code is redeemed there, the owner of the mailbox is also the person who uses the account, so that the first proof of the
 * mailbox removes nothing. So a stranger who has signed up with the address must not be able to give his session to the
 * owner's browser:
 *
 * - A cookie counts only if no other host can set it. A header always counts.
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
    return found && this.counts(found) ? found.user.id : null;
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

  /** Whether the browser of a request with this session is the user's own. */
  counts({ session, via }: SessionAuthentication): boolean {
    const isPlantable = via === 'cookie' && !isOfThisHost(this.core.settings.cookie);
    return !isPlantable && hasBegunHere(session);
  }
}

/** Whether a session began with an authentication. A later one does not count, because others can have the session too. */
function hasBegunHere({ amr }: Pick<Session, 'amr'>): boolean {
  return amr.length > 0;
}
