import type { Page } from 'playwright-core';
import { codeOf, forgetSteps, wrongCode } from '../../support/two-factor.js';
import { addAuthenticator } from './authenticator.js';
import {
  card,
  field,
  fill,
  follow,
  openCard,
  press,
  says,
  showsPage,
  type specBrowser,
  unfold,
} from './browser.js';
import type { OwnApp } from './own-app.js';

/** Looks at a state of a page. */
export type Look = (state: string, page: Page) => Promise<void>;

type Browser = ReturnType<typeof specBrowser>;

/** Waits until the page says why it is refused: in a summary, or beside the only field that is wrong. */
const isRefused = (page: Page) =>
  page.locator('main').getByRole('alert').filter({ visible: true }).first().waitFor();

/** Visits the pages of users who are not signed in, in all their main states. */
export async function visitEntrance(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const grace = await app.createPerson('grace@example.com');
  const page = await browser.open(app.url('/auth/sign-in'));
  const goTo = (path: string) => page.goto(app.url(path));
  await look('sign-in', page);
  await fill(page, 'Email or username', grace.email);
  await fill(page, 'Password', 'not the password');
  await press(page, 'Sign in');
  await isRefused(page);
  await look('sign-in, refused', page);
  await goTo('/auth/sign-in');
  // The email of the rejected sign-in is filled in.
  await fill(page, 'Email or username', '');
  await press(page, 'Email me a code');
  await isRefused(page);
  await look('sign-in, a code without an email refused', page);
  await fill(page, 'Email or username', grace.email);
  await press(page, 'Email me a code');
  await showsPage(page, 'Enter your code');
  await look('sign-in/email', page);
  // A complete code is sent by itself.
  await fill(page, 'Code', 'AAAA-AAAA');
  await isRefused(page);
  await look('sign-in/email, refused', page);
  const { url } = await app.inbox.next(grace.email, 'sign-in-code');
  await page.goto(url);
  await look('sign-in/email, by link', page);
  const elsewhere = await browser.open(url);
  await showsPage(elsewhere, 'You asked for this email in another browser');
  await look('sign-in/email, in another browser', elsewhere);
  await goTo('/auth/forgot-password');
  await look('forgot-password', page);
  await fill(page, 'Email', grace.email);
  await press(page, 'Email me a link');
  await showsPage(page, 'Check your email');
  await look('forgot-password, sent', page);
  await page.goto((await app.inbox.next(grace.email, 'reset-password')).url);
  await look('reset-password', page);
  await fill(page, 'New password', 'password1');
  await press(page, 'Save the password');
  await isRefused(page);
  await look('reset-password, refused', page);
  for (const path of ['reset-password', 'invitation', 'verify-email', 'change-email', 'undo-change']) {
    await goTo(`/auth/${path}?token=invalid`);
    await look(`${path}, invalid`, page);
  }
  await goTo('/auth/second-factor');
  await look('second-factor, expired', page);
  await goTo('/auth/sign-up');
  await look('sign-up', page);
  await field(page, 'Email').first().fill('hedy@example.com');
  await fill(page, 'Password', 'password1');
  await press(page, 'Create an account');
  await isRefused(page);
  await look('sign-up, refused', page);
  await goTo('/auth/sign-up?done=check-mail');
  await look('sign-up, check the mail', page);
  await goTo('/auth/verify-email?waiting=true');
  await look('verify-email, waiting', page);
}

