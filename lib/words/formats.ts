/** How values look in a language. */
export interface Formats {
  /** A time in UTC, such as "22 Nov 2026, 10:14 UTC". */
  time(at: Date): string;
  /** A day in UTC, such as "22 Nov 2026". */
  day(at: Date): string;
  /** A duration such as "10 minutes": in seconds or minutes if there are fewer than 90, otherwise in hours. */
  duration(seconds: number): string;
}

const made = new Map<string, Formats>();

/** Returns the formats of a language. */
export function formatsIn(tag: string): Formats {
  const known = made.get(tag) ?? createFormats(tag);
  made.set(tag, known);
  return known;
}

function createFormats(tag: string): Formats {
  const locale = localeOf(tag);
  // `toLocaleString` would create a format for each time, which takes much longer than to use it.
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const counted = (count: number, unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
  return {
    time: (at) => `${time.format(at)} UTC`,
    day: (at) => day.format(at),
    duration(seconds) {
      if (seconds < 90) return counted(Math.max(1, Math.ceil(seconds)), 'second');
      const minutes = Math.ceil(seconds / 60);
      return minutes < 90 ? counted(minutes, 'minute') : counted(Math.ceil(minutes / 60), 'hour');
    },
  };
}

/**
 * Returns the locale of a language, with the digits and the calendar that codes and forms have. English has the order of
 * days and months that readers everywhere understand.
 */
export function localeOf(tag: string): Intl.Locale {
  return new Intl.Locale(tag === 'en' ? 'en-GB' : tag, { numberingSystem: 'latn', calendar: 'gregory' });
}
