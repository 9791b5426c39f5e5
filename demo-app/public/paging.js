import { signedIn } from './page.js';

/**
 * Pages of a list, there and back. A cursor leads to the page after it, so the way back is the cursors that led here.
 *
 * @param {(cursor: string | undefined) => Promise<string | null>} show shows a page, and answers the cursor of the next
 * @returns what shows the first page
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
