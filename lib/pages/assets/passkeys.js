// Signs in, confirms and adds passkeys. Only scripts can ask a browser for passkeys.

const words = JSON.parse(document.querySelector('meta[name="latchkey-words"]').content).passkeys;
const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

// Browsers from before 2025 do not convert from and to JSON themselves.
function decoded({ challenge, user, ...options }) {
  const publicKey = { ...options, challenge: bytesOf(challenge) };
  if (user) publicKey.user = { ...user, id: bytesOf(user.id) };
  for (const list of ['allowCredentials', 'excludeCredentials'])
    publicKey[list] = options[list]?.map((one) => ({ ...one, id: bytesOf(one.id) }));
  return publicKey;
}

function encoded(credential) {
  if (credential.toJSON) return credential.toJSON();
  const { id, rawId, type, response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const texts = parts.filter((part) => response[part]).map((part) => [part, textOf(response[part])]);
  const transports = response.getTransports && { transports: response.getTransports() };
  return { id, rawId: textOf(rawId), type, response: { ...Object.fromEntries(texts), ...transports } };
}

/** An error of a call, whose message is for users. */
class CallError extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

async function call(path, body) {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(body ?? {}),
  }).catch(() => {
    throw new CallError(words.offline);
  });
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new CallError(answer?.detail ?? words.failed, answer?.code);
  return answer;
}

const get = async (options, more) =>
  encoded(
    await navigator.credentials.get({
      publicKey: PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? decoded(options),
      ...more,
    }),
  );

const create = async (options) =>
  encoded(
    await navigator.credentials.create({
      publicKey: PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? decoded(options),
    }),
  );

/** Informs the browser about passkeys. A browser without this feature keeps offering them, which is not an error. */
async function inform(method, facts) {
  try {
    await PublicKeyCredential[method]?.(facts);
  } catch {}
}

// The server forgets its challenge after 5 minutes, and the user needs some time after the button is pressed.
const RENEW_MS = 3 * 60 * 1000;
let waiting = new AbortController();

/** The options of a sign-in that were fetched before its button was pressed, because Safari wants a passkey right after it. */
const fetched = new WeakMap();

/** Runs the action of a button. */
async function act(button, more) {
  const { kind, options, send, body = '{}', go, dropped = go } = button.dataset;
  const isChecked = (name) => document.querySelector(`input[name="${name}"]`)?.checked;
  const asked = fetched.get(button) ?? (await call(options, kind === 'undo' ? JSON.parse(body) : undefined));
  const response = kind === 'create' ? await create(asked.options) : await get(asked.options, more);
  const extra = {
    ...(kind === 'sign-in' && isChecked('remember_me') && { remember_me: true }),
    ...(kind === 'second-factor' && isChecked('trust_device') && { trust_device: true }),
  };
  const name = document.getElementById(button.dataset.name ?? '')?.value.trim();
  const sent = {
    ...JSON.parse(body),
    ...extra,
    [button.dataset.field ?? 'response']: response,
    ...(name && { name }),
  };
  // The server accepts a challenge once.
  fetched.delete(button);
  const answer = await call(send, sent).catch((error) => {
    if (error.code === 'unknown_passkey')
      inform('signalUnknownCredential', { rpId: asked.options.rpId, credentialId: response.id });
    throw error;
  });
  if (answer?.recovery_codes && button.dataset.codes) return showCodes(button, answer.recovery_codes);
  const next = answer?.password_removed ? dropped : go;
  document.dispatchEvent(new CustomEvent('latchkey:go', { detail: next }));
}

// The next page does not show the codes, so show them here.
function showCodes(button, codes) {
  const list = document.getElementById(button.dataset.codes);
  list.querySelector('[data-part="secret"]').textContent = codes.join('\n');
  list.hidden = false;
  button.hidden = true;
  list.querySelector('h3, h2').focus();
}

/** Says what went wrong. A browser reports a canceled sign-in and a passkey that was not added with the same name. */
function complain(button, error) {
  if (error.name === 'AbortError') return;
  const message = button.parentElement.querySelector('[data-part="error"]') ?? document.createElement('p');
  message.dataset.part = 'error';
  message.setAttribute('role', 'alert');
  const own = words[button.dataset.kind];
  const otherwise = error instanceof CallError ? error.message : words.failed;
  message.textContent = own?.[error.code] ?? own?.[error.name] ?? words[error.name] ?? otherwise;
  button.before(message);
  // A passkey can be chosen at a field above, for which a phone shows only a part of the page.
  message.scrollIntoView({ block: 'nearest' });
}

/** Offers passkeys in the autofill list of the field for the email or username. */
async function offerInList(button) {
  waiting.abort();
  waiting = new AbortController();
  const { signal } = waiting;
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.()) || signal.aborted) return;
  const renewing = setTimeout(() => offerInList(button), RENEW_MS);
  signal.addEventListener('abort', () => clearTimeout(renewing));
  try {
    fetched.set(button, await call(button.dataset.options));
  } catch {
    // The user has not asked for anything yet, so a failure needs no message, and the button remains.
    return;
  }
  if (signal.aborted) return;
  await act(button, { mediation: 'conditional', signal }).catch((error) => {
    // Without a response of the server, the browser or an extension has ended the offer. Another one could end the same way.
    if (!(error instanceof CallError)) return;
    complain(button, error);
    offerInList(button);
  });
}

/**
 * Lets the server know that this browser can create a passkey on this device, so that it offers one after a password.
 */
async function sayWhatIsPossible() {
  const form = document.querySelector('form[action$="/sign-in/password"]');
  if (!form || form.elements.can_create_passkey) return;
  if (!(await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable?.())) return;
  const field = Object.assign(document.createElement('input'), { type: 'hidden', value: 'true' });
  field.name = 'can_create_passkey';
  form.append(field);
}

function enhance() {
  if (typeof PublicKeyCredential === 'undefined') {
    for (const one of document.querySelectorAll('[data-scripted], [data-part="others"] [data-passkey]'))
      one.remove();
    return;
  }
  for (const button of document.querySelectorAll('[data-passkey][hidden]')) {
    const isSignIn = button.dataset.kind === 'sign-in';
    button.hidden = false;
    button.addEventListener('click', async () => {
      waiting.abort();
      await act(button).catch((error) => {
        complain(button, error);
        if (isSignIn) offerInList(button);
      });
    });
    if (isSignIn) offerInList(button);
  }
  for (const { dataset } of document.querySelectorAll('[data-signal]'))
    inform('signalAllAcceptedCredentials', JSON.parse(dataset.signal));
  sayWhatIsPossible();
  for (const none of document.querySelectorAll('[data-no-passkeys]')) none.hidden = true;
  for (const beside of document.querySelectorAll('[data-with-passkeys]')) beside.hidden = false;
}
document.addEventListener('latchkey:shown', enhance);
enhance();
