import type { Transaction } from 'sequelize';
import type { CallContext } from '../context/call.js';
import type { Languages } from '../locale/languages.js';
import type { User } from '../tables/core.js';
import type { AccountRow } from '../users/record.js';
import type { Users } from '../users/users.js';

/** What {@link MailLanguages} needs. */
interface MailLanguagesNeeds {
  readonly context: CallContext;
  readonly languages: Languages;
  readonly users: Pick<Users, 'findRecord'>;
}

/**
 * Chooses the language of emails by their reader: the user's choice, else the language of the request that created the
 * account, else the default. It never depends on who asks for an email, who can be a stranger or an administrator. With one
 * language, there is nothing to choose, and no statement is sent.
 */
export class MailLanguages {
  constructor(private readonly core: MailLanguagesNeeds) {}

  /** Whether there is a choice. */
  get areMany(): boolean {
    return this.core.languages.areMany;
  }

  /** Returns the language of the emails to a user. Undefined if there is only one. */
  async ofUser(user: User, transaction?: Transaction): Promise<string | undefined> {
    const { languages, users } = this.core;
    if (!languages.areMany) return undefined;
    const chosen = languages.chosenBy(user);
    if (chosen !== null) return chosen;
    const record = await users.findRecord({ id: user.id }, transaction);
    return this.ofAccount(record?.account ?? null);
  }

  /**
   * Returns the language of the emails to an account that was read.
   *
   * @param otherwise the language if there is no account. By default, the app's default
   */
  ofAccount(account: AccountRow | null, otherwise?: string): string | undefined {
    const { languages } = this.core;
    if (!languages.areMany) return undefined;
    const known = account === null ? otherwise : account.signUpLanguage;
    const offered = languages.tags.find((tag) => tag === known) ?? languages.default;
    return languages.chosenBy(account) ?? offered;
  }

  /** Returns the language of the current request, for an email that might create an account. */
  ofRequest(): string | undefined {
    const { languages, context } = this.core;
    return languages.areMany ? languages.of(context.client.request, null) : undefined;
  }
}
