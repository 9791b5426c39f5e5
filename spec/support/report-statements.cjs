// Loaded before an app: sends the spec every statement that goes through the app's copy of Sequelize, and every prepared
// one that latchkey gives to the driver. Holds back the rows of the next one on SQLite, of either kind, when the spec asks
// for it.
const { createRequire } = require('node:module');

const requireOfApp = createRequire(`${process.cwd()}/`);
const { Sequelize } = requireOfApp('sequelize');
const SqliteConnections = requireOfApp('sequelize/lib/dialects/sqlite/connection-manager');
let holdsNext = false;
let release = () => {};
const beforeHolding = [];

const { query } = Sequelize.prototype;
Sequelize.prototype.query = function (sql, ...rest) {
  process.send?.({ sql: typeof sql === 'string' ? sql : sql.query });
  return query.call(this, sql, ...rest);
};

for (const [dialect, tap] of [
  ['mysql', tapMysql],
  ['postgres', tapPostgres],
]) {
  const Connections = requireOfApp(`sequelize/lib/dialects/${dialect}/connection-manager`);
  const { connect } = Connections.prototype;
  Connections.prototype.connect = async function (config) {
    const connection = await connect.call(this, config);
    tap(connection);
    return connection;
  };
}

function tapMysql(connection) {
  const { prepare } = connection;
  connection.prepare = function (sql, done) {
    return prepare.call(this, sql, (error, statement) => {
      const execute = statement?.execute;
      if (execute)
        statement.execute = function (...given) {
          process.send?.({ sql });
          return execute.apply(this, given);
        };
      done(error, statement);
    });
  };
}

function tapPostgres(connection) {
  const { query: send } = connection;
  connection.query = function (statement, ...rest) {
    // Other statements have gone through Sequelize's `query`.
    if (statement.values) process.send?.({ sql: statement.text });
    return send.call(this, statement, ...rest);
  };
}

const { getConnection } = SqliteConnections.prototype;
const tapped = new WeakSet();
SqliteConnections.prototype.getConnection = async function (options) {
  const connection = await getConnection.call(this, options);
  if (!tapped.has(connection)) holdRowsOf(connection);
  tapped.add(connection);
  return connection;
};

function holdRowsOf(connection) {
  const { all, find } = connection;
  connection.all = function (sql, ...rest) {
    const done = rest.pop();
    const isLookup = rest.length > 0 && find && !connection.find;
    if (isLookup) {
      process.send?.({ sql });
      connection.find = reported;
    }
    return all.call(this, sql, ...rest, held(done));
  };
  // The package sqlite3 has no such method.
  if (!find) return;
  const reported = function (sql, value) {
    process.send?.({ sql });
    return find.call(this, sql, value);
  };
  connection.find = reported;
  // It answers immediately, so that nothing can be held back. Without it, latchkey uses `all`.
  beforeHolding.push(() => {
    connection.find = undefined;
  });
}

function held(done) {
  const isHeld = holdsNext;
  holdsNext = false;
  return function (...outcome) {
    const goOn = () => done.apply(this, outcome);
    if (!isHeld) return goOn();
    release = goOn;
    process.send({ isHolding: true });
  };
}

process.on('message', (message) => {
  if (message === 'report') process.send({ isReported: true });
  if (message === 'hold') {
    holdsNext = true;
    for (const prepare of beforeHolding) prepare();
    process.send({ willHold: true });
  }
  if (message === 'release') release();
});
// The connection to the spec must not keep an app running that wants to end.
process.channel?.unref();
