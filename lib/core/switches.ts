import type { Via } from '../sessions/request.js';
import type { ImportRow } from '../users/imported.js';

const vias = new Map<Via, string>();
let administrators: readonly string[] = [];

/** Registers how to enable a kind of credential, for error messages. Called when its module is loaded. */
export function declareVia(via: Via, how: string): void {
  vias.set(via, how);
}

/** How to enable the kinds of credential that are off by default. */
export const switchesOfVias: ReadonlyMap<string, string> = vias;

/** Registers how to configure administrators, for error messages. Called when the plugin's module is loaded. */
export function declareAdministrators(how: string): void {
  administrators = [how];
}

/** Empty if a bundler has left the plugin out. */
export function howToNameAdministrators(): readonly string[] {
  return administrators;
}

const rowKeys = new Map<string, string>();

/** Registers how to enable keys of an import's rows, for error messages. Called when the plugin's module is loaded. */
export function declareRowKeys(keys: readonly (keyof ImportRow)[], how: string): void {
  for (const key of keys) rowKeys.set(key, how);
}

/** What plugins take from the rows of an import, and how to enable them. */
export const switchesOfRowKeys: ReadonlyMap<string, string> = rowKeys;

let passwords = 'a plugin with passwords';

/** Registers how to enable passwords, for error messages. Called when the plugin's module is loaded. */
export function declarePasswords(how: string): void {
  passwords = how;
}

/** What to add to the config for passwords. */
export function howToEnablePasswords(): string {
  return passwords;
}
