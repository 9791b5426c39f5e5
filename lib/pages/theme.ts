import { BLACK, type Color, colorOf, contrast, inkOn, WHITE } from '../color.js';

/** The backgrounds of light and dark pages, which both contain links. */
const LIGHT_GROUND: Color = [244, 245, 247];
const DARK_GROUND: Color = [34, 39, 46];
/** The contrast of text (WCAG 2.2, 1.4.3). */
const ENOUGH = 4.5;

/**
 * Returns the style sheet of a theme. Text on the accent is black or white, whichever has more contrast. Links and focus
 * rings have a shade of the accent that is readable on each ground. Printed pages are always light.
 */
export function themeOf(accent: string, dark: 'auto' | 'never'): string {
  const color = colorOf(accent);
  const on = inkOn(color) === WHITE ? '#fff' : '#000';
  const light = `:root{--accent:${accent};--on-accent:${on};--link:${hexOf(shadeOf(color, BLACK, LIGHT_GROUND))}}`;
  if (dark === 'never') return light;
  const link = hexOf(shadeOf(color, WHITE, DARK_GROUND));
  return `${light}@media screen and (prefers-color-scheme:dark){:root{--ground:#22272e;--page:#1c2128;--text:#e6edf3;--quiet:#adbac7;--line:#768390;--faint:#444c56;--bad:#ff938a;--bad-ground:#3d2527;--good:#8ddb8c;--good-ground:#22352a;--warn:#d4a72c;--warn-ground:#37301f;--link:${link};color-scheme:dark}}`;
}

/** Mixes a color with black or white until it is readable on a ground. */
function shadeOf(color: Color, toward: Color, ground: Color): Color {
  for (let part = 0; part < 1; part += 0.05) {
    const shade = color.map((value, index) => Math.round(value + ((toward[index] ?? 0) - value) * part));
    const mixed = shade as unknown as Color;
    if (contrast(mixed, ground) >= ENOUGH) return mixed;
  }
  return toward;
}

function hexOf(color: Color): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
