// The functions run in a page, so they use nothing outside of themselves.
/// <reference lib="dom" />

/** Runs in the page. Of the rules for WCAG 2.2, that of target sizes is not among those that axe runs by default. */
export async function runAxe(): Promise<string[]> {
  const { axe } = globalThis as unknown as { axe: typeof import('axe-core') };
  const { violations } = await axe.run(document, {
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
    rules: { 'label-content-name-mismatch': { enabled: true }, 'target-size': { enabled: true } },
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

/** Runs in the page. Returns the elements that make it wider than the window. */
export function findOverflow(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.body.querySelectorAll('*')].filter(
    (element) =>
      element.getBoundingClientRect().right > clientWidth || element.scrollWidth > element.clientWidth,
  );
  return [`the page is ${scrollWidth} wide`, ...wide.map(({ outerHTML }) => outerHTML.slice(0, 80))];
}
