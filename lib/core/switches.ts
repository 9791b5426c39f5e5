import type { Via } from './authentication.js';

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

let passwords = 'a plugin with passwords';

/** Registers how to enable passwords, for error messages. Called when the plugin's module is loaded. */
export function declarePasswords(how: string): void {
  passwords = how;
}

/** What to add to the config for passwords. */
export function howToEnablePasswords(): string {
  return passwords;
}
