import { type HtmlValue, html } from '../html.js';
import type { Words } from '../words/pages/index.js';
import type { FormValues, HumanValues } from './values.js';

/** The origins that a service loads its widget from, by the directives of the policy. */
const ORIGINS: Readonly<Record<HumanValues['kind'], Readonly<Record<string, string>>>> = {
  altcha: { 'worker-src': "'self'" },
  turnstile: {
    'script-src': 'https://challenges.cloudflare.com',
    'frame-src': 'https://challenges.cloudflare.com',
  },
  hcaptcha: Object.fromEntries(
    ['script-src', 'frame-src', 'style-src', 'connect-src'].map((directive) => [
      directive,
      'https://hcaptcha.com https://*.hcaptcha.com',
    ]),
  ),
};

/** Adds what a human check needs to the policy of a page. @internal */
export function policyWith(policy: string, { kind }: HumanValues): string {
  const directives = new Map(policy.split('; ').map((one) => one.split(/ (.*)/) as [string, string]));
  for (const [name, origins] of Object.entries(ORIGINS[kind]))
    directives.set(name, [directives.get(name) ?? [], origins].flat().join(' '));
  return [...directives].map((directive) => directive.slice(0, 2).join(' ')).join('; ');
}

/**
 * Creates the part of a form that a script fills in with the human check, and what browsers without scripts show instead.
 *
 * @param forms the forms that the buttons send
 */
export function humanBox(forms: readonly (FormValues | null | undefined)[], words: Words): HtmlValue {
  const checked = forms.filter((form) => form?.human);
  const [first] = checked;
  if (!first?.human) return null;
  const { kind, challenge, siteKey, otherWays } = first.human;
  const settings = { kind, challenge, siteKey, for: checked.map((form) => form?.action) };
  const { password, email, providers } = otherWays;
  const t = words.human;
  const ways = [...(password ? [t.password] : []), ...(email ? [t.email] : []), ...providers];
  return html`<div data-part="human" data-human="${JSON.stringify(settings)}"></div><noscript><p data-part="warning">${t.noScript} ${t.turnOn}${
    ways.length > 0 && html` ${t.otherWays(t.list(ways))}`
  }</p></noscript>`;
}
