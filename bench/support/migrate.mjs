// Migrates a database to a later version in a process of its own: node bench/support/migrate.mjs <url>
import { createAuth } from 'latchkey';
import { later } from './later.mjs';
import { SECRET } from './people.mjs';

const auth = createAuth({ database: process.argv[2], secret: SECRET, plugins: [later] });
const ran = await auth.migrate();
await auth.close();
if (ran.length === 0) throw new Error('nothing was pending');
console.log(ran.join(', '));
