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
  | 'organizations'
  | 'passkeys'
  | 'suspension'
  | 'twoFactor';

/** The routes, by the methods of the client that call them. @internal */
export const ROUTES = {
  me: '/me GET',
  deleteMe: '/me DELETE i e',
  exportMe: '/me/export POST i',
  updateMe: '/me PATCH i c',
  changeEmail: '/email-changes POST i',
  cancelEmailChange: '/email-changes DELETE',
  confirmEmail: '/email-changes/confirm POST i c',
  undoChange: '/undo-change POST i c',
  lookUpUndo: '/undo-change/lookup POST i',
  accountChanges: '/account-changes GET',
  devices: '/devices GET',
  forgetDevice: '/devices/: DELETE i',
  signInMethods: '/sign-in-methods GET',
  reauthenticate: '/reauthenticate POST i c',
  sessions: '/sessions GET',
  revokeSession: '/sessions/: DELETE c',
  signOut: '/signout POST e',
  revokeSessions: '/revoke-sessions POST i c',
  completeSignIn: '/signin/second-factor POST i s',
  sendSignInCode: '/signin/second-factor/send POST i',
  humanChallenge: '/human-challenge GET',
  admin: {
    listUsers: '/admin/users GET i',
    getUser: '/admin/users/: GET',
    createUser: '/admin/users POST i',
    updateUser: '/admin/users/: PATCH i',
    deleteUser: '/admin/users/: DELETE',
    sendPasswordReset: '/admin/users/:/send-password-reset POST',
    requireNewPassword: '/admin/users/:/require-new-password POST',
    listUserSessions: '/admin/users/:/sessions GET',
    revokeUserSession: '/admin/users/:/sessions/: DELETE',
    revokeUserSessions: '/admin/users/:/revoke-sessions POST',
    actAs: '/admin/users/:/act POST i c',
    setRoles: '/admin/users/:/roles PUT i',
  },
  apiKeys: { create: '/api-keys POST i', list: '/api-keys GET', revoke: '/api-keys/: DELETE' },
  auditLog: { list: '/admin/events GET i' },
  credential: {
    signUp: '/signup/credential POST i c h',
    signIn: '/signin/credential POST i s',
    changePassword: '/passwords/change POST i c',
    setPassword: '/passwords PUT i c',
    removePassword: '/passwords DELETE i c',
    sendVerification: '/email-verifications POST',
    verifyEmail: '/verify-email POST i c',
    requestPasswordReset: '/passwords/request-reset POST i h',
    resetPassword: '/passwords/reset POST i c',
    checkUsername: '/usernames/check POST i',
  },
  emailSignIn: {
    request: '/signin/email POST i h',
    confirm: '/signin/email/confirm POST i s',
    requestReauthentication: '/reauthenticate/email POST',
  },
  oauth: {
    accounts: '/oauth/accounts GET',
    authorize: '/oauth/:/authorize GET i',
    link: '/oauth/:/link GET i',
    reauthenticate: '/oauth/:/reauthenticate GET i',
    unlink: '/oauth/:/unlink DELETE i',
    tokens: '/oauth/:/tokens GET',
    refreshTokens: '/oauth/:/tokens/refresh POST',
  },
  organizations: {
    create: '/organizations POST i',
    list: '/organizations GET i',
    get: '/organizations/: GET',
    update: '/organizations/: PATCH i',
    delete: '/organizations/: DELETE',
    members: '/organizations/:/members GET i',
    setRole: '/organizations/:/members/: PATCH i',
    removeMember: '/organizations/:/members/: DELETE i',
    invite: '/organizations/:/invitations POST i',
    invitations: '/organizations/:/invitations GET i',
    revokeInvitation: '/organizations/:/invitations/: DELETE',
    lookUp: '/invitations/lookup POST i',
    accept: '/invitations/accept POST i c',
  },
  passkeys: {
    list: '/passkeys GET',
    rename: '/passkeys/: PATCH i',
    remove: '/passkeys/: DELETE i c',
    routes: {
      secondFactorOptions: '/signin/second-factor/options POST i',
      creationOptions: '/passkeys/options POST',
      create: '/passkeys POST i c',
      reauthenticationOptions: '/reauthenticate/options POST',
      signInOptions: '/signin/passkey/options POST',
      signIn: '/signin/passkey POST i s',
      undoOptions: '/undo-change/options POST i',
    },
  },
  suspension: { suspend: '/admin/users/:/suspend POST i', reinstate: '/admin/users/:/reinstate POST' },
  twoFactor: {
    status: '/two-factor GET',
    enroll: '/two-factor/totp POST',
    confirm: '/two-factor/totp/confirm POST i c',
    disable: '/two-factor/totp DELETE c',
    renewRecoveryCodes: '/two-factor/recovery-codes POST',
    forgetTrustedDevices: '/two-factor/trusted-devices DELETE',
    usePasskeys: '/two-factor/passkeys PUT i c',
    disableForUser: '/admin/users/:/disable-second-factor POST',
  },
} satisfies Routes;
