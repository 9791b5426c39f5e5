// How long work on libuv's threads takes in this process.
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns';
import { stat } from 'node:fs';

/** @type {import('express').RequestHandler} */
export async function probe(_req, res) {
  const timed = (work) =>
    new Promise((resolve) => {
      const started = performance.now();
      work(() => resolve(performance.now() - started));
    });
  const [fs, dns, random] = await Promise.all([
    timed((done) => stat('/etc/hosts', done)),
    timed((done) => lookup('localhost', done)),
    timed((done) => randomBytes(32, done)),
  ]);
  res.json({ fs, dns, random });
}
