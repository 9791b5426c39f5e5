import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { defineConfig } from 'vitepress';
import { description, name, pageOf, placeOf, read, root, sections, tasks } from '../contents.mjs';
import { writeForModels } from '../llms.mjs';

const icon = `data:image/svg+xml;base64,${Buffer.from(read('demo-app/public/favicon.svg')).toString('base64')}`;
const linkOf = (path) => `/${placeOf(path)}`;

/** While pages are rendered, Vue is not resolved from their files, because they are outside the folder that has Vue. */
const vueOfSite = {
  name: 'vue-of-site',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue($|\/)/.test(id) ? { id, external: true } : null),
};

// Every Markdown file of the repository is a page.
export default defineConfig({
  title: name,
  description,
  lang: 'en-US',
  srcDir: root,
  srcExclude: ['**/data/**'],
  outDir: `${root}site/dist`,
  cacheDir: `${root}site/build/cache`,
  rewrites: placeOf,
  // The examples run there.
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: icon }]],
  vite: {
    plugins: [vueOfSite],
    // The reference of all exports is one page.
    build: { chunkSizeWarningLimit: 2000 },
  },
  markdown: {
    languageAlias: { cron: 'sh', ejs: 'html' },
    anchor: { slugify: anchorOf },
    config(md) {
      md.core.ruler.before('normalize', 'fill-in', fillIn);
      md.core.ruler.push('links', leadToPages);
    },
  },
  themeConfig: {
    nav: [
      { text: 'Documentation', link: linkOf('docs/README.md') },
      { text: 'API reference', link: linkOf('site/build/reference/README.md') },
      { text: 'Changes', link: linkOf('CHANGELOG.md') },
    ],
    sidebar: sections().map(({ title, pages }) => ({
      text: title,
      collapsed: false,
      items: pages.map(({ path, title }) => ({ text: title, link: linkOf(path) })),
    })),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        // The names of the reference would hide the pages that explain them.
        _render: (source, env, md) =>
          env.path.startsWith(`${root}site/build/`) ? '' : md.render(source, env),
      },
    },
  },
  transformPageData(page) {
    if (page.frontmatter.hero) page.frontmatter.hero.text = description;
    // All exports of an entry point have the same subheadings.
    if (page.relativePath.startsWith('reference/')) page.frontmatter.outline = 2;
  },
  buildEnd: ({ outDir, pages }) => writeForModels(outDir, pages),
});

/** The anchor of a heading, as GitHub makes it. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .replace(/\s/g, '-');
}

/** Fills the start page with the first example of the README, and the tasks of the index. */
function fillIn(state) {
  const [example] = /^```ts\n[\s\S]*?^```$/m.exec(read('README.md'));
  const list = tasks().map(({ about, paths: [first, ...others] }) => {
    const also = others.map((path) => `[${pageOf(path.replace(/#.*/, '')).title}](../${path})`);
    return `- [${about}](../${first})${also.length > 0 ? `, ${also.join(', ')}` : ''}`;
  });
  state.src = state.src
    .replace('<!-- the first example of the README -->', () => example)
    .replace('<!-- the tasks of docs/README.md -->', () => list.join('\n'));
}

/**
 * Leads relative links to the pages of the site. A link to another file of the repository, such as a spec, becomes text
 * with the path of the file as its title, because the site does not have the file.
 */
function leadToPages({ tokens, env }) {
  const folder = posix.dirname(posix.relative(root, env.realPath ?? env.path));
  for (const { children } of tokens) {
    const opened = [];
    for (const token of children ?? []) {
      if (token.type === 'html_inline')
        token.content = token.content.replace(/(src|srcset)="(?=\w[^:"]*")/g, '$1="./');
      if (token.type === 'link_close') token.tag = opened.pop();
      if (token.type !== 'link_open') continue;
      const [, file, hash = ''] = /^([^#]*)(#.*)?$/.exec(token.attrGet('href'));
      if (file !== '' && !/^([a-z]+:|\/)/.test(file)) {
        const path = posix.join(folder, file);
        if (path.endsWith('.md')) token.attrSet('href', linkOf(path) + hash);
        else if (existsSync(root + path)) Object.assign(token, { tag: 'span', attrs: [['title', path]] });
      }
      opened.push(token.tag);
    }
  }
}
