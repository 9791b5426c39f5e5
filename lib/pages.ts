export { type Html, type HtmlValue, html, unsafeHtml } from './html.js';
export { PagesApi, pages } from './pages/index.js';
export type { PageLinks, PagesOptions, ThemeOptions } from './pages/options.js';
export type {
  CommonValues,
  ErrorValues,
  FormValues,
  LinkValues,
  PageKind,
  PageValues,
  Render,
  RenderedPage,
  RenderedPageOf,
} from './pages/values.js';
