// What each layer of a guarded request costs: the same page, with one layer after another switched on.
import { LAYERS } from '../servers/layers-list.mjs';
import { candidates, interleaved } from '../support/guarded.mjs';
import { fixed, median, spread, table } from '../support/numbers.mjs';
import { FULL, SMALL } from '../support/people.mjs';

export const title = 'The layers of a guarded request';

const ORDER = LAYERS.map(({ name }) => name);
const from = (layer) => ORDER.slice(ORDER.indexOf(layer));

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, databases, log }) {
  const size = quick ? SMALL : FULL;
  const timing = quick
    ? { rounds: 1, seconds: 1, warmUp: 1, alone: 1 }
    : { rounds: 4, seconds: 2, warmUp: 6, alone: 1 };
  const names = ['hand-written', 'latchkey-cookie'];
  const real = await candidates('mysql', { size, names, databases, log });
  const latchkey = real.find(({ name }) => name === 'latchkey-cookie');
  const layers = LAYERS.map(({ name, what }) => ({
    ...latchkey,
    name,
    label: what,
    file: 'servers/layers.mjs',
    env: { ...latchkey.env, BENCH_LAYER: name },
    checks: {
      page: from('rows').includes(name),
      missing: from('cookie').includes(name),
      unknown: from('query').includes(name),
    },
  }));
  const options = { ...timing, connections: 50, patient: !quick, databases, log };
  const results = await interleaved([...layers, ...real], options);

  const cpu = evened(results, 'cpu');
  const alone = evened(results, 'aloneCpu');
  const row = (first, name, before) => {
    const rounds = results.get(name);
    const added = (values) =>
      before ? fixed(median(values.get(name)) - median(values.get(before)), 1) : '–';
    return [
      `${first}${rounds.some(({ disturbed }) => disturbed) ? ' (disturbed)' : ''}`,
      fixed(median(cpu.get(name)), 1),
      spread(cpu.get(name), 1),
      added(cpu),
      fixed(median(rounds.map(({ perSecond }) => perSecond))),
      fixed(median(alone.get(name)), 1),
      added(alone),
      fixed(median(rounds.map(({ aloneP50 }) => aloneP50)) * 1000),
    ];
  };
  const columns = ['CPU µs', 'lowest–highest', 'added', 'a second', 'alone: CPU µs', 'added', 'p50 µs'];
  return [
    `The same page on MySQL, by a hand-written server to which the layers of latchkey's guard are added one after another: each row
has all layers above it. CPU microseconds a request of the server's process; ${timing.rounds} interleaved rounds of ${timing.seconds} s at 50 connections
and of ${timing.alone} s at one ("alone"), after ${timing.warmUp} s of warm-up. Each round is scaled by how fast the machine was in it. Differences of less than the spread
are noise.`,
    table(
      ['with this layer too', ...columns],
      [
        ...LAYERS.map(({ name, what }, index) => row(what, name, ORDER[index - 1])),
        row('latchkey itself', 'latchkey-cookie', ORDER.at(-1)),
      ],
    ),
    'Beside them, with what each adds to bare Express (the third row above):',
    table(
      ['server', ...columns],
      [
        row(real.find(({ name }) => name === 'hand-written').label, 'hand-written', 'json'),
        row('latchkey itself', 'latchkey-cookie', 'json'),
      ],
    ),
  ].join('\n\n');
}

/**
 * Microseconds of each server's rounds, scaled by how much slower or faster than usual all servers were in the same round:
 * the speed of a machine changes from minute to minute.
 */
function evened(results, key) {
  const usual = new Map([...results].map(([name, rounds]) => [name, median(rounds.map((one) => one[key]))]));
  const factorOf = (round) =>
    median([...results].map(([name, rounds]) => rounds[round][key] / usual.get(name)));
  return new Map(
    [...results].map(([name, rounds]) => [
      name,
      rounds.map((one, round) => (one[key] / factorOf(round)) * 1000),
    ]),
  );
}
