// Another process on the same database, for specs about several processes. It refreshes tokens on request.
import { createAuth, oauth } from '../../lib/index.js';
import { SECRET } from './app.js';
import { oidcPlugin } from './oauth-app.js';

const { database, issuer, userId, times } = JSON.parse(process.argv[2] ?? '{}');
const auth = createAuth({
  database,
  secret: SECRET,
  baseUrl: 'http://127.0.0.1',
  plugins: [oauth(), oidcPlugin({ issuer })],
});

process.once('message', async () => {
  const tokens = await Promise.all(Array.from({ length: times }, () => auth.oauth.refresh(userId, 'oidc')));
  await auth.close();
  process.send?.(
    tokens.map(({ accessToken }) => accessToken),
    () => process.disconnect(),
  );
});
// Connects first, so that the refresh starts as soon as the message arrives.
await auth.oauth.accounts(userId);
process.send?.('ready');
