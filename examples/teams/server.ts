import type { AddressInfo } from 'node:net';
import { app } from './app.js';
import { auth, port } from './auth.js';
import { sequelize } from './database.js';

// First the tables that the projects refer to.
await auth.migrate();
await sequelize.sync();

const server = app.listen(port, () => {
  console.log(`Listening on http://localhost:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close(() => auth.close()));
