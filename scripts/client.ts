// Writes lib/client/generated from the declarations of the routes: the routes of the client, its methods, and the types
// of their inputs, data and error codes. A spec fails if a file is not up to date.
//
//   npm run client
import { writeFile } from 'node:fs/promises';
import { folder, generated } from './client/files.js';

for (const [name, source] of await generated()) await writeFile(new URL(name, folder), source);
