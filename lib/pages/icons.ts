import { type Html, type HtmlValue, html } from '../html.js';

/** The operating systems of phones, as `deviceNameOf` writes them. */
const PHONES = /\bon (?:Android|Bada|BlackBerry|HarmonyOS|iOS|Windows Phone)$/;

/** Creates the icon of a device: a phone, a computer, or the window of another program. */
export function deviceIcon(device: string | null): Html {
  if (device !== null && PHONES.test(device))
    return drawn('icon', html`<rect x="7" y="2.5" width="10" height="19" rx="2"/><path d="M11 18.5h2"/>`);
  if (device?.includes(' on '))
    return drawn('icon', html`<rect x="3" y="4" width="18" height="12" rx="2"/><path d="M8 20h8M12 16v4"/>`);
  return drawn(
    'icon',
    html`<rect x="3" y="4" width="18" height="16" rx="2"/><path d="m7 10 3 2.5L7 15M13 15h4"/>`,
  );
}

/** Creates the icon of a passkey: a key. */
export function passkeyIcon(): Html {
  return drawn(
    'icon',
    html`<circle cx="8" cy="15" r="4.5"/><path d="m11.5 11.5 8-8M16 7l3 3M13.5 9.5l2 2"/>`,
  );
}

/** Creates the icon above the title of a page that says what has happened: an email was sent, or something is done. */
export function stateIcon(name: 'mail' | 'done'): Html {
  return drawn(
    'mark',
    name === 'mail'
      ? html`<rect x="2.5" y="4.5" width="19" height="15" rx="2"/><path d="m3 6.5 9 7 9-7"/>`
      : html`<circle cx="12" cy="12" r="9.5"/><path d="m7.5 12.5 3 3 6-6.5"/>`,
  );
}

/** The text beside an icon says the same, so screen readers leave it out. */
function drawn(part: string, shapes: HtmlValue): Html {
  return html`<svg data-part="${part}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`;
}