/** Visits the pages of the emails of accounts. */
export async function visitEmails(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const page = await browser.open(app.url('/auth/sign-up'));
  const hedy = { email: 'hedy@example.com', password: 'nanoseconds of wire' };
  await field(page, 'Email').first().fill(hedy.email);
  await fill(page, 'Password', hedy.password);
  await press(page, 'Create an account');
  await showsPage(page, `Notes of ${hedy.email}`);
  await page.goto(app.url('/auth/account'));
  await look('account, the email not confirmed', page);
  await page.goto(app.url('/auth/verify-email'));
  await look('verify-email, invalid, signed in', page);
  const { url } = await app.inbox.next(hedy.email, 'verify-email');
  const elsewhere = await browser.open(url);
  await look('verify-email, in another browser', elsewhere);
  await fill(elsewhere, 'Password', 'not the password');
  await press(elsewhere, 'Confirm');
  await isRefused(elsewhere);
  await look('verify-email, refused', elsewhere);
  await page.goto(url);
  await look('verify-email', page);
  await press(page, 'Confirm');
  await showsPage(page, 'Your email is confirmed');
  await look('verify-email, done', page);
  await page.goto(app.url('/auth/account'));
  await fill(page, 'New email', 'hedy@example.org');
  await press(page, 'Change the email');
  await says(page, 'status', 'An email with a link is on its way');
  const { url: change } = await app.inbox.next('hedy@example.org', 'verify-new-email');
  await page.goto(change);
  await look('change-email', page);
  await elsewhere.goto(change);
  await look('change-email, in another browser', elsewhere);
  await fill(elsewhere, 'Password', 'not the password');
  await press(elsewhere, 'Use this email');
  await isRefused(elsewhere);
  await look('change-email, refused', elsewhere);
  await press(page, 'Use this email');
  await showsPage(page, 'Your email was changed');
  await look('change-email, done', page);
  await page.goto(app.url('/auth/account/security#password'));
  await fill(page, 'Current password', hedy.password);
  await fill(page, 'New password', 'a difference engine');
  await press(page, 'Change the password');
  await says(page, 'status', 'Your password was changed.');
  const { url: undo } = await app.inbox.next('hedy@example.org', 'password-changed');
  await elsewhere.goto(undo);
  await look('undo-change, in another browser', elsewhere);
  await page.goto(undo);
  await look('undo-change', page);
  await fill(page, 'Your password from before the change', 'not the password');
  await press(page, 'Undo the change');
  await isRefused(page);
  await look('undo-change, refused', page);
}

/** Visits the pages of an app that asks for more: a code in a new browser, a second factor, and a field. */
export async function visitStrict(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const grace = await app.createPerson('grace@example.com');
  const page = await browser.open(app.url('/auth/sign-in'));
  await fill(page, 'Email or username', grace.email);
  await fill(page, 'Password', grace.password);
  await press(page, 'Sign in');
  await showsPage(page, 'Confirm that it is you');
  await look('second-factor, an emailed code', page);
  await fill(page, 'Code', 'AAAA-AAAA');
  await isRefused(page);
  await look('second-factor, an emailed code refused', page);
  await fill(page, 'Code', (await app.inbox.next(grace.email, 'browser-code')).code);
  await showsPage(page, 'One more step');
  await look('security, a second factor demanded', page);
  await addAuthenticator(page);
  await press(page, 'Add a passkey');
  await page.getByRole('heading', { name: 'Save your recovery codes' }).and(page.locator(':focus')).waitFor();
  await look('security, the recovery codes of a passkey', page);
  const newcomer = await browser.open(app.url('/auth/sign-up'));
  await fill(newcomer, 'Email', 'hedy@example.com');
  await press(newcomer, 'Email me a code instead');
  await showsPage(newcomer, 'Enter your code');
  await fill(newcomer, 'Code', (await app.inbox.next('hedy@example.com', 'sign-in-code')).code);
  await showsPage(newcomer, 'Create your account');
  await look('sign-in/email, fields missing', newcomer);
}

/** Visits the page of an app that closes its sign-up. */
export async function visitClosed(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  await look('sign-up, closed', await browser.open(app.url('/auth/sign-up')));
}

