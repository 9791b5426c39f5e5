// Written by `npm run client` from the declarations of the routes: do not edit.

import type { AnyShape } from '../shape.js';

/** A user, without the app's own fields. */
export interface Account {
  readonly id: string;
  readonly email: string | null;
  /** Depends on the server's config. */
  readonly username?: string | null;
  /** The username as the user typed it. Depends on the server's config. */
  readonly username_display?: string | null;
  readonly email_verified_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** The roles of the user, without the role that every user has. Depends on the server's config. */
  readonly roles?: readonly string[];
}

/** A change of the account in the last 30 days. */
export interface AccountChange {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly device: string | null;
  readonly ip: string | null;
  /** Whether the link of the notice about it still works. */
  readonly undoable: boolean;
}

/** A user as administrators see them, without the app's own fields. */
export interface AccountForAdmins {
  readonly id: string;
  readonly email: string | null;
  /** Depends on the server's config. */
  readonly username?: string | null;
  /** The username as the user typed it. Depends on the server's config. */
  readonly username_display?: string | null;
  readonly email_verified_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  /** Depends on the server's config. */
  readonly deleted_at?: string | null;
  /** The roles of the user, without the role that every user has. Depends on the server's config. */
  readonly roles?: readonly string[];
  /** Depends on the server's config. */
  readonly suspended_at?: string | null;
  /** Depends on the server's config. */
  readonly suspended_until?: string | null;
  /** Depends on the server's config. */
  readonly suspension_reason?: string | null;
  readonly [field: string]: unknown;
}

/**
 * The new passkey. If a second factor had to be set up, also the session with a new token, and recovery
 * codes.
 */
export interface AddedPasskey<S extends AnyShape> {
  readonly passkey: Passkey;
  /**
   * Only if the account had no recovery codes left. They cannot be retrieved later. Depends on the server's
   * config.
   */
  readonly recovery_codes?: readonly string[];
  /** Depends on the server's config. */
  readonly user?: User<S>;
  /** Depends on the server's config. */
  readonly session?: Session;
}

/** An API key, without the key itself. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  /** The first characters of the key, to distinguish keys. */
  readonly start: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
}

/** An event of the audit log. */
export interface AuditEvent {
  readonly id: string;
  readonly kind: string;
  readonly user_id: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** Options for navigator.credentials.create(), as JSON. */
export interface CreationOptions {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  /** In milliseconds. */
  readonly timeout: number;
  readonly excludeCredentials: readonly PasskeyDescriptor[];
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  readonly attestation: 'none';
  readonly extensions: { readonly credProps: true };
}

/** A browser that the account knows. */
export interface Device {
  readonly id: string;
  readonly name: string | null;
  readonly first_seen_at: string;
  readonly last_seen_at: string;
  /** Whether the request came from this browser. */
  readonly current: boolean;
  /**
   * Until when sign-ins with the password there do not ask for the second factor. Depends on the server's
   * config.
   */
  readonly trusted_until?: string | null;
}

/** The page where the browser arrives after the provider. */
export interface FlowInput {
  /**
   * Where to redirect afterwards: a path of this origin, or a URL of a trusted one. By default the root of
   * this app.
   */
  callback_url?: string;
}

/** A challenge of the human check. */
export interface HumanChallenge {
  readonly parameters: {
    readonly algorithm: 'PBKDF2/SHA-256';
    /** The number of iterations. */
    readonly cost: number;
    /** In seconds since 1970. */
    readonly expiresAt: number;
    /** In bytes. */
    readonly keyLength: number;
    /** The hex digits that the key must start with. */
    readonly keyPrefix: string;
    readonly nonce: string;
    readonly salt: string;
  };
  readonly signature: string;
}

/** An invitation to an organization, without its token. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  /** The role that the invited user will have. */
  readonly role: string;
  readonly invited_by: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/** An account at a provider that is linked to the user. */
export interface LinkedAccount {
  readonly provider: string;
  readonly provider_account_id: string;
  readonly scopes: readonly string[];
  readonly access_token_expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A session in a list. */
export interface ListedSession {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly last_active_at: string;
  /** The latest time at which the session ends. It ends earlier if it is idle for too long. */
  readonly expires_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  /** 2 if the session is verified with two factors or a passkey, otherwise 1. */
  readonly aal: number;
  /** How the user authenticated, such as pwd (RFC 8176). */
  readonly amr: readonly string[];
  /** Set if an administrator acts as the user in this session. Depends on the server's config. */
  readonly acting?: true;
  /**
   * The tasks that the user must complete before the session can be used, in this order. Depends on the
   * server's config.
   */
  readonly tasks?: readonly string[];
  /** Whether the request presented this session. */
  readonly current: boolean;
}

/** The user, and the session or API key of the request. */
export interface Me<S extends AnyShape> {
  readonly user: User<S>;
  readonly session: Session | null;
  /** Depends on the server's config. */
  readonly api_key?: ApiKey;
}

/** A member of an organization. */
export interface Member {
  readonly user: {
    readonly id: string;
    readonly email: string | null;
    readonly username: string | null;
    readonly username_display: string | null;
  };
  readonly role: string;
  readonly created_at: string;
}

/** The membership of the current user in an organization. */
export interface Membership {
  /** The role of the user in the organization. */
  readonly role: string;
  readonly created_at: string;
}

/** The response of an authenticator that has created a passkey, as JSON (RegistrationResponseJSON). */
export interface NewPasskeyResponse {
  /** In base64url. */
  id: string;
  /** In base64url. */
  rawId: string;
  /** Always public-key. */
  type: string;
  response: {
    /** In base64url. */
    clientDataJSON: string;
    /** In base64url. */
    attestationObject: string;
    transports?: string[];
  };
}

/** An invitation that can be accepted. */
export interface OpenInvitation {
  readonly organization: Organization;
  readonly email: string;
  readonly role: string;
  /** The email or username of the member who invites. Null if the app does. */
  readonly invited_by: string | null;
  readonly expires_at: string;
  /** Whether the address has an account, so that accepting requires a session. */
  readonly account: boolean;
}

/** An organization: a group of users who share data of the app. */
export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly created_at: string;
}

/** An organization, with the role of the current user in it. */
export interface OrganizationOfUser {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly created_at: string;
  readonly role: string;
}

/** A page of a list. */
export interface Page {
  limit?: string;
  cursor?: string;
}

/** A passkey of the user. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** Whether it stays on one device, or can be copied to others. */
  readonly device_type: 'singleDevice' | 'multiDevice';
  /** Whether there is a copy of it elsewhere. */
  readonly backed_up: boolean;
  /** How browsers reach it, such as internal or usb. */
  readonly transports: readonly string[];
}

