/** A color as red, green and blue, from 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

/** The color of buttons in emails and on pages, unless the app has its own. */
export const ACCENT = '#2f5bd8';

export const WHITE: Color = [255, 255, 255];
export const BLACK: Color = [0, 0, 0];

/** Reads a color such as `#2f5bd8` or `#25d`. */
export function colorOf(hex: string): Color {
  const digits = hex.slice(1).replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3');
  return [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) as unknown as Color;
}

/** Returns black or white, whichever has more contrast to a color. */
export function inkOn(color: Color): Color {
  return contrast(color, WHITE) >= contrast(color, BLACK) ? WHITE : BLACK;
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
