import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/**
 * Makes the data directory of a throw-away MariaDB or MySQL server, whose root has no password.
 *
 * @param {string} program the path of `mariadbd` or `mysqld`
 * @param {string} folder of which the data directory is made
 * @param {string[]} asUser flags for a server that is started by root
 * @returns {string[]} the flags with which the server finds its files
 * @throws Error with all that the program printed
 */
export function makeMysqlData(program, folder, asUser) {
  // A server deletes the temporary tables that it finds when it starts, also those of another server.
  const temporary = `${folder}-tmp`;
  mkdirSync(temporary);
  if (asUser.length > 0) execFileSync('chown', ['mysql', temporary]);
  const places = [`--datadir=${folder}`, `--tmpdir=${temporary}`];
  const [command, ...flags] = program.endsWith('mariadbd')
    ? ['mariadb-install-db', '--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db']
    : [program, '--no-defaults', '--initialize-insecure'];
  try {
    execFileSync(command, [...flags, ...places, ...asUser], { stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
  }
  return ['--no-defaults', ...places, ...asUser];
}
