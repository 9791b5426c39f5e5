export { type Html, type HtmlValue, html, unsafeHtml } from './html.js';
export { PagesApi, pages } from './pages/index.js';
export type { PageLinks, PagesOptions, Render, RenderedPage, ThemeOptions } from './pages/options.js';
