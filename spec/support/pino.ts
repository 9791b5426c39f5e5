import { pino } from 'pino';
import { Log } from '../../lib/logger.js';

/** Makes every line be written a second time, as pino writes it. */
export function alsoToPino(lines: Log, write: (line: string) => void): void {
  const objects = new Log(pino({ level: 'debug' }, { write: (line) => write(line.trimEnd()) }));
  objects.close();
  for (const level of ['debug', 'info', 'warn', 'error'] as const) {
    const first = lines[level].bind(lines);
    lines[level] = (...given) => {
      first(...given);
      objects[level](...given);
    };
  }
}
