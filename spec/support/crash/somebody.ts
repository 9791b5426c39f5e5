import { Person } from '../../../bench/load/person.mjs';
import { Authenticator } from '../authenticator.js';
import { PAGE } from '../passkeys.js';

/** A session that was begun, as bench/load/person.mjs keeps it. */
export type HeldSession = Person['sessions'][number];

/** What an account was before a change that a notice tells of. */
export interface Former {
  readonly email: string;
  readonly password: string;
  readonly factor: { secret: never } | null;
  readonly keys: readonly string[];
  readonly passkeys: readonly string[];
  readonly isLinked: boolean;
}

/** A user of the storm, as the answers say that they are: what was acknowledged is true, and nothing else. */
export class Somebody extends Person {
  /** What they asked for and what came of it, for the report of a violation. */
  readonly log: string[] = [];
  /** Empty for who has none: invited, or after an undo. */
  declare password: string;
  /** At most so many sessions live whose token nobody has, because the answers were lost. */
  ghosts = 0;
  /** Headers with the cookies of sessions that have ended, and API keys that were revoked: they open nothing. */
  readonly dead: string[] = [];
  readonly deadKeys: string[] = [];
  /** The ids of sessions that have ended, of which events must tell. */
  readonly revoked: string[] = [];
  isVerified = false;
  isSuspended = false;
  /** Whether an administrator requires a new password. `password` is empty then, since the former one opens nothing. */
  needsPassword = false;
  /** Whether `recoveryCodes` are all that are unused, but for those of `unsureCodes`. */
  knowsCodes = true;
  /** How many codes may have been used, because the answers were lost. */
  unsureCodes = 0;
  readonly device = new Authenticator({ origin: PAGE });
  /** The ids of their passkeys: one at most. */
  passkeys: string[] = [];
  /** Whether their identity at the provider is linked to their account. */
  isLinked = false;
  /** Whether a sign-in there was not tried since that changed. */
  isLinkNew = true;
  /** The browser of their first sign-in, which proves who undoes a change. Null if its answer was lost. */
  first: Person['browsers'][number] | null | undefined;
  /** Finds out which of two things is true, after an answer was lost. */
  unresolved: (() => Promise<void>) | null = null;

  /** @param subject their identity at the provider, which is nobody else's */
  constructor(
    email: string,
    password: string,
    readonly subject = `at-the-provider-${email}`,
  ) {
    super(email, password);
  }

  /** What is true now, to be kept before a change. */
  now(): Former {
    const { email, password, factor, isLinked } = this;
    const keys = this.keys.map(({ id }) => id);
    return { email, password, factor, isLinked, keys, passkeys: [...this.passkeys] };
  }

  /** The identity is linked, or not any more. */
  setLinked(isLinked: boolean): void {
    this.isLinked = isLinked;
    this.isLinkNew = true;
  }

  /** An undo has put this back. */
  restore(former: Former): void {
    this.endAll();
    this.email = former.email;
    this.password = '';
    this.factor = former.factor;
    this.forgetCodes();
    this.dropKeys((id) => !former.keys.includes(id));
    this.passkeys = [...former.passkeys];
    this.setLinked(former.isLinked);
  }

  /** These are the codes now. */
  giveCodes(codes: string[]): void {
    this.recoveryCodes = codes;
    this.knowsCodes = true;
    this.unsureCodes = 0;
  }

  forgetCodes(): void {
    this.recoveryCodes = [];
    this.knowsCodes = false;
  }

  dropKeys(which: (id: string) => boolean): void {
    for (const { id, key } of this.keys) if (which(id) && key) this.deadKeys.push(key);
    this.keys = this.keys.filter(({ id }) => !which(id));
  }

  /** Sessions have ended, and their cookies must open nothing. */
  ended(which: readonly HeldSession[]): void {
    this.revoked.push(...which.map(({ id }) => id));
    this.lost(which);
  }

  /** Sessions go on, if at all, with tokens that nobody has. */
  lost(which: readonly HeldSession[]): void {
    for (const { browser } of which) {
      const { header } = browser;
      if (header) this.dead.push(header);
      browser.cookies.delete('latchkey');
    }
    this.end((session) => which.includes(session));
  }

  /** Every session has ended, also those that nobody has. */
  endAll(): void {
    this.ended(this.sessions);
    this.ghosts = 0;
  }
}
