import { internalsOf } from '../../lib/auth.js';
import { readSettings, withConfig } from '../../lib/pages/options.js';
import type { Page, PageForm } from '../../lib/pages/page.js';
import { pagesOf } from '../../lib/pages/pages.js';
import { Site } from '../../lib/pages/site.js';

/** Returns every page of an Auth's plugins, for specs that walk through all pages. */
export function pagesIn(auth: Parameters<typeof internalsOf>[0]): readonly Page[] {
  const { core, routes } = internalsOf(auth);
  const site = new Site(core, withConfig(readSettings({}), core), routes());
  const pages = pagesOf(site);
  site.pages = pages;
  return pages;
}

/** Returns every form of these pages. */
export function formsIn(
  pages: readonly Page[],
): { readonly page: Page; readonly form: PageForm; readonly path: string }[] {
  return pages.flatMap((page) =>
    page.forms.map((form) => ({ page, form, path: `${form.below ?? page.path}/${form.name}` })),
  );
}
