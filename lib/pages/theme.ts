/** A color as red, green and blue, from 0 to 255. */
type Color = readonly [red: number, green: number, blue: number];

const WHITE: Color = [255, 255, 255];
const BLACK: Color = [0, 0, 0];
/** The grounds of light and dark pages: links are on both. */
const LIGHT_GROUND: Color = [244, 245, 247];
const DARK_GROUND: Color = [34, 39, 46];
/** The contrast of text (WCAG 2.2, 1.4.3). */
const ENOUGH = 4.5;

/**
 * Returns the style sheet of a theme. Text on the accent is black or white, whichever has more contrast. Links and focus
 * rings have a shade of the accent that is readable on each ground.
 */
export function themeOf(accent: string, dark: 'auto' | 'never'): string {
  const color = colorOf(accent);
  const on = contrast(color, WHITE) >= contrast(color, BLACK) ? '#fff' : '#000';
  const light = `:root{--accent:${accent};--on-accent:${on};--link:${hexOf(shadeOf(color, BLACK, LIGHT_GROUND))}}`;
  if (dark === 'never') return light;
  const link = hexOf(shadeOf(color, WHITE, DARK_GROUND));
  return `${light}@media (prefers-color-scheme:dark){:root{--ground:#22272e;--page:#1c2128;--text:#e6edf3;--quiet:#adbac7;--line:#768390;--faint:#444c56;--bad:#ff938a;--bad-ground:#3d2527;--good:#8ddb8c;--good-ground:#22352a;--link:${link};color-scheme:dark}}`;
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

/** Returns the contrast ratio of two colors (WCAG 2.2, the definition of contrast ratio). */
export function contrast(one: Color, other: Color): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: Color): number {
  const [red = 0, green = 0, blue = 0] = color.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function colorOf(hex: string): Color {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Color;
}

function hexOf(color: Color): string {
  return `#${color.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
