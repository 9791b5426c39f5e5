const MINUTE_MS = 60_000;

/** A duration in one unit. */
export interface Duration {
  readonly count: number;
  readonly unit: 'minute' | 'hour' | 'day';
}

/** Returns a duration in the largest unit of which there are at least two. Sixty minutes are one hour. */
export function durationOf(ms: number): Duration {
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS));
  if (minutes === 60) return { count: 1, unit: 'hour' };
  const units = [
    ['day', 24 * 60],
    ['hour', 60],
  ] as const;
  const [unit, size] = units.find(([, length]) => minutes >= 2 * length) ?? (['minute', 1] as const);
  return { count: Math.floor(minutes / size), unit };
}