/** Visits the pages of an account. */
export async function visitAccount(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const ada = await app.createPerson('ada@example.com');
  const page = await browser.open(app.url('/notes'));
  const goTo = (path: string) => page.goto(app.url(path));
  await addAuthenticator(page);
  await app.signIn(page, ada, '/auth/account');
  await look('account', page);
  await fill(page, 'Username', '!');
  await press(page, 'Save the username');
  await isRefused(page);
  await look('account, refused', page);
  await fill(page, 'Username', 'ada');
  await press(page, 'Save the username');
  await says(page, 'status', 'Your username is saved.');
  await look('account, done', page);
  await unfold(page, 'Delete');
  await look('account, the deletion open', page);
  await fill(page, `To confirm, type ${ada.email}`, 'ada');
  await press(page, 'Yes, delete my account');
  await isRefused(page);
  await look('account, the deletion refused', page);
  await goTo('/auth/account/sessions');
  await look('sessions, one', page);
  await app.signIn(await browser.open(app.url('/notes')), ada, '/notes');
  await page.reload();
  await unfold(page, 'Sign out everywhere');
  await look('sessions, several', page);
  await goTo('/auth/account/api-keys');
  await look('api-keys, none', page);
  await fill(page, 'Name', 'nightly report');
  await press(page, 'Create the key');
  await page.getByRole('heading', { name: 'Your new key: nightly report' }).waitFor();
  await look('api-keys, shown once', page);
  await page.reload();
  await unfold(page, 'Revoke');
  await look('api-keys, a list', page);
  await fill(page, 'Name', 'old report');
  await fill(page, 'Rights (optional)', 'ä');
  await press(page, 'Create the key');
  await isRefused(page);
  await look('api-keys, refused', page);
  await goTo('/auth/sign-out');
  await look('sign-out', page);
  await goTo('/auth/sign-in/passkey');
  await look('sign-in/passkey', page);
  await app.letSignInsAge();
  await goTo('/auth/account');
  await look('account, not fresh', page);
  await goTo('/auth/reauthenticate');
  await look('reauthenticate', page);
  await fill(page, 'Password', 'not the password');
  await press(page, 'Confirm');
  await isRefused(page);
  await look('reauthenticate, refused', page);
  await goTo('/auth/administration/users');
  await look('403', page);
  const { id } = await app.auth.users.create({ username: 'lovelace', password: ada.password });
  await app.auth.users.requireNewPassword(id);
  await app.signIn(page, { ...ada, email: 'lovelace' }, '/auth/account/security');
  await look('security, a new password demanded', page);
}

/** Visits the pages of organizations and of their invitations. */
export async function visitOrganizations(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const vera = await app.createPerson('vera@example.com');
  const page = await browser.open(app.url('/notes'));
  await app.signIn(page, vera, '/auth/account/organizations');
  await look('organizations, none', page);
  await fill(page, 'Name', 'Ä');
  await press(page, 'Create');
  await isRefused(page);
  await look('organizations, refused', page);
  await fill(page, 'Name', 'Analytical Engines & Company');
  await fill(page, 'Short name (optional)', 'engines');
  await press(page, 'Create');
  await says(page, 'status', 'The organization was created.');
  await look('organization, created', page);
  const { pathname: path } = new URL(page.url());
  await fill(page, 'Email', vera.email);
  await press(page, 'Invite');
  await isRefused(page);
  await look('organization, an invitation refused', page);
  await fill(page, 'Email', 'a-colleague-with-a-rather-long-name@accounting.example.com');
  await press(page, 'Invite');
  await says(page, 'status', 'The invitation is on its way by email.');
  await fill(page, 'Email', 'jean@example.com');
  await press(page, 'Invite');
  await says(page, 'status', 'The invitation is on its way by email.');
  await page.locator('li', { hasText: 'jean@example.com' }).getByText('Revoke').first().click();
  await look('organization, invitations', page);
  const { url } = await app.inbox.next('jean@example.com', 'organization-invitation');
  await page.goto(url);
  await look('join, signed in with another email', page);
  const newcomer = await browser.open(url);
  await look('join, without an account', newcomer);
  await fill(newcomer, 'Password', 'password1');
  await press(newcomer, 'Create the account and join Analytical Engines & Company');
  await isRefused(newcomer);
  await look('join, without an account, refused', newcomer);
  await fill(newcomer, 'Password', 'nanoseconds of wire');
  await press(newcomer, 'Create the account and join Analytical Engines & Company');
  await says(newcomer, 'status', 'You are now a member of Analytical Engines & Company.');
  await newcomer.goto(url);
  await look('join, no longer valid', newcomer);
  await press(page, 'Sign out and continue');
  await says(page, 'status', 'You are signed out.');
  await newcomer.goto(app.url(path));
  await look('organization, of a member', newcomer);
  await newcomer.goto(app.url('/auth/account/organizations'));
  await look('organizations, one', newcomer);
  await app.signIn(page, vera, path);
  await page.locator('li', { hasText: 'jean@example.com' }).locator('summary').first().click();
  await unfold(page, 'Change the name');
  await unfold(page, 'Delete');
  await page.getByText('You are the only owner').waitFor();
  await look('organization, the last owner cannot leave', page);
  const colleague = await app.createPerson('kay@example.com');
  await app.auth.organizations.invite(path.split('/').at(-1) ?? '', {
    email: colleague.email,
    role: 'admin',
  });
  const { url: ofKay } = await app.inbox.next(colleague.email, 'organization-invitation');
  const other = await browser.open(ofKay);
  await look('join, with an account', other);
  await app.signIn(other, colleague, '/auth/join');
  await look('join, signed in', other);
  await other.goto(app.url(`${path}0`));
  await look('organization, not found', other);
}

