import { describe, expect, test } from '@jest/globals';
import { inAnotherProcess } from '../support/processes.js';

/** The error output of a process if a driver is not installed. */
const said = async (database: string, missing: string) => {
  const env = { NODE_OPTIONS: '--import ./spec/support/without-packages.mjs', WITHOUT: missing };
  const failed = await inAnotherProcess(['migrate', database], env).catch((error) => error);
  return (failed as { stderr: string }).stderr;
};

describe('a missing driver', () => {
  test.each([
    ['postgres://ada:hushhush@127.0.0.1:1/app', 'pg', 'postgres'],
    ['postgresql://ada:hushhush@127.0.0.1:1/app', 'pg', 'postgresql'],
    ['mysql://ada:hushhush@127.0.0.1:1/app', 'mysql2', 'mysql'],
    ['mariadb://ada:hushhush@127.0.0.1:1/app', 'mysql2', 'mariadb'],
  ])('for %s is reported by createAuth', async (url, driver, scheme) => {
    const lines = await said(url, driver);
    expect(lines).toContain(
      `\nError: latchkey: database is ${scheme}://…, which needs a driver: npm install ${driver}\n`,
    );
    expect(lines).toContain('at createAuth');
    expect(lines).not.toContain('hushhush');
  });

  // Newer versions of Node have a built-in driver.
  if (!process.getBuiltinModule('node:sqlite')) {
    test('for SQLite is reported by migrate() in a few lines', async () => {
      const lines = await said('sqlite::memory:', '@photostructure/sqlite');
      expect(lines).toContain(`\nError: latchkey: SQLite needs Node 22.13 or later, or`);
      expect(lines).toContain('npm install @photostructure/sqlite@1');
      expect(lines).not.toMatch(/Sequelize|cause|parent/);
      expect(lines.trim().split('\n').length).toBeLessThan(15);
    });
  }
});
