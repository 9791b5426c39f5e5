export { type Html, type HtmlValue, html, unsafeHtml } from './html.js';
export type { ApiKeysValues, ApiKeyValues } from './pages/account/api-keys.js';
export type {
  FormWithRoles,
  InvitationValues,
  MemberValues,
  OrganizationValues,
} from './pages/account/organization.js';
export type { ListedOrganization, OrganizationsValues } from './pages/account/organizations.js';
export type { AccountValues } from './pages/account/profile.js';
export type {
  ChangesValues,
  ChangeValues,
  DevicesValues,
  DeviceValues,
} from './pages/account/security/activity.js';
export type { ConfirmEmailValues } from './pages/account/security/confirm-email.js';
export type { EnrolmentValues } from './pages/account/security/enrolment.js';
export type { LinkedAccountsValues, LinkedAccountValues } from './pages/account/security/linked-accounts.js';
export type { SignInMethodsValues } from './pages/account/security/methods.js';
export type { SecurityValues } from './pages/account/security/page.js';
export type { PasskeysValues, PasskeyValues } from './pages/account/security/passkeys.js';
export type { PasswordValues } from './pages/account/security/password.js';
export type { SecondFactorCardValues } from './pages/account/security/second-factor.js';
export type { SessionsValues, SessionValues } from './pages/account/sessions.js';
export type { AdministeredUser, UserState } from './pages/administration/administered.js';
export type {
  AdministeredSession,
  OwnFact,
  SignInMethods,
  UserEvent,
  UserValues,
} from './pages/administration/user-view.js';
export type { ListedUser, UsersValues } from './pages/administration/users.js';
export type { EmailedSignInValues } from './pages/entrance/emailed-sign-in.js';
export type { ChangeEmailValues, VerifyEmailValues } from './pages/entrance/emails.js';
export type { InvitationToJoin, JoinValues } from './pages/entrance/join.js';
export type { NewAccountValues } from './pages/entrance/new-account.js';
export type { PasskeyOfferValues } from './pages/entrance/passkey-offer.js';
export type { ForgotPasswordValues, ResetPasswordValues } from './pages/entrance/passwords.js';
export type { ReauthenticateValues } from './pages/entrance/reauthenticate.js';
export type { SecondFactorValues } from './pages/entrance/second-factor.js';
export type { SignInValues } from './pages/entrance/sign-in.js';
export type { SignOutValues } from './pages/entrance/sign-out.js';
export type { SignUpValues } from './pages/entrance/sign-up.js';
export type { UndoChangeValues } from './pages/entrance/undo-change.js';
export { PagesApi, pages } from './pages/index.js';
export type { PageName, PagesOptions, ThemeOptions } from './pages/options.js';
export type { OwnField } from './pages/own-fields.js';
export type { ProviderValues } from './pages/providers.js';
export type {
  CardValues,
  CommonValues,
  ErrorValues,
  FormValues,
  LinkValues,
  PageKind,
  PageLinks,
  PageValues,
  Render,
  RenderedPage,
  RenderedPageOf,
} from './pages/values.js';
export type { Words } from './words/pages/index.js';
