// Sends forms without leaving the page: the response's <main> takes the place of this one.

/** Puts the main part of a document in place of this page's. */
function show(text) {
  const next = new DOMParser().parseFromString(text, 'text/html');
  const main = next.querySelector('main');
  if (!main) return false;
  document.title = next.title;
  document.querySelector('main').replaceWith(document.adoptNode(main));
  (main.querySelector('[autofocus]') ?? main.querySelector('h1')).focus();
  document.dispatchEvent(new Event('latchkey:shown'));
  return true;
}

document.addEventListener('submit', async (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== 'post' || !form.closest('main')) return;
  event.preventDefault();
  if (form.ariaBusy === 'true') return;
  form.ariaBusy = 'true';
  const body = new URLSearchParams(new FormData(form, event.submitter));
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body,
      headers: { Accept: 'text/html', 'Latchkey-Form': 'script' },
    });
    const to = response.headers.get('Latchkey-Location');
    if (to) location.assign(to);
    else if (!show(await response.text())) form.submit();
  } catch {
    // The browser shows what is wrong with the network.
    form.submit();
  } finally {
    form.ariaBusy = null;
  }
});

// A page of an account must not come back from the cache after its user has signed out.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

// Buttons that show what is typed as a password, and that copy.
function enhance() {
  for (const input of document.querySelectorAll('input[type="password"]:not([data-shows])')) {
    input.dataset.shows = '';
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Show' });
    button.dataset.part = 'button link';
    button.setAttribute('aria-pressed', 'false');
    button.setAttribute('aria-label', `Show ${input.labels[0]?.textContent ?? ''}`.trim());
    button.addEventListener('click', () => {
      const isShown = input.type === 'text';
      input.type = isShown ? 'password' : 'text';
      button.textContent = isShown ? 'Show' : 'Hide';
      button.setAttribute('aria-pressed', String(!isShown));
    });
    input.form.addEventListener('submit', () => (input.type = 'password'), { capture: true });
    input.after(button);
  }
  for (const button of document.querySelectorAll('[data-copy][hidden]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = button.dataset.copied;
    });
  }
}
document.addEventListener('latchkey:shown', enhance);
enhance();
