import type { Core } from '../core/core.js';
import { isTokenBridge, type SessionBridge, type TokenBridge } from './bridge.js';
import { ImportedRows } from './imported-rows.js';
import { LinkedSessions } from './linked-sessions.js';
import { TakenOverSessions } from './taken-over.js';

/** The services of the plugin. */
export interface Services {
  readonly core: Core;
  readonly bridges: readonly SessionBridge[];
  readonly tokenBridges: readonly TokenBridge[];
  readonly rows: ImportedRows;
  readonly takenOver: TakenOverSessions;
  /** The sessions of previous systems that are still running. */
  readonly linked: LinkedSessions;
}

export function newServices(core: Core, all: readonly (SessionBridge | TokenBridge)[]): Services {
  const { database, box, settings, degraded } = core;
  const bridges = all.filter((one): one is SessionBridge => !isTokenBridge(one));
  return {
    core,
    bridges,
    tokenBridges: all.filter(isTokenBridge),
    rows: new ImportedRows(core),
    takenOver: new TakenOverSessions(database, box, core.sessions),
    linked: new LinkedSessions(database, box, bridges, settings.log, degraded),
  };
}
