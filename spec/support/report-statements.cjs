// Loaded before an app: sends the spec every statement that goes through the app's copy of Sequelize, and holds back the
// result of one when the spec asks for it.
const { createRequire } = require('node:module');

const { Sequelize } = createRequire(`${process.cwd()}/`)('sequelize');
const { query } = Sequelize.prototype;
let holdsNext = false;
let release = () => {};

Sequelize.prototype.query = async function (sql, ...rest) {
  process.send?.({ sql: typeof sql === 'string' ? sql : sql.query });
  const isHeld = holdsNext;
  holdsNext = false;
  const result = await query.call(this, sql, ...rest);
  if (isHeld) {
    const released = new Promise((resolve) => {
      release = resolve;
    });
    process.send({ isHolding: true });
    await released;
  }
  return result;
};
process.on('message', (message) => {
  if (message === 'report') process.send({ isReported: true });
  if (message === 'hold') {
    holdsNext = true;
    process.send({ willHold: true });
  }
  if (message === 'release') release();
});
// The connection to the spec must not keep an app running that wants to end.
process.channel?.unref();
