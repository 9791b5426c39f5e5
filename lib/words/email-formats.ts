import { durationOf } from './duration.js';
import { localeOf } from './formats.js';

/** Returns how the emails in a language other than English write dates, times (in UTC) and durations. */
export function emailFormatsIn(tag: string) {
  const locale = localeOf(tag);
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
  const times = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  return {
    date: (at: Date): string => days.format(at),
    time: (at: Date): string => `${times.format(at)} UTC`,
    duration(ms: number): string {
      const { count, unit } = durationOf(ms);
      return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);
    },
  };
}
