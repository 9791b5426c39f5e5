import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';

/**
 * Makes the data directory of a throw-away MariaDB or MySQL server, whose root has no password.
 *
 * @param {string} program the path of `mariadbd` or `mysqld`
 * @param {string} folder of which the data directory is made
 * @param {string[]} asUser flags for a server that is started by root
 * @throws Error with all that the program printed
 */
export function makeMysqlData(program, folder, asUser) {
  const at = [`--datadir=${folder}`, ...asUser];
  const [command, ...flags] = program.endsWith('mariadbd')
    ? ['mariadb-install-db', '--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db']
    : [program, '--no-defaults', '--initialize-insecure'];
  // On a busy machine it has failed once in hundreds of times, and a second time never.
  for (let attempt = 1; ; attempt++) {
    try {
      execFileSync(command, [...flags, ...at], { stdio: ['ignore', 'pipe', 'pipe'] });
      return;
    } catch (error) {
      if (attempt === 2) throw new Error(`${error.message}\n${error.stdout}`, { cause: error });
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
