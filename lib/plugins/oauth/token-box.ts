import type { SecretBox } from '../../crypto/secret-box.js';
import type { AccountRow } from './declarations.js';
import type { TokenSet } from './token-response.js';

export const TOKEN_FIELDS = ['accessToken', 'refreshToken', 'idToken'] as const;

export type TokenField = (typeof TOKEN_FIELDS)[number];

/** The decrypted tokens of an account. */
export type OpenTokens = { readonly [F in TokenField]: string | null };

/** Encrypts the tokens of accounts. Each is bound to its row, provider and column. */
export class TokenBox {
  constructor(private readonly box: SecretBox) {}

  /** Encrypts the tokens that the provider has issued. */
  seal(account: Pick<AccountRow, 'id' | 'provider'>, tokens: Partial<OpenTokens>) {
    const sealed: Partial<Record<TokenField, string>> = {};
    for (const field of TOKEN_FIELDS) {
      const token = tokens[field];
      if (token) sealed[field] = this.box.seal(token, contextOf(account, field));
    }
    return sealed;
  }

  /** Returns the columns that a token response sets. They do not include tokens that the response omits. */
  columnsOf(account: Pick<AccountRow, 'id' | 'provider'>, tokens: TokenSet, now: Date) {
    return {
      ...this.seal(account, tokens),
      scopes: tokens.scopes,
      tokenType: tokens.tokenType,
      accessTokenExpiresAt: tokens.lifetimeMs === null ? null : new Date(now.getTime() + tokens.lifetimeMs),
      relinkRequired: false,
      refreshedAt: now,
      updatedAt: now,
    };
  }

  /** Decrypts the tokens of an account. Null if any of them cannot be decrypted. */
  open(account: AccountRow): OpenTokens | null {
    const tokens: Record<TokenField, string | null> = {
      accessToken: null,
      refreshToken: null,
      idToken: null,
    };
    for (const field of TOKEN_FIELDS) {
      if (account[field] === null) continue;
      tokens[field] = this.openField(account, field);
      if (tokens[field] === null) return null;
    }
    return tokens;
  }

  /** Decrypts one token. Null if there is no token, or if it cannot be decrypted. */
  openField(account: AccountRow, field: TokenField): string | null {
    return this.box.open(account[field] ?? '', contextOf(account, field));
  }
}

/** Returns the context that an encrypted token is bound to. */
export function contextOf({ id, provider }: Pick<AccountRow, 'id' | 'provider'>, field: TokenField): string {
  return `account ${id} ${provider} ${field}`;
}
