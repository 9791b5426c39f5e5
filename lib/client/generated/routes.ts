// Written by `npm run client` from the declarations of the routes: do not edit.

import type { Routes } from '../transport.js';

/** The plugins whose routes the client can call, by their names on the server. */
export type ClientPlugin =
  | 'admin'
  | 'apiKeys'
  | 'auditLog'
  | 'credential'
  | 'emailSignIn'
  | 'oauth'
  | 'passkeys'
  | 'suspension'
  | 'twoFactor';

/** The routes, by the methods of the client that call them. @internal */
export const ROUTES = {
  me: { path: '/me', method: 'GET' },
  deleteMe: { path: '/me', method: 'DELETE', input: true, session: 'ends' },
  exportMe: { path: '/me/export', method: 'POST', input: true },
  updateMe: { path: '/me', method: 'PATCH', input: true, session: 'changes' },
  changeEmail: { path: '/email-changes', method: 'POST', input: true },
  cancelEmailChange: { path: '/email-changes', method: 'DELETE' },
  confirmEmail: { path: '/email-changes/confirm', method: 'POST', input: true, session: 'changes' },
  undoChange: { path: '/undo-change', method: 'POST', input: true, session: 'changes' },
  lookUpUndo: { path: '/undo-change/lookup', method: 'POST', input: true },
  accountChanges: { path: '/account-changes', method: 'GET' },
  devices: { path: '/devices', method: 'GET' },
  forgetDevice: { path: '/devices/:id', method: 'DELETE', input: true },
  signInMethods: { path: '/sign-in-methods', method: 'GET' },
  reauthenticate: { path: '/reauthenticate', method: 'POST', input: true, session: 'changes' },
  sessions: { path: '/sessions', method: 'GET' },
  revokeSession: { path: '/sessions/:id', method: 'DELETE', session: 'changes' },
  signOut: { path: '/signout', method: 'POST', session: 'ends' },
  revokeSessions: { path: '/revoke-sessions', method: 'POST', input: true, session: 'changes' },
  completeSignIn: { path: '/signin/second-factor', method: 'POST', input: true, session: 'starts' },
  sendSignInCode: { path: '/signin/second-factor/send', method: 'POST', input: true },
  humanChallenge: { path: '/human-challenge', method: 'GET' },
  admin: {
    listUsers: { path: '/admin/users', method: 'GET', input: true },
    getUser: { path: '/admin/users/:id', method: 'GET' },
    createUser: { path: '/admin/users', method: 'POST', input: true },
    updateUser: { path: '/admin/users/:id', method: 'PATCH', input: true },
    deleteUser: { path: '/admin/users/:id', method: 'DELETE' },
    sendPasswordReset: { path: '/admin/users/:id/send-password-reset', method: 'POST' },
    requireNewPassword: { path: '/admin/users/:id/require-new-password', method: 'POST' },
    listUserSessions: { path: '/admin/users/:id/sessions', method: 'GET' },
    revokeUserSession: { path: '/admin/users/:id/sessions/:sessionId', method: 'DELETE' },
    revokeUserSessions: { path: '/admin/users/:id/revoke-sessions', method: 'POST' },
  },
  apiKeys: {
    create: { path: '/api-keys', method: 'POST', input: true },
    list: { path: '/api-keys', method: 'GET' },
    revoke: { path: '/api-keys/:id', method: 'DELETE' },
  },
  auditLog: { list: { path: '/admin/events', method: 'GET', input: true } },
  credential: {
    signUp: { path: '/signup/credential', method: 'POST', input: true, session: 'changes' },
    signIn: { path: '/signin/credential', method: 'POST', input: true, session: 'starts' },
    changePassword: { path: '/passwords/change', method: 'POST', input: true, session: 'changes' },
    setPassword: { path: '/passwords', method: 'PUT', input: true, session: 'changes' },
    removePassword: { path: '/passwords', method: 'DELETE', input: true, session: 'changes' },
    sendVerification: { path: '/email-verifications', method: 'POST' },
    verifyEmail: { path: '/verify-email', method: 'POST', input: true, session: 'changes' },
    requestPasswordReset: { path: '/passwords/request-reset', method: 'POST', input: true },
    resetPassword: { path: '/passwords/reset', method: 'POST', input: true, session: 'changes' },
    checkUsername: { path: '/usernames/check', method: 'POST', input: true },
  },
  emailSignIn: {
    request: { path: '/signin/email', method: 'POST', input: true },
    confirm: { path: '/signin/email/confirm', method: 'POST', input: true, session: 'starts' },
    requestReauthentication: { path: '/reauthenticate/email', method: 'POST' },
  },
  oauth: {
    accounts: { path: '/oauth/accounts', method: 'GET' },
    authorize: { path: '/oauth/:provider/authorize', method: 'GET', input: true },
    link: { path: '/oauth/:provider/link', method: 'GET', input: true },
    reauthenticate: { path: '/oauth/:provider/reauthenticate', method: 'GET', input: true },
    unlink: { path: '/oauth/:provider/unlink', method: 'DELETE', input: true },
    tokens: { path: '/oauth/:provider/tokens', method: 'GET' },
    refreshTokens: { path: '/oauth/:provider/tokens/refresh', method: 'POST' },
  },
  passkeys: {
    list: { path: '/passkeys', method: 'GET' },
    rename: { path: '/passkeys/:id', method: 'PATCH', input: true },
    remove: { path: '/passkeys/:id', method: 'DELETE', input: true, session: 'changes' },
    routes: {
      secondFactorOptions: { path: '/signin/second-factor/options', method: 'POST', input: true },
      creationOptions: { path: '/passkeys/options', method: 'POST' },
      create: { path: '/passkeys', method: 'POST', input: true, session: 'changes' },
      reauthenticationOptions: { path: '/reauthenticate/options', method: 'POST' },
      signInOptions: { path: '/signin/passkey/options', method: 'POST' },
      signIn: { path: '/signin/passkey', method: 'POST', input: true, session: 'starts' },
      undoOptions: { path: '/undo-change/options', method: 'POST', input: true },
    },
  },
  suspension: {
    suspend: { path: '/admin/users/:id/suspend', method: 'POST', input: true },
    reinstate: { path: '/admin/users/:id/reinstate', method: 'POST' },
  },
  twoFactor: {
    status: { path: '/two-factor', method: 'GET' },
    enroll: { path: '/two-factor/totp', method: 'POST' },
    confirm: { path: '/two-factor/totp/confirm', method: 'POST', input: true, session: 'changes' },
    disable: { path: '/two-factor/totp', method: 'DELETE', session: 'changes' },
    renewRecoveryCodes: { path: '/two-factor/recovery-codes', method: 'POST' },
    forgetTrustedDevices: { path: '/two-factor/trusted-devices', method: 'DELETE' },
    usePasskeys: { path: '/two-factor/passkeys', method: 'PUT', input: true, session: 'changes' },
    disableForUser: { path: '/admin/users/:id/disable-second-factor', method: 'POST' },
  },
} satisfies Routes;
