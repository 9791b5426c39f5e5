import { access, readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { everyPlugin, PLUGIN_FOLDERS } from './support/every-plugin.js';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('the list of every plugin', () => {
  test('has an entry for each folder in lib/plugins, and no other', async () => {
    const entries = await readdir(`${root}lib/plugins`, { withFileTypes: true });
    const folders = entries.filter((one) => one.isDirectory()).map(({ name }) => name);
    expect([...PLUGIN_FOLDERS].sort()).toEqual(folders.sort());
    // A plugin in a single file would be in no folder.
    expect(entries.filter((one) => !one.isDirectory()).map(({ name }) => name)).toEqual([]);
  });

  test('has each plugin once', () => {
    const names = everyPlugin({ sendsEmails: true }).map(({ name }) => name);
    expect(names).toContain('movingIn');
    expect(new Set(names).size).toBe(PLUGIN_FOLDERS.length + 1);
  });
});

describe.each(PLUGIN_FOLDERS)('the plugin %s', (folder) => {
  test('has a page in docs and specs of its own', async () => {
    await access(`${root}docs/${folder}.md`);
    const specs = await readdir(`${root}spec/plugins/${folder}`, { recursive: true });
    expect(specs.filter((name) => name.endsWith('.spec.ts'))).not.toEqual([]);
  });
});