/** Visits the pages of an account that has a linked account, but no password. */
export async function visitWithoutPassword(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const email = 'radia@example.com';
  const page = await browser.open(app.url('/auth/sign-in?provider=example&error=access_denied'));
  await look('sign-in, refused by the provider', page);
  await follow(page, 'Continue with Example');
  await fill(page, 'Email at the provider', email);
  await press(page, 'Agree');
  await showsPage(page, `Notes of ${email}`);
  await page.goto(app.url('/auth/account/security#linked-accounts'));
  await unfold(page, 'Unlink');
  await unfold(page, 'Set a password');
  await look('security, without a password', page);
  await fill(page, 'New password', 'password1');
  await press(page, 'Set a password');
  await isRefused(page);
  await look('security, without a password, refused', page);
  await app.letSignInsAge();
  await page.goto(app.url('/auth/reauthenticate'));
  await look('reauthenticate, without a password', page);
  await press(page, 'Email me a code');
  await field(page, 'Code').waitFor();
  await look('reauthenticate, the code sent', page);
  await fill(page, 'Code', 'AAAA-AAAA');
  await isRefused(page);
  await look('reauthenticate, the code refused', page);
  await page.goto(app.url('/auth/sign-out'));
  await press(page, 'Sign out');
  await page.getByText('last used').waitFor();
  await look('sign-in, last used', page);
}

