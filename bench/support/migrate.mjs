// Migrates a database in a process of its own: node bench/support/migrate.mjs <url>
import { createAuth } from 'latchkey';
import { SECRET } from './people.mjs';

const auth = createAuth({ database: process.argv[2], secret: SECRET });
const ran = await auth.migrate();
await auth.close();
if (ran.length === 0) throw new Error('nothing was pending');
console.log(ran.join(', '));
