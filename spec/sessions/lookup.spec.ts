import { describe, expect, test } from '@jest/globals';
import { BatchedLookup } from '../../lib/sessions/lookup.js';
import { timers } from '../../lib/timers.js';
import { afterPause } from '../support/wrong-clock.js';

type Fetch = (digests: readonly string[], deadlineMs: number) => Promise<ReadonlyMap<string, string>>;

function lookupWith(fetch: Fetch, ...rest: [] | [ConstructorParameters<typeof BatchedLookup>[1]]) {
  const one = async (digest: string, deadlineMs: number) =>
    (await fetch([digest], deadlineMs)).get(digest) ?? null;
  return new BatchedLookup<string>({ several: fetch, one }, ...rest);
}

/** A lookup in a table of `row of <digest>` whose fetches wait until the spec completes them. */
function held() {
  const batches: { digests: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const lookup = lookupWith(
    (digests) =>
      new Promise((resolve, reject) => {
        const found = digests.filter((digest) => !digest.startsWith('missing'));
        batches.push({
          digests,
          answer: () => resolve(new Map(found.map((digest) => [digest, `row of ${digest}`]))),
          fail: reject,
        });
      }),
  );
  return { lookup, batches, digests: () => batches.map((batch) => batch.digests) };
}

/** Like {@link held}, after a single lookup has been answered. */
async function heldAfterOne() {
  const it = held();
  const first = it.lookup.find('first');
  await turn();
  it.batches[0]?.answer();
  await first;
  await turn();
  it.batches.length = 0;
  return it;
}
/** Waits for several turns of the event loop, however long they take. */
async function turn() {
  for (let turns = 0; turns < 10; turns++) await new Promise((resolve) => setImmediate(resolve));
}
const names = (count: number, name = 'token') =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

describe('BatchedLookup', () => {
  test('uses one fetch for all lookups of one turn, and removes duplicates', async () => {
    const { lookup, batches, digests } = held();
    const found = Promise.all(['a', 'b', 'a', 'missing', 'b'].map((digest) => lookup.find(digest)));
    await turn();
    expect(digests()).toEqual([['a', 'b', 'missing']]);
    batches[0]?.answer();
    expect(await found).toEqual(['row of a', 'row of b', 'row of a', null, 'row of b']);
  });

  test('keeps no empty batch if its observer fails', async () => {
    const fetched: (readonly string[])[] = [];
    let isBroken = true;
    const lookup = lookupWith(
      async (digests) => {
        fetched.push(digests);
        return new Map(digests.map((digest) => [digest, `row of ${digest}`]));
      },
      {
        requester() {
          if (isBroken) throw new Error('no context');
          return undefined;
        },
        observe: (_requesters, work) => work(),
      },
    );
    await expect(lookup.find('a')).rejects.toThrow('no context');
    isBroken = false;
    expect(await lookup.find('b')).toBe('row of b');
    expect(fetched).toEqual([['b']]);
  });

  test('fetches at most 64 rows at a time, with at most two fetches in parallel', async () => {
    const { lookup, batches, digests } = held();
    const found = Promise.all(names(200).map((digest) => lookup.find(digest)));
    await turn();
    expect(digests().map(({ length }) => length)).toEqual([16, 64]);
    batches[1]?.answer();
    await turn();
    batches[0]?.answer();
    await turn();
    for (const batch of batches) batch.answer();
    await turn();
    expect(digests().map(({ length }) => length)).toEqual([16, 64, 64, 56]);
    for (const batch of batches) batch.answer();
    expect(await found).toEqual(names(200).map((digest) => `row of ${digest}`));
    expect(new Set(digests().flat()).size).toBe(200);
  });

  test('fetches within a turn what 16 lookups wait for, unless a fetch is running', async () => {
    const { lookup, batches, digests } = held();
    const found = Promise.all(names(15).map((digest) => lookup.find(digest)));
    expect(digests()).toEqual([]);
    const last = lookup.find('token 15');
    expect(digests()).toEqual([names(16)]);
    const others = Promise.all(names(20, 'other').map((digest) => lookup.find(digest)));
    expect(digests()).toHaveLength(1);
    await turn();
    expect(digests()).toEqual([names(16), names(20, 'other')]);
    for (const batch of batches) batch.answer();
    expect([...(await found), await last, ...(await others)]).toEqual(
      [...names(16), ...names(20, 'other')].map((digest) => `row of ${digest}`),
    );
  });

  test('lets the event loop go on between fetches that are answered at once', async () => {
    const lookup = lookupWith(async (digests) => new Map(digests.map((one) => [one, one])));
    let asked = 0;
    let hasTurned = false;
    setImmediate(() => {
      hasTurned = true;
    });
    const ask = async (digest: string) => {
      while (!hasTurned && asked < 10_000) {
        asked++;
        await lookup.find(digest);
      }
    };
    await Promise.all(names(32).map(ask));
    expect(asked).toBeLessThan(10_000);
  });

  test('goes on if the callback at the end of a turn was lost', async () => {
    const { setImmediate } = timers;
    const { lookup, batches } = held();
    timers.setImmediate = (() => undefined) as never;
    const waiting = lookup.find('a');
    timers.setImmediate = setImmediate;
    const soon = lookup.find('b');
    await turn();
    expect(batches).toHaveLength(0);
    const late = await afterPause(1100, async () => ({ found: lookup.find('c') }));
    batches[0]?.answer();
    expect(await Promise.all([waiting, soon, late.found])).toEqual(['row of a', 'row of b', 'row of c']);
    const next = lookup.find('d');
    await turn();
    batches[1]?.answer();
    expect(await next).toBe('row of d');
  });

  test('uses a fetch that started after the lookup was requested', async () => {
    const { lookup, batches, digests } = held();
    const before = lookup.find('a');
    await turn();
    const after = lookup.find('a');
    await turn();
    // The row may have been revoked since the first fetch started.
    expect(digests()).toEqual([['a'], ['a']]);
    for (const batch of batches) batch.answer();
    expect(await Promise.all([before, after])).toEqual(['row of a', 'row of a']);
  });

  test('retries the lookups of a batch one by one if the batch failed quickly', async () => {
    const { lookup, batches, digests } = held();
    const found = Promise.allSettled(['a', 'b', 'c'].map((digest) => lookup.find(digest)));
    await turn();
    batches[0]?.fail(new Error('the connection died'));
    await turn();
    expect(digests()).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
    batches[1]?.answer();
    batches[2]?.fail(new Error('again'));
    batches[3]?.answer();
    expect(await found).toMatchObject([
      { value: 'row of a' },
      { reason: { message: 'again' } },
      { value: 'row of c' },
    ]);
    // The next lookup uses a batch again.
    const next = lookup.find('d');
    await turn();
    batches.at(-1)?.answer();
    expect(await next).toBe('row of d');
  });

  test('rejects a batch that failed late, and all lookups that are waiting', async () => {
    const { lookup, batches, digests } = held();
    const found = names(200).map((digest) => lookup.find(digest).catch((error: Error) => error.message));
    await turn();
    await afterPause(1050, async () => {
      batches[0]?.fail(new Error('no answer in time'));
      await turn();
    });
    expect(digests()).toHaveLength(2);
    expect(await found[0]).toBe('no answer in time');
    expect(await found[199]).toBe('no answer in time');
    batches[1]?.answer();
    expect(await found[64]).toBe('row of token 64');
    const next = lookup.find('d');
    await turn();
    batches.at(-1)?.answer();
    expect(await next).toBe('row of d');
  });

  test('gives a fetch the time that its oldest lookup has left', async () => {
    const deadlines: number[] = [];
    const answers: (() => void)[] = [];
    const lookup = lookupWith((_digests, deadlineMs) => {
      deadlines.push(deadlineMs);
      return new Promise((resolve) => answers.push(() => resolve(new Map())));
    });
    const running = [lookup.find('a')];
    await turn();
    running.push(lookup.find('b'));
    await turn();
    // Both fetches are running: this one has to wait.
    running.push(lookup.find('c'));
    const asked = performance.now();
    while (performance.now() - asked < 50) await turn();
    answers[0]?.();
    await turn();
    const [first = 0, second = 0, waited = 0] = deadlines;
    expect(Math.min(first, second)).toBeGreaterThan(waited);
    expect(waited).toBeLessThanOrEqual(4000 - 50);
    for (const answer of answers) answer();
    await Promise.all(running);
  });

  describe('after a single lookup', () => {
    test('fetches the next one without waiting for the end of the turn, and the rest of the turn in a batch', async () => {
      const { lookup, batches, digests } = await heldAfterOne();
      const alone = lookup.find('a');
      expect(digests()).toEqual([['a']]);
      const others = Promise.all(['b', 'a', 'c'].map((digest) => lookup.find(digest)));
      expect(digests()).toEqual([['a']]);
      await turn();
      // The second `a` was requested after the first fetch started.
      expect(digests()).toEqual([['a'], ['b', 'a', 'c']]);
      for (const batch of batches) batch.answer();
      expect([await alone, ...(await others)]).toEqual(['row of a', 'row of b', 'row of a', 'row of c']);

      // Two lookups of one row are not a single one.
      for (const batch of [['d', 'd'], ['e']]) {
        await turn();
        const before = digests().length;
        const next = Promise.all(batch.map((digest) => lookup.find(digest)));
        expect(digests()).toHaveLength(before);
        await turn();
        expect(digests().slice(before)).toEqual([batch.slice(0, 1)]);
        batches.at(-1)?.answer();
        expect(await next).toEqual(batch.map((digest) => `row of ${digest}`));
      }
    });

    test('fetches the next two of a turn together if there were two of them in the last turn', async () => {
      const { lookup, batches, digests } = await heldAfterOne();
      for (const pair of [
        ['a', 'b'],
        ['c', 'd'],
      ]) {
        const found = Promise.all(pair.map((digest) => lookup.find(digest)));
        await turn();
        for (const batch of batches) batch.answer();
        expect(await found).toEqual(pair.map((digest) => `row of ${digest}`));
        await turn();
      }
      expect(digests()).toEqual([['a'], ['b'], ['c', 'd']]);
    });

    test('fetches only one of a turn alone, even if it is answered at once', async () => {
      const fetched: (readonly string[])[] = [];
      const lookup = lookupWith(async (digests) => {
        fetched.push(digests);
        return new Map(digests.map((one) => [one, one]));
      });
      await lookup.find('first');
      await turn();
      expect(await lookup.find('a')).toBe('a');
      const found = ['b', 'c'].map((digest) => lookup.find(digest));
      expect(fetched).toEqual([['first'], ['a']]);
      expect(await Promise.all(found)).toEqual(['b', 'c']);
      expect(fetched).toEqual([['first'], ['a'], ['b', 'c']]);
    });

    test('finds it immediately if the source can, and the rest of the turn in a batch', async () => {
      const asked: string[] = [];
      const fetched: (readonly string[])[] = [];
      const rowsOf = (digests: readonly string[]) => {
        fetched.push(digests);
        return new Map(digests.filter((one) => one !== 'missing').map((one) => [one, `later ${one}`]));
      };
      const lookup = new BatchedLookup<string>({
        several: async (digests) => rowsOf(digests),
        one: async (digest) => rowsOf([digest]).get(digest) ?? null,
        now: (digest) => {
          asked.push(digest);
          if (digest.startsWith('later')) return undefined;
          return digest === 'missing' ? null : `now ${digest}`;
        },
      });
      await lookup.find('first');
      for (const [digest, row] of [
        ['a', 'now a'],
        ['missing', null],
        ['later b', 'later later b'],
      ] as const) {
        await turn();
        expect(await lookup.find(digest)).toBe(row);
      }
      await turn();
      const found = ['c', 'd', 'e'].map((digest) => lookup.find(digest));
      expect(await Promise.all(found)).toEqual(['now c', 'later d', 'later e']);
      expect(asked).toEqual(['a', 'missing', 'later b', 'c']);
      expect(fetched).toEqual([['first'], ['later b'], ['d', 'e']]);
    });

    test('fetches it again, with the time that is left, if that failed quickly', async () => {
      const { lookup, batches, digests } = await heldAfterOne();
      const found = lookup.find('a');
      batches[0]?.fail(new Error('the connection died'));
      await turn();
      expect(digests()).toEqual([['a'], ['a']]);
      batches[1]?.answer();
      expect(await found).toBe('row of a');

      const other = lookup.find('b').catch((error: Error) => error.message);
      for (const each of ['died', 'again']) {
        await turn();
        batches.at(-1)?.fail(new Error(each));
      }
      expect(await other).toBe('again');
      expect(digests()).toHaveLength(4);
    });

    test('rejects it and all lookups that are waiting if it failed late', async () => {
      const { lookup, batches, digests } = await heldAfterOne();
      const outcome = (digest: string) => lookup.find(digest).catch((error: Error) => error.message);
      const alone = outcome('a');
      const running = outcome('b');
      await turn();
      const waiting = outcome('c');
      await turn();
      expect(digests()).toEqual([['a'], ['b']]);
      await afterPause(1050, async () => {
        batches[0]?.fail(new Error('no answer in time'));
        expect(await Promise.all([alone, waiting])).toEqual(['no answer in time', 'no answer in time']);
      });
      batches[1]?.answer();
      expect(await running).toBe('row of b');
      const next = lookup.find('d');
      await turn();
      batches.at(-1)?.answer();
      expect(await next).toBe('row of d');
    });

    test('finds later ones if its observer fails', async () => {
      let isBroken = false;
      const lookup = lookupWith(async (digests) => new Map(digests.map((one) => [one, one])), {
        requester() {
          if (isBroken) throw new Error('no context');
          return undefined;
        },
        observe: (_requesters, work) => work(),
      });
      await lookup.find('first');
      await turn();
      isBroken = true;
      await expect(lookup.find('a')).rejects.toThrow('no context');
      isBroken = false;
      expect(await lookup.find('b')).toBe('b');
    });
  });
});
