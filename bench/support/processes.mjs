// Processes that are measured: started on cores of their own, and read from /proc.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { bench, serverCores } from './machine.mjs';

const TICK_MS = 1000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** What ends each process that is running. */
const running = new Set();
process.once('exit', () => {
  for (const kill of running) kill();
});

/**
 * @typedef {object} Child
 * @property {number} pid
 * @property {() => string} output what it has printed
 * @property {Promise<number | null>} ended its exit code
 * @property {(signal?: NodeJS.Signals) => Promise<void>} stop
 */

/**
 * Starts a program on the given cores. It ends with the bench.
 *
 * @param {readonly number[]} cores
 * @param {string} command
 * @param {readonly string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {Child}
 */
export function start(cores, command, args, options = {}) {
  const child = spawn('taskset', ['-c', cores.join(','), command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  });
  let output = '';
  const keep = (chunk) => {
    output = (output + chunk).slice(-100_000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const ended = new Promise((resolve) => {
    child.once('exit', (code) => resolve(code));
    child.once('error', (error) => {
      keep(error.message);
      resolve(null);
    });
  });
  const kill = () => child.kill('SIGKILL');
  running.add(kill);
  void ended.then(() => running.delete(kill));
  return {
    pid: child.pid,
    output: () => output,
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const timer = setTimeout(kill, 10_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/**
 * Starts a server of bench/servers on the server's core, and waits until it listens: it prints `listening <port>`, as
 * `serve()` of bench/support/serve.mjs does.
 *
 * @param {string} file relative to bench/, such as `servers/bare.mjs`
 * @param {Record<string, string>} [env]
 * @param {{ cores?: readonly number[], nodeArgs?: readonly string[] }} [options]
 * @returns {Promise<Child & { port: number, url: string }>}
 */
export async function startServer(file, env = {}, { cores = serverCores, nodeArgs = [] } = {}) {
  const child = start(cores, process.execPath, [...nodeArgs, `${bench}${file}`], {
    env: { ...process.env, NODE_ENV: 'production', ...env },
    cwd: bench,
  });
  let ended = false;
  void child.ended.then(() => {
    ended = true;
  });
  for (let attempt = 0; attempt < 600 && !ended; attempt++) {
    const port = /^listening (\d+)$/m.exec(child.output())?.[1];
    if (port) return { ...child, port: Number(port), url: `http://127.0.0.1:${port}` };
    await sleep(50);
  }
  await child.stop('SIGKILL');
  throw new Error(`${file} did not start: ${child.output()}`);
}

/** The CPU time that a process has used, with all its threads, in milliseconds. */
export function cpuMs(pid) {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Waits until a process has finished its work and uses no CPU time, for at most two seconds. */
export async function untilIdle(pid) {
  for (let attempt = 0, before = cpuMs(pid); attempt < 40; attempt++) {
    await sleep(50);
    const now = cpuMs(pid);
    if (now === before) return;
    before = now;
  }
}

/** The CPU time of several processes and all their descendants, ended ones too, in milliseconds. */
export function cpuMsOfTrees(pids) {
  const children = new Map();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(statFields(name)[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended.
    }
  }
  const tree = (pid) => [pid, ...(children.get(pid) ?? []).flatMap(tree)];
  const all = new Set(pids.flatMap(tree));
  let ticks = 0;
  for (const pid of all) {
    if (!existsSync(`/proc/${pid}/stat`)) continue;
    // The last two are the time of children that have ended.
    for (const field of statFields(pid).slice(11, 15)) ticks += Number(field);
  }
  return ticks * TICK_MS;
}

/** The resident memory of a process in megabytes. */
export function residentMb(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(kilobytes) / 1024;
}

/** @param {number} ms */
export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The fields of /proc/<pid>/stat from `state` on. */
function statFields(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}
