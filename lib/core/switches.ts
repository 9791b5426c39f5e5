import type { Via } from './authentication.js';

const vias = new Map<Via, string>();
let administrators = '';

/** Says how to switch on a way to authenticate. Called when the module that brings it is loaded. */
export function declareVia(via: Via, how: string): void {
  vias.set(via, how);
}

/** How to switch on ways to authenticate that are not always on. */
export const switchesOfVias: ReadonlyMap<string, string> = vias;

/** Says how to name administrators. Called when the module that lets an app do so is loaded. */
export function declareAdministrators(how: string): void {
  administrators = how;
}

export function howToNameAdministrators(): string {
  return administrators;
}
