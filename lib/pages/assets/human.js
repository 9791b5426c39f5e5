// Gets tokens of the human check for forms. This file is also the worker that solves challenges.

/** The number of attempts that are made at the same time. */
const AT_ONCE = 8;
/** Challenges and tokens of services are valid for longer: challenges for 10 minutes. */
const FRESH_MS = 9 * 60 * 1000;
const FIELD = 'human_token';

const bytesOf = (hex) => Uint8Array.from(hex.match(/../g), (byte) => Number(`0x${byte}`));
const hexOf = (buffer) =>
  [...new Uint8Array(buffer)].map((byte) => (byte + 256).toString(16).slice(1)).join('');

/** Solves a challenge of ALTCHA: returns the token of the first attempt whose key starts as required. */
async function solve(challenge) {
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters;
  const kind = { name: 'PBKDF2', hash: 'SHA-256', salt: bytesOf(salt), iterations: cost };
  const attempt = async (counter) => {
    const password = bytesOf(nonce + counter.toString(16).padStart(8, '0'));
    const key = await crypto.subtle.importKey('raw', password, kind.name, false, ['deriveBits']);
    return { counter, derivedKey: hexOf(await crypto.subtle.deriveBits(kind, key, keyLength * 8)) };
  };
  for (let start = 0; ; start += AT_ONCE) {
    const attempts = Array.from({ length: AT_ONCE }, (_, index) => attempt(start + index));
    const solution = (await Promise.all(attempts)).find(({ derivedKey }) => derivedKey.startsWith(keyPrefix));
    if (solution) return btoa(JSON.stringify({ challenge, solution }));
  }
}

/** Solves a new challenge in a worker. */
async function solved(path) {
  const response = await fetch(path, { headers: { Accept: 'application/json' } });
  const challenge = await response.json();
  const worker = new Worker(import.meta.url, { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = reject;
    worker.postMessage(challenge);
  }).finally(() => worker.terminate());
}

/** A check whose challenges this script solves, from when the user starts to fill in the form. */
function altcha({ challenge }) {
  let token = null;
  let startedAt = 0;
  const ask = () => {
    if (!token || Date.now() - startedAt > FRESH_MS) {
      startedAt = Date.now();
      token = solved(challenge).catch(() => {
        token = null;
      });
    }
    return token;
  };
  return {
    ask,
    prepare: ask,
    renew() {
      token = null;
    },
  };
}

const SERVICES = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit',
  hcaptcha: 'https://js.hcaptcha.com/1/api.js?render=explicit&recaptchacompat=off',
};
let loading;

/** Loads the script of a service. */
function load(kind) {
  loading ??= new Promise((resolve, reject) => {
    globalThis.latchkeyHuman = () => resolve(globalThis[kind]);
    const script = Object.assign(document.createElement('script'), { async: true, onerror: reject });
    script.src = `${SERVICES[kind]}&onload=latchkeyHuman`;
    document.head.append(script);
  });
  return loading;
}

/** A check by a service, whose widget stands in the form. */
function service({ kind, siteKey }, box) {
  let resolve;
  let token;
  const wait = () => {
    token = new Promise((done) => {
      resolve = done;
    });
  };
  const settle = (value) => {
    resolve(value);
    token = Promise.resolve(value);
  };
  wait();
  const widget = load(kind).then((api) => {
    const id = api.render(box, {
      sitekey: siteKey,
      size: box.clientWidth < 304 ? 'compact' : 'normal',
      'response-field': false,
      callback: settle,
      'expired-callback': wait,
      'error-callback': () => settle(null),
    });
    return { api, id };
  });
  widget.catch(() => settle(null));
  return {
    async ask() {
      // hCaptcha waits for a press of its checkbox, which the user might not have noticed.
      if (kind === 'hcaptcha')
        await widget.then(
          ({ api, id }) => api.getResponse(id) || api.execute(id),
          () => null,
        );
      return token;
    },
    prepare() {},
    renew() {
      wait();
      widget.then(
        ({ api, id }) => api.reset(id),
        () => null,
      );
    },
  };
}

const checks = new WeakMap();
/** The tokens of forms that are being sent. */
const tokens = new WeakMap();

/** Returns the check of a form, if it has one. Fields can have the names of a form's properties. */
function checkOf(form) {
  const box = Element.prototype.querySelector.call(form, '[data-human]');
  if (box && !checks.has(form)) {
    const settings = JSON.parse(box.dataset.human);
    const check = settings.kind === 'altcha' ? altcha(settings) : service(settings, box);
    checks.set(form, { ...check, for: settings.for });
  }
  return checks.get(form);
}

const attributeOf = (form, name) => Element.prototype.getAttribute.call(form, name);

/** Starts before the form is sent, so that the user does not have to wait. */
function prepare({ target }) {
  const form = target?.form;
  const check = form instanceof HTMLFormElement ? checkOf(form) : null;
  if (check?.for.includes(attributeOf(form, 'action'))) check.prepare();
}

function start() {
  for (const box of document.querySelectorAll('form [data-human]')) checkOf(box.closest('form'));
  prepare({ target: document.activeElement });
}

async function send(event) {
  const { target: form, submitter } = event;
  const check = checkOf(form);
  const action = submitter?.getAttribute('formaction') ?? attributeOf(form, 'action');
  if (tokens.has(form) || !check?.for.includes(action)) return;
  // Send the form again once there is a token. Without one, the server explains what to do.
  event.preventDefault();
  event.stopImmediatePropagation();
  if (attributeOf(form, 'aria-busy') === 'true') return;
  Element.prototype.setAttribute.call(form, 'aria-busy', 'true');
  tokens.set(form, await check.ask());
  // A form cannot be sent again until this event is over.
  await new Promise((done) => setTimeout(done));
  Element.prototype.removeAttribute.call(form, 'aria-busy');
  HTMLFormElement.prototype.requestSubmit.call(form, submitter);
}

if (globalThis.document) {
  document.addEventListener('focusin', prepare);
  document.addEventListener('input', prepare);
  document.addEventListener('submit', send, true);
  document.addEventListener('formdata', ({ target: form, formData }) => {
    // hCaptcha adds a field of its own.
    formData.delete('h-captcha-response');
    const token = tokens.get(form);
    if (token) formData.set(FIELD, token);
    // A token works once.
    if (tokens.delete(form)) checkOf(form)?.renew();
  });
  document.addEventListener('latchkey:shown', start);
  start();
} else {
  addEventListener('message', async ({ data }) => postMessage(await solve(data).catch(() => null)));
}
