import { accessSync, constants, statfsSync } from 'node:fs';

const FOLDER = '/dev/shm';

/**
 * Returns a folder in memory, where databases do not wait for a disk.
 *
 * @param {number} space the free space that it needs, in bytes
 * @returns {string | null} null if there is none with this space
 */
export function memoryFolder(space) {
  try {
    accessSync(FOLDER, constants.W_OK);
    const { bavail, bsize } = statfsSync(FOLDER);
    return bavail * bsize > space ? FOLDER : null;
  } catch {
    return null;
  }
}
