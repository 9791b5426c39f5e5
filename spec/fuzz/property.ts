import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';

/** Something that must hold for every input. */
export interface Fuzz {
  readonly name: string;
  /** How many inputs the specs try. The long run tries as many as it has time for. */
  readonly runs: number;
  readonly property: fc.IRawProperty<unknown>;
}

export const fuzz = (name: string, runs: number, property: unknown): Fuzz => ({
  name,
  runs,
  property: property as fc.IRawProperty<unknown>,
});

/** For the specs, which try the same inputs each time. The long run finds others. */
export const SEED = 20_261_122;

/** Tries inputs. @returns how many, and a description of the smallest one for which the property does not hold */
export async function tryInputs(
  { property }: Fuzz,
  limits: { runs?: number; ms?: number; seed?: number },
): Promise<{ inputs: number; violation: string | null }> {
  const { runs = Number.MAX_SAFE_INTEGER, ms, seed } = limits;
  // At the end of its time, fast-check leaves behind the input that is being tried, which would disturb the next property.
  let last: unknown;
  const watched = new Proxy(property, {
    get(target, key) {
      if (key === 'run') return (value: unknown) => (last = target.run(value));
      const member = Reflect.get(target, key);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const details = await fc.check(watched, {
    numRuns: runs,
    ...(ms !== undefined && { interruptAfterTimeLimit: ms }),
    ...(seed !== undefined && { seed }),
  });
  await last;
  if (!details.failed) return { inputs: details.numRuns, violation: null };
  const violation = `${fc.defaultReportMessage(details)}\n${inspect(details.errorInstance)}`;
  return { inputs: details.numRuns, violation };
}

/** How long a pure function may take, on a machine that is busy with other things too. */
const MAX_MS = 2000;

/** Calls a function that must be quick whatever its input is. */
export function quickly<T>(work: () => T): T {
  const started = performance.now();
  const result = work();
  const took = performance.now() - started;
  assert.ok(took < MAX_MS, `took ${took} ms`);
  return result;
}
