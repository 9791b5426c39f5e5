/** The entry point `latchkey/sqlite`: an app's own Sequelize instance on SQLite. */
export { type SqliteOptions, sqlite } from './database/connect.js';
