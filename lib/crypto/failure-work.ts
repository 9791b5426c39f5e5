import { performance } from '../timers.js';

// The number of recent measurements from which a typical value is calculated.
const REMEMBERED = 15;
// bcrypt's lowest cost.
const MIN_COST = 4;
// The remaining work is composed of bcrypt runs down to 1/64 of the whole, which keeps failures within 1 %, or within
// half a run of the lowest cost.
const FINEST_STEPS = 6;
// Only runs of at least half the work are measured, because on a busy machine shorter runs are interrupted less often.
const MEASURED_STEPS = 1;

/** Calculates the typical value of recent measurements. */
export class Recent {
  readonly #values: number[] = [];

  add(value: number): void {
    this.#values.push(value);
    if (this.#values.length > REMEMBERED) this.#values.shift();
  }

  /** The median, or undefined before the first measurement. */
  get median(): number | undefined {
    return [...this.#values].sort((a, b) => a - b)[Math.floor((this.#values.length - 1) / 2)];
  }
}

/** The kind of a hash. The work of bcrypt is known; the work of other hashes is measured for each set of parameters. */
export type Kind = { readonly cost: number } | { readonly parameters: string };

/**
 * Makes every failed verification do the same work: that of the configured hash, which a failure without a hash
 * computes too. The work is counted in bcrypt's rounds: a run of cost c has 2^c rounds. If a hash requires less work,
 * bcrypt fills up the rest, so that load slows down all failures equally. A hash that costs more than the configured
 * one raises the work of all failures from the first time that it is seen.
 */
export class FailureWork {
  /** The rounds of every failure. */
  #rounds = 0;
  readonly #minMeasured: number;
  readonly #msPerRound = new Recent();
  /** The measured rounds of other kinds than bcrypt that have exceeded the rounds of a failure, by their parameters. */
  readonly #costly = new Map<string, Recent>();
  #highestCost = 0;

  /**
   * @param configured the kind of the configured hash
   * @param bcryptCost the cost of bcrypt that takes about as long
   * @param run computes bcrypt at this cost; the result is ignored
   * @param now returns the time in milliseconds
   */
  constructor(
    configured: Kind,
    bcryptCost: number,
    private readonly run: (cost: number) => Promise<unknown> = runBcrypt,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.#minMeasured = Math.max(MIN_COST, bcryptCost - MEASURED_STEPS);
    if ('cost' in configured) this.#raise(configured.cost);
    else this.#costly.set(configured.parameters, new Recent());
  }

  /** Runs a verification and, if it fails, does the rest of the work of a failure. */
  async verify(kind: Kind, compare: () => Promise<boolean>): Promise<boolean> {
    const { matches, rounds } = await this.#measure(kind, compare);
    if (!matches) await this.#fill(rounds);
    return matches;
  }

  /** Learns the cost of a kind without filling up the work. */
  async learn(kind: Kind, compare: () => Promise<boolean>): Promise<void> {
    if ('cost' in kind) this.#raise(kind.cost);
    else await this.#measure(kind, compare);
  }

  /** Does the rest of the work of a failure. @param done the rounds that have already been computed */
  async #fill(done: number): Promise<void> {
    const highest = Math.floor(Math.log2(this.#rounds));
    const lowest = Math.max(MIN_COST, highest - FINEST_STEPS);
    let left = Math.round((this.#rounds - done) / 2 ** lowest);
    for (let cost = highest; cost >= lowest; cost--) {
      const parts = 2 ** (cost - lowest);
      if (left < parts) continue;
      left -= parts;
      await this.#timed(cost, () => this.run(cost));
    }
  }

  async #measure(kind: Kind, compare: () => Promise<boolean>): Promise<{ matches: boolean; rounds: number }> {
    if ('cost' in kind) {
      this.#raise(kind.cost);
      return { matches: await this.#timed(kind.cost, compare), rounds: 2 ** kind.cost };
    }
    if (this.#msPerRound.median === undefined) {
      // The first run loads bcrypt, which must not be measured.
      await this.run(MIN_COST);
      await this.#timed(this.#minMeasured, () => this.run(this.#minMeasured));
    }
    const started = this.now();
    const matches = await compare();
    const rounds = (this.now() - started) / (this.#msPerRound.median as number);
    return { matches, rounds: this.#observe(kind.parameters, rounds) };
  }

  async #timed<T>(cost: number, work: () => Promise<T>): Promise<T> {
    const started = this.now();
    const result = await work();
    if (cost >= this.#minMeasured) this.#msPerRound.add((this.now() - started) / 2 ** cost);
    return result;
  }

  #raise(cost: number): void {
    if (cost <= this.#highestCost) return;
    this.#highestCost = cost;
    this.#update();
  }

  /**
   * Returns the rounds that count for a verification. Once a kind is costly, all its measurements count, because the
   * long ones alone would raise the work without limit. Each verification of it then counts as the typical one.
   */
  #observe(parameters: string, rounds: number): number {
    const known = this.#costly.get(parameters) ?? (rounds > this.#rounds ? new Recent() : undefined);
    if (!known) return rounds;
    known.add(rounds);
    this.#costly.set(parameters, known);
    this.#update();
    return known.median as number;
  }

  #update(): void {
    const measured = [...this.#costly.values()].map(({ median = 0 }) => median);
    this.#rounds = Math.max(2 ** this.#highestCost, ...measured);
  }
}

/** Runs bcrypt by comparing with a well-formed hash whose input is unknown. */
async function runBcrypt(cost: number): Promise<void> {
  const { compare } = await bcrypt();
  await compare('', `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`);
}

// The module is kept, because each `import()` of Node creates several promises.
let loaded: typeof import('bcrypt') | undefined;

/**
 * Loads bcrypt, whose native part is loaded on first use instead of at startup.
 *
 * @internal
 */
export async function bcrypt(): Promise<typeof import('bcrypt')> {
  loaded ??= (await import('bcrypt')).default;
  return loaded;
}
