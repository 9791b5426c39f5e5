import { once } from '../../context/once.js';
import { durationOf } from '../duration.js';

// Created late, because the first format of a process takes 20 ms.
const dates = once(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }));

/** Returns a date, such as "22 November 2026". */
export function date(at: Date): string {
  return dates().format(at);
}

/** Returns a time, such as "22 November 2026 at 10:14 UTC", which readers everywhere understand. */
export function time(at: Date): string {
  return `${date(at)} at ${at.toISOString().slice(11, 16)} UTC`;
}

/** Returns a duration, such as "24 hours". */
export function duration(ms: number): string {
  const { count, unit } = durationOf(ms);
  if (count > 1) return `${count} ${unit}s`;
  return unit === 'hour' ? 'one hour' : `1 ${unit}`;
}
