import { signedIn } from './actions.js';
import { clearMessages } from './messages.js';
import { fillList } from './page.js';

/**
 * A list with a search form and pages. What is shown depends on the URL alone, so that reloading, going back, and
 * sharing the URL work. A cursor only leads to the next page, so the history entry keeps those of the earlier pages.
 *
 * @param {(parameters: URLSearchParams) => Promise<{ items: Element[], nextCursor: string | null }>} load gets a page
 */
export function paging(list, load) {
  const form = document.querySelector('.search');
  const nav = document.querySelector('.paging');
  const previous = document.getElementById('previous');
  const next = document.getElementById('next');
  let nextCursor = null;
  let latest;

  async function show() {
    const parameters = new URLSearchParams(location.search);
    latest = parameters;
    nextCursor = null;
    for (const field of form.elements) if (field.name) field.value = parameters.get(field.name) ?? '';
    clearMessages();
    await signedIn(async () => {
      const page = await load(parameters);
      // Meanwhile, the user may have gone to another page.
      if (latest !== parameters) return;
      fillList(list, page.items);
      nextCursor = page.nextCursor;
    });
    if (latest !== parameters) return;
    const isFirst = earlierCursors().length === 0;
    // Not `disabled`, because the pressed button would lose the focus.
    previous.setAttribute('aria-disabled', isFirst);
    next.setAttribute('aria-disabled', nextCursor === null);
    nav.hidden = isFirst && nextCursor === null;
  }

  /** The cursors of the earlier pages; that of the first page is empty. All that a shared URL knows is the first page. */
  function earlierCursors() {
    return history.state?.earlier ?? (new URLSearchParams(location.search).has('cursor') ? [''] : []);
  }

  function go(values, earlier) {
    const parameters = new URLSearchParams(values);
    for (const [name, value] of Object.entries(values)) if (!value) parameters.delete(name);
    history.pushState({ earlier }, '', `${location.pathname}?${parameters}`);
    show();
  }

  const current = () => Object.fromEntries(new URLSearchParams(location.search));
  next.addEventListener('click', () => {
    if (nextCursor === null) return;
    go({ ...current(), cursor: nextCursor }, [...earlierCursors(), current().cursor ?? '']);
  });
  previous.addEventListener('click', () => {
    const earlier = [...earlierCursors()];
    if (earlier.length > 0) go({ ...current(), cursor: earlier.pop() }, earlier);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go(Object.fromEntries(new FormData(form)), []);
  });
  addEventListener('popstate', show);
  show();
}
