import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'pages');
const layout = read('parts/layout');
const forUsers = read('parts/users');
const navigations = {
  visitors: read('parts/visitors'),
  users: fill(forUsers, {}),
  administrators: fill(forUsers, { administration: read('parts/administration') }),
};

/** Whose links a page has at its top. */
export type Navigation = keyof typeof navigations;

/** What a page has beside its own HTML. */
export interface PageParts {
  readonly title: string;
  /** The page's own script, if it has one. */
  readonly script?: string;
  /** Which link of the navigation leads to this page, if one does. */
  readonly path?: string;
  /** What went wrong, for the page of errors. */
  readonly detail?: string;
}

/** The HTML of a page: its file from pages/, with what all pages have in common around it. */
export function composePage(
  name: string,
  { title, script, path, detail = '' }: PageParts,
): (navigation: Navigation) => string {
  const template = layout.replace('{{main}}', () => read(name));
  const parts = { title, detail, script: script ? `<script type="module" src="/${script}"></script>` : '' };
  return (navigation) =>
    fill(template, {
      ...parts,
      navigation: navigations[navigation].replace(`href="${path}"`, '$& aria-current="page"'),
    });
}

/** The parts are the app's own words; what users say reaches pages by script, as text. */
function fill(template: string, parts: Record<string, string>): string {
  return template.replace(/{{(\w+)}}/g, (_, name) => parts[name] ?? '');
}

function read(name: string): string {
  return readFileSync(join(folder, `${name}.html`), 'utf8');
}
