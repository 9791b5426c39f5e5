import { expect } from '@jest/globals';
import type { Finding } from '../../lib/cli/checks/finding.js';
import { SECRET } from './app.js';
import { type CliProject, startProject } from './cli.js';
import { createDatabase, type SpecDatabase } from './database.js';

const CONFIG = `import express from 'express';
  import { createAuth, credentialPassword } from 'latchkey';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    ...JSON.parse(process.env.MORE),
    plugins: process.env.PASSWORDS ? [credentialPassword(JSON.parse(process.env.PASSWORDS))] : [],
  });
  export const app = express();
  if (process.env.TRUST) app.set('trust proxy', JSON.parse(process.env.TRUST));`;
export const HTTPS = { baseUrl: 'https://app.example.com' };

/** A project whose setup `latchkey doctor` examines. */
export interface Doctor {
  readonly project: CliProject;
  readonly database: SpecDatabase;
  /** What it finds that is not as it should be, by check; and the exit code. */
  examine(
    more?: object,
    environment?: NodeJS.ProcessEnv,
  ): Promise<{ code: number | null; wrong: Record<string, string>; findings: readonly Finding[] }>;
  stop(): Promise<void>;
}

/** Starts with an empty database. */
export async function startDoctor(): Promise<Doctor> {
  const [project, database] = await Promise.all([startProject('express'), createDatabase()]);
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.js': CONFIG });
  return {
    project,
    database,
    async examine(more = {}, environment = {}) {
      const env = {
        DATABASE_URL: database.url,
        NODE_ENV: 'production',
        MORE: JSON.stringify({ ...HTTPS, ...more }),
        ...environment,
      };
      // Node reads its options when it starts.
      const run = 'NODE_OPTIONS' in environment ? project.run : project.call;
      const { code, stdout } = await run(['doctor', '--json'], env);
      const { findings } = JSON.parse(stdout) as { findings: readonly Finding[] };
      const wrong = findings.filter(({ status, check }) => status !== 'ok' && check !== 'email');
      expect(wrong.every(({ fix, status }) => fix !== null || status === 'skipped')).toBe(true);
      return {
        code,
        wrong: Object.fromEntries(wrong.map(({ check, status, detail }) => [check, `${status}: ${detail}`])),
        findings,
      };
    },
    async stop() {
      await project.remove();
      await database.drop();
    },
  };
}
