// Another process on the same database, for specs about several processes. On request, it tries several wrong passwords
// at the same time, and reports the result of each.
import { createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from './app.js';

const { database, credential, times } = JSON.parse(process.argv[2] ?? '{}');
const auth = createAuth({ database, secret: SECRET, plugins: [password()], logger: memoryLogger() });

process.once('message', async () => {
  const codes = await Promise.all(
    Array.from({ length: times }, (_, index) =>
      auth.credential.signIn({ credential, password: `wrong password ${index}` }).then(
        () => 'signed in',
        (error: { code?: string }) => error.code ?? String(error),
      ),
    ),
  );
  await auth.close();
  process.send?.(codes, () => process.disconnect());
});
// Connects first, so that the attempts start as soon as the message arrives.
await auth.listSessions('01900000-0000-7000-8000-000000000000');
process.send?.('ready');
