// A short form of bench/load.mjs: the same mix, against the same model of what must be answered.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmins, loadConfig, mountLoad } from '../bench/load/app.mjs';
import { KINDS, Mix } from '../bench/load/mix.mjs';
import * as latchkey from '../lib/index.js';
import { type SpecApp, startApp } from './support/app.js';
import { rows } from './support/database.js';

const LANES = 4;
const OPERATIONS = 200;
/** Where chance has left a kind out, the lanes go on until it is done, up to this many operations each. */
const MOST_OPERATIONS = 2000;
const seed = Number(process.env.LATCHKEY_SPEC_SEED ?? Math.floor(Math.random() * 1e6));
const adminPassword = 'a password of administrators';

describe(`a mix of everything (LATCHKEY_SPEC_SEED=${seed})`, () => {
  let app: SpecApp<readonly latchkey.Plugin[]>;
  let mix: Mix;

  beforeAll(async () => {
    app = await startApp<readonly latchkey.Plugin[]>({
      config: loadConfig(latchkey, LANES),
      mount: (express, auth) => mountLoad(latchkey, express, auth),
    });
    await createAdmins(app.auth, LANES, adminPassword);
    const { port } = (app.server as Server).address() as AddressInfo;
    const prune = () => app.auth.prune();
    mix = new Mix({ port, lanes: LANES, people: 6, seed, adminPassword, prune });
  });
  afterAll(async () => {
    mix.close();
    await app.stop();
  });

  it('is answered as the model says, each kind of operation is done, and nothing is left over', async () => {
    await mix.prepare();
    const missing = () => KINDS.filter((kind) => mix.done[kind] === 0);
    await mix.run((done) => done < (missing().length > 0 ? MOST_OPERATIONS : OPERATIONS));
    await mix.checkAll();
    expect(mix.unexpected).toEqual([]);
    expect(missing()).toEqual([]);
    const count = async (table: string) =>
      Number((await rows<{ n: number }>(app.database, `SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);
    expect(await mix.leftOver(count)).toEqual([]);
  }, 120_000);
});
