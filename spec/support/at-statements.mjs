/**
 * Calls `work` before each statement that a Sequelize instance sends, past its `query` too, and what that returns once the
 * statement has been answered. Must be called before the instance connects.
 *
 * @param {import('sequelize').Sequelize} sequelize
 * @param {(sql: string) => () => void} work
 */
export function atStatements(sequelize, work) {
  if (sequelize.getDialect() === 'sqlite') {
    const query = sequelize.query.bind(sequelize);
    sequelize.query = async (sql, ...rest) => {
      const answered = work(sql.query ?? sql);
      return query(sql, ...rest).finally(answered);
    };
    return;
  }
  sequelize.addHook('afterConnect', (connection) => {
    const query = connection.query.bind(connection);
    connection.query = (sql, ...rest) => {
      const answered = work(sql.sql ?? sql);
      const done = rest.pop();
      return query(sql, ...rest, (...outcome) => {
        answered();
        done(...outcome);
      });
    };
  });
}
