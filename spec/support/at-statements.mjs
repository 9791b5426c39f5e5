/**
 * Calls `work` before each statement that a Sequelize instance sends, past its `query` too, and what that returns once the
 * statement has been answered. Must be called before the instance connects.
 *
 * @param {import('sequelize').Sequelize} sequelize
 * @param {(sql: string) => () => void} work
 */
export function atStatements(sequelize, work) {
  const tap = (connection, method) => {
    const send = connection[method].bind(connection);
    connection[method] = (sql, ...rest) => {
      const answered = work(sql.sql ?? sql.text ?? sql);
      const done = rest.pop();
      return send(sql, ...rest, function (...outcome) {
        answered();
        done.apply(this, outcome);
      });
    };
  };
  if (sequelize.getDialect() !== 'sqlite') {
    sequelize.addHook('afterConnect', (connection) => tap(connection, 'query'));
    return;
  }
  // Sequelize calls no hook for it, and opens a connection for each transaction.
  const { connectionManager } = sequelize;
  const getConnection = connectionManager.getConnection.bind(connectionManager);
  const tapped = new WeakSet();
  connectionManager.getConnection = async (options) => {
    const connection = await getConnection(options);
    if (!tapped.has(connection)) for (const method of ['all', 'run']) tap(connection, method);
    tapped.add(connection);
    return connection;
  };
}