/** Visits the page of an account's security, and the second step of its sign-in. */
export async function visitSecurity(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const edsger = await app.createPerson('edsger@example.com');
  const page = await browser.open(app.url('/notes'));
  const device = await addAuthenticator(page);
  await app.signIn(page, edsger, '/auth/account/security');
  await look('security', page);
  await openCard(page, 'Password');
  await fill(page, 'Current password', edsger.password);
  await fill(page, 'New password', 'password1');
  await press(page, 'Change the password');
  await isRefused(page);
  await look('security, refused', page);
  await press(page, 'Set up an authenticator app');
  const secret = await secretOn(page);
  await look('security, the QR code', page);
  // A complete code is sent by itself.
  await fill(page, 'Code from the app', wrongCode(secret));
  await isRefused(page);
  await look('security, the QR code, refused', page);
  await fill(page, 'Code from the app', codeOf(secret));
  await showsPage(page, 'Save your recovery codes');
  await look('security, recovery codes', page);
  await follow(page, 'I have saved them');
  await press(page, 'Add a passkey');
  await says(page, 'status', 'The passkey was added.');
  for (const title of ['Two-factor authentication', 'Passkeys', 'Password', 'Browsers that you have used'])
    await openCard(page, title);
  for (const part of ['Remove the authenticator app', 'Remove the password']) await unfold(page, part);
  await page.getByRole('listitem').locator('summary').getByText('Change').filter({ visible: true }).click();
  await page.getByRole('listitem').locator('summary').getByText('Remove').filter({ visible: true }).click();
  await look('security, a passkey', page);
  await field(page, 'Current password').nth(1).fill('not the password');
  await card(page, 'Password').getByRole('button', { name: 'Yes, remove' }).click();
  await isRefused(page);
  await look('security, the removal of the password refused', page);
  const changed = { ...edsger, password: 'a difference engine' };
  await field(page, 'Current password').first().fill(edsger.password);
  await fill(page, 'New password', changed.password);
  await press(page, 'Change the password');
  await says(page, 'status', 'Your password was changed.');
  await page.goto((await app.inbox.next(edsger.email, 'password-changed')).url);
  await page.getByRole('button', { name: 'Undo it with your passkey' }).waitFor();
  await look('undo-change, a second factor and a passkey', page);
  await app.letSignInsAge();
  await page.goto(app.url('/auth/reauthenticate'));
  await unfold(page, 'Use a recovery code');
  await look('reauthenticate, second factor', page);
  await device.confirms(false);
  await page.context().clearCookies();
  await app.signIn(page, changed, '/auth/second-factor');
  await unfold(page, 'Use a recovery code');
  await look('second-factor', page);
  await field(page, 'Code').fill(wrongCode(secret));
  await isRefused(page);
  await look('second-factor, refused', page);
  await forgetSteps(app);
  await field(page, 'Code').fill(codeOf(secret));
  await showsPage(page, `Notes of ${edsger.email}`);
}

/** Visits the pages of administrators. */
export async function visitAdministration(app: OwnApp, browser: Browser, look: Look): Promise<void> {
  const [admin, mallory] = [
    await app.createPerson('admin@example.com'),
    await app.createPerson('mallory-with-a-long-name@a-domain-that-is-long.example.com'),
  ];
  const page = await browser.open(app.url('/notes'));
  await app.signIn(await browser.open(app.url('/notes')), mallory, '/notes');
  await app.signIn(page, admin, '/auth/administration/users');
  await look('users', page);
  await unfold(page, 'Create a user');
  await fill(page, 'Username', '!');
  await press(page, 'Create the user');
  await isRefused(page);
  await look('users, refused', page);
  const invited = 'invited@example.com';
  await fill(page, 'Email', invited);
  await fill(page, 'Username', '');
  await press(page, 'Create the user');
  await showsPage(page, invited);
  await look('user, created', page);
  await look('invitation', await browser.open((await app.inbox.next(invited, 'invitation')).url));
  await page.goto(app.url('/auth/administration/users?search=not-there'));
  await look('users, none', page);
  await page.goto(app.url('/auth/administration/users?search=mallory'));
  await follow(page, mallory.email);
  await showsPage(page, mallory.email);
  for (const part of ['Edit', 'Suspend', 'Delete']) await unfold(page, part);
  await look('user', page);
  await fill(page, 'Until (UTC) (optional)', '2020-01-01T00:00');
  await press(page, 'Yes, suspend the user');
  await isRefused(page);
  await look('user, refused', page);
  await fill(page, 'Until (UTC) (optional)', '');
  await press(page, 'Yes, suspend the user');
  await says(page, 'status', 'The user is suspended.');
  await look('user, suspended', page);
  await page.goto(app.url(`/auth/administration/users?search=${admin.email}`));
  await follow(page, admin.email);
  await showsPage(page, admin.email);
  await look('user, the own account', page);
  await page.goto(app.url('/auth/administration/users/nothing'));
  await look('404', page);
}

/** Returns the secret of the authenticator app that the page shows. */
export async function secretOn(page: Page): Promise<string> {
  const link = page.getByRole('link', { name: 'Open the authenticator app on this device' });
  return new URL((await link.getAttribute('href')) ?? '').searchParams.get('secret') ?? '';
}
