import { signedIn } from './page.js';

/**
 * Paging through a list in both directions. A cursor only leads to the next page, so to go back, the cursors of the
 * previous pages are kept.
 *
 * @param {(cursor: string | undefined) => Promise<string | null>} show shows a page and returns the cursor of the next one
 * @returns a function that shows the first page
 */
export function paging(show) {
  const nav = document.querySelector('.paging');
  const previous = document.getElementById('previous');
  const next = document.getElementById('next');
  let cursors = [];
  let nextCursor = null;

  const go = (change) =>
    signedIn(async () => {
      change();
      nextCursor = await show(cursors.at(-1));
      previous.disabled = cursors.length === 0;
      next.disabled = nextCursor === null;
      nav.hidden = previous.disabled && next.disabled;
    });
  next.addEventListener('click', () => go(() => cursors.push(nextCursor)));
  previous.addEventListener('click', () => go(() => cursors.pop()));
  return () =>
    go(() => {
      cursors = [];
    });
}