/** A passkey in options. */
export interface PasskeyDescriptor {
  readonly id: string;
  readonly type: 'public-key';
  readonly transports: readonly string[];
}

/** The response of an authenticator to a sign-in, as JSON (AuthenticationResponseJSON). */
export interface PasskeyResponse {
  /** In base64url. */
  id: string;
  /** In base64url. */
  rawId: string;
  /** Always public-key. */
  type: string;
  response: {
    /** In base64url. */
    clientDataJSON: string;
    /** In base64url. */
    authenticatorData: string;
    /** In base64url. */
    signature: string;
    /** In base64url. */
    userHandle?: string | null;
  };
}

/** A sign-in that waits for a further step. */
export interface PendingSignIn {
  readonly second_factor: {
    /** The methods that can complete the sign-in: totp, recovery_code, passkey, email_code. */
    readonly methods: readonly string[];
    readonly expires_at: string;
    /** For clients without cookies. */
    readonly pending_token?: string;
  };
}

/** A provider's tokens, for its API. */
export interface ProviderTokens {
  readonly provider: string;
  readonly access_token: string | null;
  readonly refresh_token: string | null;
  readonly id_token: string | null;
  readonly token_type: string | null;
  readonly scopes: readonly string[];
  readonly access_token_expires_at: string | null;
}

/** One proof of the user's identity. */
export interface Reauthentication {
  /** Depends on the server's config. */
  password?: string;
  /** Depends on the server's config. */
  email_code?: string;
  passkey?: PasskeyResponse;
  /** Depends on the server's config. */
  code?: string;
  /** Depends on the server's config. */
  recovery_code?: string;
}

/** Options for navigator.credentials.get(), as JSON. */
export interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
  /** In milliseconds. */
  readonly timeout: number;
  readonly allowCredentials: readonly PasskeyDescriptor[];
  readonly userVerification: 'required';
}

/** The second factor or the emailed code that completes a pending sign-in. */
export type SecondFactor =
  | {
      method: 'totp' | 'recovery_code' | 'email_code';
      code: string;
      /** For clients without cookies. */
      pending_token?: string;
      /**
       * Whether the browser stands in for the second factor from now on, if twoFactor() allows it. It has no
       * effect unless the sign-in started with the password.
       */
      trust_device?: boolean;
    }
  | {
      method: 'passkey';
      response: PasskeyResponse;
      /** For clients without cookies. */
      pending_token?: string;
      /**
       * Whether the browser stands in for the second factor from now on, if twoFactor() allows it. It has no
       * effect unless the sign-in started with the password.
       */
      trust_device?: boolean;
    };

