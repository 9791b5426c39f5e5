// The load: wrk, with one prepared request per line of headers.
import { mkdirSync, writeFileSync } from 'node:fs';
import { bench, data, otherCores } from './machine.mjs';
import { sleep, start } from './processes.mjs';

/**
 * @typedef {object} Load
 * @property {number} requests
 * @property {number} seconds
 * @property {number} perSecond
 * @property {number} p50 milliseconds, as p90, p99 and max
 * @property {number} p90
 * @property {number} p99
 * @property {number} max
 * @property {number} errors connections that failed, and timeouts
 * @property {number} refused responses other than 2xx and 3xx
 * @property {number} bytes of a response, on average
 */

/**
 * Stores header lines for wrk, one request each, such as `Cookie: a=b`. The requests are sent in turn.
 *
 * @param {string} name of the file
 * @param {readonly string[]} lines
 * @returns {string} its path
 */
export function headerFile(name, lines) {
  mkdirSync(data, { recursive: true });
  const path = `${data}/headers-${name}.txt`;
  writeFileSync(path, `${lines.join('\n')}\n`);
  return path;
}

/**
 * @param {string} url
 * @param {{ connections?: number, seconds?: number, headers?: string, cores?: readonly number[] }} [options] `headers` is
 *   a file of `headerFile`
 * @returns {Promise<Load>}
 */
export async function wrk(url, options) {
  const child = startWrk(url, options);
  await child.ended;
  const [, json] = /^JSON (\{.*\})$/m.exec(child.output()) ?? [];
  if (!json) throw new Error(`wrk failed: ${child.output()}`);
  const { durationUs, p50, p90, p99, max, requests, errors, refused, bytes } = JSON.parse(json);
  const duration = durationUs / 1e6;
  return {
    requests,
    seconds: duration,
    perSecond: requests / duration,
    ...{ p50: p50 / 1000, p90: p90 / 1000, p99: p99 / 1000, max: max / 1000 },
    ...{ errors, refused, bytes: bytes / requests },
  };
}

/**
 * Sends the same requests as `wrk` for three tenths of a second, and measures nothing.
 *
 * @param {string} url
 * @param {Parameters<typeof wrk>[1]} [options]
 */
export async function leadIn(url, options) {
  const child = startWrk(url, options);
  // wrk itself takes whole seconds only.
  await sleep(300);
  await child.stop('SIGINT');
}

function startWrk(url, { connections = 50, seconds = 5, headers = '-', cores = otherCores } = {}) {
  const { pathname } = new URL(url);
  return start(cores, 'wrk', [
    ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '--latency'],
    ...['-s', `${bench}support/wrk.lua`, url, '--', headers, pathname],
  ]);
}
