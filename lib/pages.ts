export { type Html, type HtmlValue, html, unsafeHtml } from './html.js';
export type { ApiKeysValues } from './pages/account/api-keys.js';
export type { AccountValues } from './pages/account/profile.js';
export type { SecurityValues } from './pages/account/security/page.js';
export type { SessionsValues } from './pages/account/sessions.js';
export type { UserValues } from './pages/administration/user-view.js';
export type { UsersValues } from './pages/administration/users.js';
export type { EmailedSignInValues } from './pages/entrance/emailed-sign-in.js';
export type { ChangeEmailValues, VerifyEmailValues } from './pages/entrance/emails.js';
export type { PasskeyOfferValues } from './pages/entrance/passkey-offer.js';
export type { ForgotPasswordValues, ResetPasswordValues } from './pages/entrance/passwords.js';
export type { ReauthenticateValues } from './pages/entrance/reauthenticate.js';
export type { SecondFactorValues } from './pages/entrance/second-factor.js';
export type { SignInValues } from './pages/entrance/sign-in.js';
export type { SignOutValues } from './pages/entrance/sign-out.js';
export type { SignUpValues } from './pages/entrance/sign-up.js';
export type { UndoChangeValues } from './pages/entrance/undo-change.js';
export { PagesApi, pages } from './pages/index.js';
export type { PageLinks, PageName, PagesOptions, ThemeOptions } from './pages/options.js';
export type {
  CommonValues,
  ErrorValues,
  FormValues,
  LinkValues,
  PageKind,
  PageValues,
  Render,
  RenderedPage,
  RenderedPageOf,
} from './pages/values.js';