/** A session of a user, without its token. Times are in ISO 8601. */
export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly last_active_at: string;
  /** The latest time at which the session ends. It ends earlier if it is idle for too long. */
  readonly expires_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  /** 2 if the session is verified with two factors or a passkey, otherwise 1. */
  readonly aal: number;
  /** How the user authenticated, such as pwd (RFC 8176). */
  readonly amr: readonly string[];
  /** Set if an administrator acts as the user in this session. Depends on the server's config. */
  readonly acting?: true;
  /**
   * The tasks that the user must complete before the session can be used, in this order. Depends on the
   * server's config.
   */
  readonly tasks?: readonly string[];
}

/** A session as administrators see it, with the administrator who acts as the user in it. */
export interface SessionForAdmins {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: string;
  readonly last_active_at: string;
  /** The latest time at which the session ends. It ends earlier if it is idle for too long. */
  readonly expires_at: string;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  /** 2 if the session is verified with two factors or a passkey, otherwise 1. */
  readonly aal: number;
  /** How the user authenticated, such as pwd (RFC 8176). */
  readonly amr: readonly string[];
  /** Set if an administrator acts as the user in this session. */
  readonly acting?: true;
  /**
   * The tasks that the user must complete before the session can be used, in this order. Depends on the
   * server's config.
   */
  readonly tasks?: readonly string[];
  /** The administrator who acts as the user in this session. */
  readonly actor_id?: string;
}

/** The sign-in methods of a user. The plugins decide which ones there are. */
export interface SignInMethods {
  /** Depends on the server's config. */
  readonly password?: boolean;
  /** Depends on the server's config. */
  readonly email?: boolean;
  /** Depends on the server's config. */
  readonly providers?: readonly string[];
  readonly passkeys: number;
  /** Depends on the server's config. */
  readonly totp?: boolean;
  /** Depends on the server's config. */
  readonly recovery_codes_left?: number;
}

/** The input of a sign-up with a password. */
export interface SignUpInput {
  /** Depends on the server's config. */
  email?: string;
  /** Depends on the server's config. */
  username?: string;
  /** 8 to 256 characters, and not a common password. */
  password: string;
}

/** A new account. With concealExistingEmails, no response has it. */
export interface SignedUp<S extends AnyShape> {
  readonly user: User<S>;
  /** Only with signInOnSignUp. */
  readonly session?: Session;
  /** For a request with the header Latchkey-Device: its next value. Depends on the server's config. */
  readonly device_token?: string;
}

/** The secret for an authenticator app. */
export interface TotpEnrolment {
  /** In base32. */
  readonly secret: string;
  readonly otpauth_url: string;
  /** The otpauth_url as a QR code, which is an SVG document. */
  readonly qr_svg: string;
}

/** The state of the user's second factor. */
export interface TwoFactorStatus {
  /** Whether codes from an authenticator app are enabled. */
  readonly totp: boolean;
  readonly recovery_codes_left: number;
  /** Whether the user has enabled passkeys as a second factor. */
  readonly passkeys: boolean;
  /** Whether the user must have a second factor. */
  readonly required: boolean;
  /**
   * The number of browsers in which sign-ins with the password do not ask for the second factor. Depends on
   * the server's config.
   */
  readonly trusted_devices?: number;
}

/** The proof that an undo can require in addition to its token. */
export interface UndoProof {
  /** Depends on the server's config. */
  password?: string;
  /** Depends on the server's config. */
  code?: string;
  /** Depends on the server's config. */
  recovery_code?: string;
  passkey?: PasskeyResponse;
  /** The pending_token of the options, for clients without cookies. */
  pending_token?: string;
}

/** The change that the token of a notice undoes. */
export interface UndoableChange {
  readonly kind: string;
  readonly at: string;
  readonly device: string | null;
  /** The proofs that are still missing in this browser. */
  readonly missing: readonly ('browser' | 'password' | 'second_factor' | 'passkey')[];
}

/** A user, with the app's own fields. */
export type User<S extends AnyShape> = Account & Readonly<S['fields']>;

/** A user as administrators see them, with the fields that only they see. */
export type UserForAdmins<S extends AnyShape> = AccountForAdmins & Readonly<S['fields']>;

/** The values of a user that administrators can set, including fields that users cannot set themselves. */
export interface UserInput {
  /** Depends on the server's config. */
  username?: string;
  [field: string]: unknown;
}

/** The value for the header Latchkey-Device. */
export interface WithDevice {
  /** For a request with the header Latchkey-Device: its next value. Depends on the server's config. */
  readonly device_token?: string;
}

/** The password, in place of a recent sign-in. */
export interface WithPassword {
  /** In place of a recent sign-in. Depends on the server's config. */
  password?: string;
}

/** A sign-in that proves access to the mailbox. */
export interface WithRemoval {
  /**
   * Set if the sign-in has removed the password, because someone else could have chosen it. Depends on the
   * server's config.
   */
  readonly password_removed?: true;
}

/** A user, and the session that a request has issued. */
export interface WithSession<S extends AnyShape> {
  readonly user: User<S>;
  readonly session: Session;
}
