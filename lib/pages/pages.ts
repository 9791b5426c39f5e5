import { keys } from './account/api-keys.js';
import { organization } from './account/organization.js';
import { organizations } from './account/organizations.js';
import { account } from './account/profile.js';
import { enrolment } from './account/security/enrolment.js';
import { security } from './account/security/page.js';
import { sessions } from './account/sessions.js';
import { user } from './administration/user.js';
import { users } from './administration/users.js';
import { emailedSignIn } from './entrance/emailed-sign-in.js';
import { changeEmail, verifyEmail } from './entrance/emails.js';
import { join } from './entrance/join.js';
import { passkeyOffer } from './entrance/passkey-offer.js';
import { forgotPassword, resetPassword } from './entrance/passwords.js';
import { reauthenticate } from './entrance/reauthenticate.js';
import { secondFactor } from './entrance/second-factor.js';
import { signIn } from './entrance/sign-in.js';
import { signOut } from './entrance/sign-out.js';
import { signUp } from './entrance/sign-up.js';
import { undoChange } from './entrance/undo-change.js';
import type { Page } from './page.js';
import type { Site } from './site.js';

/** Returns the pages of an Auth, except for those that the app replaces. */
export function pagesOf(site: Site): readonly Page[] {
  const all = [
    signIn(site),
    emailedSignIn(site),
    passkeyOffer(site),
    signUp(site),
    signOut(site),
    secondFactor(site),
    reauthenticate(site),
    forgotPassword(site),
    resetPassword(site, 'reset-password'),
    resetPassword(site, 'invitation'),
    join(site),
    verifyEmail(site),
    changeEmail(site),
    undoChange(site),
    account(site),
    security(site),
    enrolment(site),
    sessions(site),
    keys(site),
    organizations(site),
    organization(site),
    users(site),
    user(site),
  ];
  return all.filter((page) => page !== null && !Object.hasOwn(site.settings.own, page.name)) as Page[];
}
