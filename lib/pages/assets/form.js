// Sends forms without leaving the page: the response's <main> takes the place of this one.

const words = JSON.parse(document.querySelector('meta[name="latchkey-words"]').content);

/** Replaces the main part of this page with the main part of a document. */
function show(text) {
  const next = new DOMParser().parseFromString(text, 'text/html');
  const main = next.querySelector('main');
  if (!main) return false;
  document.title = next.title;
  document.querySelector('main').replaceWith(document.adoptNode(main));
  // The page before a sign-in looks different. A session that has ended has no navigation.
  const { part } = next.body.dataset;
  if (part) document.body.dataset.part = part;
  const header = next.querySelector('[data-part="header"]');
  if (header) document.querySelector('[data-part="header"]')?.replaceWith(document.adoptNode(header));
  const focused = main.querySelector('[autofocus]') ?? main.querySelector('h1');
  focused.focus();
  // The keyboard of a phone covers the end of the page.
  focused.scrollIntoView({ block: focused.matches('h1') ? 'nearest' : 'center' });
  document.dispatchEvent(new Event('latchkey:shown'));
  return true;
}

/**
 * Opens an address. If it differs only in its fragment, the page is reloaded, because the browser would only scroll.
 */
function go(to) {
  const next = new URL(to, location.href);
  const isHere = next.pathname + next.search === location.pathname + location.search;
  if (!isHere) return location.assign(next);
  history.replaceState(null, '', next);
  location.reload();
}
document.addEventListener('latchkey:go', ({ detail }) => go(detail));

/** Shows why a form got no page. It is not sent again, because the server might have received it. */
function complain(form, why) {
  const message = form.querySelector(':scope > [data-part="error"]') ?? document.createElement('p');
  message.dataset.part = 'error';
  message.setAttribute('role', 'alert');
  message.textContent = why;
  form.prepend(message);
  form.removeAttribute('aria-busy');
}

document.addEventListener('submit', async (event) => {
  const form = event.target;
  // Fields can have the names of a form's properties, such as method and action.
  const attribute = (name) => Element.prototype.getAttribute.call(form, name);
  const isOurs = Element.prototype.closest.call(form, 'main') !== null;
  // A script cannot save a file as the browser does.
  const isDownload = attribute('data-downloads') !== null;
  if (event.defaultPrevented || attribute('method') !== 'post' || !isOurs || isDownload) return;
  event.preventDefault();
  // The form stays busy, because either the page or its main part is replaced.
  if (attribute('aria-busy') === 'true') return;
  form.setAttribute('aria-busy', 'true');
  const body = new URLSearchParams(new FormData(form, event.submitter));
  try {
    const action = event.submitter?.getAttribute('formaction') ?? attribute('action') ?? '';
    const response = await fetch(new URL(action, location.href), {
      method: 'POST',
      body,
      headers: { Accept: 'text/html', 'Latchkey-Form': 'script' },
    });
    const to = response.headers.get('Latchkey-Location');
    const text = to ? '' : await response.text();
    keepUnsent(form);
    if (to) go(to);
    else if (!show(text)) complain(form, words.broken);
  } catch {
    complain(form, words.failed);
  }
});

// What was typed in the other forms of an account's page is kept for its user, until the page is shown again in this tab.
const UNSENT = 'latchkey-unsent';
const userId = () => document.querySelector('main [name="for_user"]')?.value;
// A password that is shown is not of the type password.
const SECRET = '[type="hidden"], [type="password"], [data-shows], [data-part="code"], [name="confirmation"]';

function keepUnsent(sent) {
  const isChanged = ({ type, form, value, defaultValue, checked, defaultChecked, options }) => {
    if (!form || form === sent) return false;
    if (options) return [...options].some((one) => one.selected !== one.defaultSelected);
    return /checkbox|radio/.test(type) ? checked !== defaultChecked : value !== defaultValue;
  };
  const values = [...document.querySelectorAll(`main :is(input, select):not(${SECRET})`)]
    .filter(isChanged)
    .map(({ id, type, checked, value }) => [id, /checkbox|radio/.test(type) ? checked : value]);
  try {
    if (userId() && values.length)
      sessionStorage.setItem(UNSENT, JSON.stringify([location.pathname, userId(), values]));
  } catch {
    // Some browsers keep nothing.
  }
}

/** Says at a field that what it shows is not saved, as its hint. */
function sayUnsaved(field) {
  const hint = Object.assign(document.createElement('p'), { id: `${field.id}-unsaved` });
  hint.dataset.part = 'hint';
  hint.textContent = words.unsaved;
  const box = field.closest('[data-part="checkbox"]');
  if (box) box.after(hint);
  else field.before(hint);
  field.setAttribute('aria-describedby', `${hint.id} ${field.getAttribute('aria-describedby') ?? ''}`.trim());
}

function restoreUnsent() {
  const [path, user, values] = JSON.parse(sessionStorage.getItem(UNSENT) ?? '[]');
  if (path !== location.pathname || user !== userId()) return;
  sessionStorage.removeItem(UNSENT);
  for (const [id, value] of values) {
    const field = document.getElementById(id);
    if (!field) continue;
    field[typeof value === 'boolean' ? 'checked' : 'value'] = value;
    sayUnsaved(field);
    const box = field.closest('details');
    if (box) box.open = true;
  }
}
document.addEventListener('latchkey:shown', restoreUnsent);

// A page of an account must not come back from the cache after its user has signed out.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted && document.body.dataset.part !== 'entrance') location.reload();
});

