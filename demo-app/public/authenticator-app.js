import { onClick } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { onSubmit } from './form.js';
import { clearMessages, showStatus } from './messages.js';
import { moveFocus, nameOf } from './page.js';
import { freshly, withFreshSignIn } from './reauthenticate.js';
import { showCodes } from './recovery-codes.js';

const part = (id) => document.getElementById(id);
const form = part('enrolment');
let account = '';

/** Shows whether the authenticator app is on. @param canSwitchOn an account whose email is not verified cannot */
export async function showAuthenticatorApp(user, canSwitchOn) {
  account = nameOf(user);
  await load();
  part('switch-on').hidden = !canSwitchOn;
}

async function load() {
  const { totp, recovery_codes_left: left } = await call('GET', '/auth/two-factor');
  form.hidden = true;
  part('app-off').hidden = totp;
  part('app-on').hidden = !totp;
  part('codes-left').textContent =
    left === 0
      ? 'You have no recovery codes left. Make new ones, or you cannot sign in if you lose your phone.'
      : `When you sign in, you enter a code from your app too. ${left === 1 ? '1 recovery code is' : `${left} recovery codes are`} left.`;
}

onClick(part('switch-on'), async () => {
  const enrolment = await freshly('POST', '/auth/two-factor/totp');
  if (!enrolment) return;
  part('qr').replaceChildren(drawing(enrolment.qr_svg));
  part('secret').textContent = enrolment.secret.match(/.{1,4}/g).join(' ');
  part('otpauth').href = enrolment.otpauth_url;
  part('app-off').hidden = true;
  form.hidden = false;
  moveFocus(form.querySelector('h2'));
});

/** The QR code. Parsed as an image rather than written into the page as HTML. */
function drawing(svg) {
  const image = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
  image.setAttribute('role', 'img');
  image.setAttribute('aria-label', 'QR code for your authenticator app');
  return document.importNode(image, true);
}

onClick(part('cancel'), () => {
  forget();
  part('app-off').hidden = false;
  part('switch-on').focus();
});

/** Takes the secret out of the page. */
function forget() {
  form.hidden = true;
  form.reset();
  part('qr').replaceChildren();
  part('secret').textContent = '';
  part('otpauth').href = 'otpauth://totp/';
}

onSubmit(form, async ({ code }) => {
  const { recovery_codes } = await call('POST', '/auth/two-factor/totp/confirm', { code });
  forget();
  await load();
  showCodes(recovery_codes, account);
  showStatus('The authenticator app is on. All your other sessions have ended.', part('codes'));
});

onClick(part('new-codes'), async () => {
  const title = 'Make new recovery codes?';
  const text = 'The earlier ones stop working at once.';
  if (!(await confirmed({ title, text, action: 'Make new codes' }))) return;
  const made = await freshly('POST', '/auth/two-factor/recovery-codes');
  if (!made) return;
  await load();
  showCodes(made.recovery_codes, account);
});

onClick(part('switch-off'), async () => {
  const title = 'Switch the authenticator app off?';
  const text =
    'Then your password alone opens your account again. Your recovery codes stop working, and all your other sessions end.';
  if (!(await confirmed({ title, text, action: 'Switch off' }))) return;
  if (!(await withFreshSignIn(() => call('DELETE', '/auth/two-factor/totp')))) return;
  part('codes-part').hidden = true;
  await load();
  clearMessages();
  moveFocus(part('app-off').querySelector('h2'));
  showStatus('The authenticator app is off.', part('switch-on'));
});
