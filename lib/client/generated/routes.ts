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
  deleteMe: '/me DELETE input ends',
  exportMe: '/me/export POST input',
  updateMe: '/me PATCH input changes',
  changeEmail: '/email-changes POST input',
  cancelEmailChange: '/email-changes DELETE',
  confirmEmail: '/email-changes/confirm POST input changes',
  undoChange: '/undo-change POST input changes',
  lookUpUndo: '/undo-change/lookup POST input',
  accountChanges: '/account-changes GET',
  devices: '/devices GET',
  forgetDevice: '/devices/: DELETE input',
  signInMethods: '/sign-in-methods GET',
  reauthenticate: '/reauthenticate POST input changes',
  sessions: '/sessions GET',
  revokeSession: '/sessions/: DELETE changes',
  signOut: '/signout POST ends',
  revokeSessions: '/revoke-sessions POST input changes',
  completeSignIn: '/signin/second-factor POST input starts',
  sendSignInCode: '/signin/second-factor/send POST input',
  humanChallenge: '/human-challenge GET',
  admin: {
    listUsers: '/admin/users GET input',
    getUser: '/admin/users/: GET',
    createUser: '/admin/users POST input',
    updateUser: '/admin/users/: PATCH input',
    deleteUser: '/admin/users/: DELETE',
    sendPasswordReset: '/admin/users/:/send-password-reset POST',
    requireNewPassword: '/admin/users/:/require-new-password POST',
    listUserSessions: '/admin/users/:/sessions GET',
    revokeUserSession: '/admin/users/:/sessions/: DELETE',
    revokeUserSessions: '/admin/users/:/revoke-sessions POST',
    actAs: '/admin/users/:/act POST input changes',
    setRoles: '/admin/users/:/roles PUT input',
  },
  apiKeys: { create: '/api-keys POST input', list: '/api-keys GET', revoke: '/api-keys/: DELETE' },
  auditLog: { list: '/admin/events GET input' },
  credential: {
    signUp: '/signup/credential POST input changes human',
    signIn: '/signin/credential POST input starts',
    changePassword: '/passwords/change POST input changes',
    setPassword: '/passwords PUT input changes',
    removePassword: '/passwords DELETE input changes',
    sendVerification: '/email-verifications POST',
    verifyEmail: '/verify-email POST input changes',
    requestPasswordReset: '/passwords/request-reset POST input human',
    resetPassword: '/passwords/reset POST input changes',
    checkUsername: '/usernames/check POST input',
  },
  emailSignIn: {
    request: '/signin/email POST input human',
    confirm: '/signin/email/confirm POST input starts',
    requestReauthentication: '/reauthenticate/email POST',
  },
  oauth: {
    accounts: '/oauth/accounts GET',
    authorize: '/oauth/:/authorize GET input',
    link: '/oauth/:/link GET input',
    reauthenticate: '/oauth/:/reauthenticate GET input',
    unlink: '/oauth/:/unlink DELETE input',
    tokens: '/oauth/:/tokens GET',
    refreshTokens: '/oauth/:/tokens/refresh POST',
  },
  organizations: {
    create: '/organizations POST input',
    list: '/organizations GET input',
    get: '/organizations/: GET',
    update: '/organizations/: PATCH input',
    delete: '/organizations/: DELETE',
    members: '/organizations/:/members GET input',
    setRole: '/organizations/:/members/: PATCH input',
    removeMember: '/organizations/:/members/: DELETE input',
    invite: '/organizations/:/invitations POST input',
    invitations: '/organizations/:/invitations GET input',
    revokeInvitation: '/organizations/:/invitations/: DELETE',
    lookUpInvitation: '/invitations/lookup POST input',
    acceptInvitation: '/invitations/accept POST input changes',
  },
  passkeys: {
    list: '/passkeys GET',
    rename: '/passkeys/: PATCH input',
    remove: '/passkeys/: DELETE input changes',
    routes: {
      secondFactorOptions: '/signin/second-factor/options POST input',
      creationOptions: '/passkeys/options POST',
      create: '/passkeys POST input changes',
      reauthenticationOptions: '/reauthenticate/options POST',
      signInOptions: '/signin/passkey/options POST',
      signIn: '/signin/passkey POST input starts',
      undoOptions: '/undo-change/options POST input',
    },
  },
  suspension: { suspend: '/admin/users/:/suspend POST input', reinstate: '/admin/users/:/reinstate POST' },
  twoFactor: {
    status: '/two-factor GET',
    enroll: '/two-factor/totp POST',
    confirm: '/two-factor/totp/confirm POST input changes',
    disable: '/two-factor/totp DELETE changes',
    renewRecoveryCodes: '/two-factor/recovery-codes POST',
    forgetTrustedDevices: '/two-factor/trusted-devices DELETE',
    usePasskeys: '/two-factor/passkeys PUT input changes',
    disableForUser: '/admin/users/:/disable-second-factor POST',
  },
} satisfies Routes;