// A complete code is sent, unless there is more to fill in. Each field does this once, so that a mistake can be corrected.
document.addEventListener('input', ({ target: { dataset, form, value } }) => {
  if (dataset.part !== 'code' || dataset.isSent !== undefined) return;
  const isComplete = value.replace(/[^\p{L}\p{N}]/gu, '').length === Number(dataset.length);
  if (!isComplete || form.querySelectorAll('input:not([type="hidden"])').length > 1) return;
  dataset.isSent = '';
  form.requestSubmit();
});

// Some links take along the email that was typed. It is kept for the next page of this tab, and not in the address.
const TYPED = 'latchkey-typed';
const account = () =>
  document.querySelector('main :is([name="credential"], [name="email"]):not([type="hidden"])');
document.addEventListener('click', ({ target }) => {
  const link = target.closest?.('a[data-takes]');
  const typed = account()?.value;
  if (link && typed?.includes('@')) sessionStorage.setItem(TYPED, JSON.stringify([link.pathname, typed]));
});
/** The units of time, with their seconds. */
const UNITS = [
  ['year', 31536e3],
  ['month', 2592e3],
  ['day', 86400],
  ['hour', 3600],
  ['minute', 60],
];

/** Returns how long ago a time was, such as "3 hours ago". Times of the last minute, and of the future, are "now". */
function ago(time, locale) {
  const seconds = (Date.now() - time) / 1000;
  const found = UNITS.find(([, size]) => seconds >= size);
  const format = new Intl.RelativeTimeFormat(locale, { numeric: found ? 'always' : 'auto' });
  return found ? format.format(-Math.floor(seconds / found[1]), found[0]) : format.format(0, 'second');
}

/** Shows the times of this page in the time zone of the browser, and in the language of the page. */
function showTimes() {
  const { lang } = document.documentElement;
  // British and American English have different orders.
  const found = navigator.languages.find((one) => one.startsWith(lang)) ?? lang;
  // Codes and forms have these digits and this calendar.
  const locale = new Intl.Locale(found, { numberingSystem: 'latn', calendar: 'gregory' });
  const short = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
  const utc = { timeZone: 'UTC' };
  const shortUtc = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', ...utc });
  const dayUtc = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...utc });
  const full = new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'long' });
  for (const time of document.querySelectorAll('time[data-part="time"]')) {
    const at = new Date(time.dateTime);
    // The times of the app's own fields are in UTC, as in their forms.
    if ('utc' in time.dataset) {
      time.textContent = 'day' in time.dataset ? dayUtc.format(at) : `${shortUtc.format(at)} UTC`;
      continue;
    }
    time.textContent =
      'ago' in time.dataset ? ago(at, locale) : ('day' in time.dataset ? day : short).format(at);
    time.title = full.format(at);
  }
}

// Adds buttons that show a typed password, and enables buttons that copy.
function enhance() {
  showTimes();
  // Do not change the templates of an app.
  for (const input of document.querySelectorAll(
    '[data-part="password"] > [type="password"]:not([data-shows])',
  )) {
    input.dataset.shows = '';
    const button = Object.assign(document.createElement('button'), { type: 'button' });
    button.dataset.part = 'button link';
    const show = (isShown) => {
      input.type = isShown ? 'text' : 'password';
      button.textContent = isShown ? words.hide : words.show;
      const label = isShown ? words.hideOf : words.showOf;
      button.setAttribute(
        'aria-label',
        label.replace('{field}', () => input.labels[0]?.textContent ?? ''),
      );
    };
    button.addEventListener('click', () => show(input.type === 'password'));
    show(false);
    input.form.addEventListener('submit', () => show(false), { capture: true });
    input.after(button);
  }
  for (const button of document.querySelectorAll('[data-save][hidden]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const { save, file: download, heading } = button.dataset;
      const text = `${heading}\n\n${document.getElementById(save).textContent}\n`;
      const href = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
      Object.assign(document.createElement('a'), { href, download }).click();
    });
  }
  for (const button of document.querySelectorAll('[data-print][hidden]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }
  // Only secure pages can copy.
  for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy][hidden]') : []) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      // Without the id of a text, it copies the address of the page.
      const text = document.getElementById(button.dataset.copy)?.textContent ?? location.href;
      await navigator.clipboard.writeText(text);
      button.textContent = button.dataset.copied;
    });
  }
}
// The user opens another way to do the same in order to type there.
document.addEventListener('click', ({ target }) => {
  const part = target.closest?.('summary:not([data-part])')?.parentElement;
  if (part && !part.open) setTimeout(() => part.querySelector('input:not([type="hidden"])')?.focus());
});
/** Opens the card that the address names. Only some browsers do it themselves. */
function openNamed() {
  const named = document.getElementById(location.hash.slice(1))?.closest('details');
  if (named) named.open = true;
}
addEventListener('hashchange', openNamed);
document.addEventListener('latchkey:shown', enhance);
enhance();
openNamed();
// What was filled in can be wrong, so the first key replaces it.
document.querySelector('main [data-selects]')?.select();
// The user has pressed its button, was led away to confirm who it is, and has come back.
document.querySelector('form[data-resumes]')?.requestSubmit();

// Last, because it fails in browsers that keep nothing.
{
  restoreUnsent();
  const [path, typed] = JSON.parse(sessionStorage.getItem(TYPED) ?? '[]');
  sessionStorage.removeItem(TYPED);
  const field = path === location.pathname && account();
  // What was typed last is more recent than what the server remembers.
  if (field) field.value = typed;
}
