import type { Sequelize } from 'sequelize';

/** What latchkey uses of Sequelize's connection manager; its types omit it. */
export interface ConnectionManager {
  config: { pool?: object };
  readonly pool: { drain(): Promise<void>; destroyAllNow(): Promise<void> };
  initPools(): void;
  getConnection(options: object): Promise<object>;
  releaseConnection(connection: object): void;
}

export function connectionManagerOf(sequelize: Sequelize): ConnectionManager {
  return (sequelize as unknown as { connectionManager: ConnectionManager }).connectionManager;
}
