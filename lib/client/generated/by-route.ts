// Written by `npm run client` from the declarations of the routes: do not edit.

import type { AnyShape } from '../shape.js';
import type {
  AdminClient,
  ApiKeysClient,
  AuditLogClient,
  CoreClient,
  CredentialClient,
  EmailSignInClient,
  OAuthClient,
  OrganizationsClient,
  PasskeyMethods,
  PasskeyRoutes,
  SuspensionClient,
  TwoFactorClient,
} from './methods.js';

/** The methods of the client, by the routes that they call. */
export interface MethodByRoute<S extends AnyShape> {
  'delete /admin/users/:id': AdminClient<S>['deleteUser'];
  'delete /admin/users/:id/sessions/:sessionId': AdminClient<S>['revokeUserSession'];
  'delete /api-keys/:id': ApiKeysClient['revoke'];
  'delete /devices/:id': CoreClient<S>['forgetDevice'];
  'delete /email-changes': CoreClient<S>['cancelEmailChange'];
  'delete /me': CoreClient<S>['deleteMe'];
  'delete /oauth/:provider/unlink': OAuthClient['unlink'];
  'delete /organizations/:id': OrganizationsClient<S>['delete'];
  'delete /organizations/:id/invitations/:invitationId': OrganizationsClient<S>['revokeInvitation'];
  'delete /organizations/:id/members/:userId': OrganizationsClient<S>['removeMember'];
  'delete /passkeys/:id': PasskeyMethods['remove'];
  'delete /passwords': CredentialClient<S>['removePassword'];
  'delete /sessions/:id': CoreClient<S>['revokeSession'];
  'delete /two-factor/totp': TwoFactorClient<S>['disable'];
  'delete /two-factor/trusted-devices': TwoFactorClient<S>['forgetTrustedDevices'];
  'get /account-changes': CoreClient<S>['accountChanges'];
  'get /admin/events': AuditLogClient['list'];
  'get /admin/users': AdminClient<S>['listUsers'];
  'get /admin/users/:id': AdminClient<S>['getUser'];
  'get /admin/users/:id/sessions': AdminClient<S>['listUserSessions'];
  'get /api-keys': ApiKeysClient['list'];
  'get /devices': CoreClient<S>['devices'];
  'get /human-challenge': CoreClient<S>['humanChallenge'];
  'get /me': CoreClient<S>['me'];
  'get /oauth/:provider/authorize': OAuthClient['authorize'];
  'get /oauth/:provider/link': OAuthClient['link'];
  'get /oauth/:provider/reauthenticate': OAuthClient['reauthenticate'];
  'get /oauth/:provider/tokens': OAuthClient['tokens'];
  'get /oauth/accounts': OAuthClient['accounts'];
  'get /organizations': OrganizationsClient<S>['list'];
  'get /organizations/:id': OrganizationsClient<S>['get'];
  'get /organizations/:id/invitations': OrganizationsClient<S>['invitations'];
  'get /organizations/:id/members': OrganizationsClient<S>['members'];
  'get /passkeys': PasskeyMethods['list'];
  'get /sessions': CoreClient<S>['sessions'];
  'get /sign-in-methods': CoreClient<S>['signInMethods'];
  'get /two-factor': TwoFactorClient<S>['status'];
  'patch /admin/users/:id': AdminClient<S>['updateUser'];
  'patch /me': CoreClient<S>['updateMe'];
  'patch /organizations/:id': OrganizationsClient<S>['update'];
  'patch /organizations/:id/members/:userId': OrganizationsClient<S>['setRole'];
  'patch /passkeys/:id': PasskeyMethods['rename'];
  'post /admin/users': AdminClient<S>['createUser'];
  'post /admin/users/:id/act': AdminClient<S>['actAs'];
  'post /admin/users/:id/disable-second-factor': TwoFactorClient<S>['disableForUser'];
  'post /admin/users/:id/reinstate': SuspensionClient<S>['reinstate'];
  'post /admin/users/:id/require-new-password': AdminClient<S>['requireNewPassword'];
  'post /admin/users/:id/revoke-sessions': AdminClient<S>['revokeUserSessions'];
  'post /admin/users/:id/send-password-reset': AdminClient<S>['sendPasswordReset'];
  'post /admin/users/:id/suspend': SuspensionClient<S>['suspend'];
  'post /api-keys': ApiKeysClient['create'];
  'post /email-changes': CoreClient<S>['changeEmail'];
  'post /email-changes/confirm': CoreClient<S>['confirmEmail'];
  'post /email-verifications': CredentialClient<S>['sendVerification'];
  'post /invitations/accept': OrganizationsClient<S>['accept'];
  'post /invitations/lookup': OrganizationsClient<S>['lookUp'];
  'post /me/export': CoreClient<S>['exportMe'];
  'post /oauth/:provider/tokens/refresh': OAuthClient['refreshTokens'];
  'post /organizations': OrganizationsClient<S>['create'];
  'post /organizations/:id/invitations': OrganizationsClient<S>['invite'];
  'post /passkeys': PasskeyRoutes<S>['create'];
  'post /passkeys/options': PasskeyRoutes<S>['creationOptions'];
  'post /passwords/change': CredentialClient<S>['changePassword'];
  'post /passwords/request-reset': CredentialClient<S>['requestPasswordReset'];
  'post /passwords/reset': CredentialClient<S>['resetPassword'];
  'post /reauthenticate': CoreClient<S>['reauthenticate'];
  'post /reauthenticate/email': EmailSignInClient<S>['requestReauthentication'];
  'post /reauthenticate/options': PasskeyRoutes<S>['reauthenticationOptions'];
  'post /revoke-sessions': CoreClient<S>['revokeSessions'];
  'post /signin/credential': CredentialClient<S>['signIn'];
  'post /signin/email': EmailSignInClient<S>['request'];
  'post /signin/email/confirm': EmailSignInClient<S>['confirm'];
  'post /signin/passkey': PasskeyRoutes<S>['signIn'];
  'post /signin/passkey/options': PasskeyRoutes<S>['signInOptions'];
  'post /signin/second-factor': CoreClient<S>['completeSignIn'];
  'post /signin/second-factor/options': PasskeyRoutes<S>['secondFactorOptions'];
  'post /signin/second-factor/send': CoreClient<S>['sendSignInCode'];
  'post /signout': CoreClient<S>['signOut'];
  'post /signup/credential': CredentialClient<S>['signUp'];
  'post /two-factor/recovery-codes': TwoFactorClient<S>['renewRecoveryCodes'];
  'post /two-factor/totp': TwoFactorClient<S>['enroll'];
  'post /two-factor/totp/confirm': TwoFactorClient<S>['confirm'];
  'post /undo-change': CoreClient<S>['undoChange'];
  'post /undo-change/lookup': CoreClient<S>['lookUpUndo'];
  'post /undo-change/options': PasskeyRoutes<S>['undoOptions'];
  'post /usernames/check': CredentialClient<S>['checkUsername'];
  'post /verify-email': CredentialClient<S>['verifyEmail'];
  'put /admin/users/:id/roles': AdminClient<S>['setRoles'];
  'put /passwords': CredentialClient<S>['setPassword'];
  'put /two-factor/passkeys': TwoFactorClient<S>['usePasskeys'];
}
