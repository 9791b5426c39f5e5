/** Markup whose values are escaped already. */
class Html {
  constructor(readonly markup: string) {}
}

type Value = Html | readonly Html[] | string | false;

const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

function markupOf(value: Value): string {
  if (value === false) return '';
  if (typeof value === 'string') return escaped(value);
  return value instanceof Html ? value.markup : value.map(markupOf).join('');
}

/** A template that escapes its values, because names come from users. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(markupOf)));
}

/** A whole page. */
export function page(title: string, main: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <meta charset="utf-8">
      <title>${title}</title>
      <nav><a href="/">Your teams</a> <a href="/auth/account">Account</a></nav>
      <h1>${title}</h1>
      ${main}
    </html>`.markup;
}
