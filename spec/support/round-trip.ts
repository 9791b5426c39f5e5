/**
 * Signs up, signs in and requests a guarded route over HTTP; the same code for every kind of project. It needs
 * {@link NAMES}, `express`, and a `config` with the database. Its `outcome` should be {@link OUTCOME}.
 */
const SERVE = `
  const auth = createAuth({
    ...config,
    secret: 'a secret for specs, of 32 bytes and more',
    plugins: [credentialPassword({ bcryptCost: 4 })],
  });
  await auth.migrate();
  const app = express();
  app.use('/auth', authRouter(auth));
  app.get('/hello', requireSession(auth), (req, res) => {
    res.json({ hello: currentUser(req).email });
  });
  const server = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address()IS_ADDRESS;
  const post = (path: string, body: object) =>
    fetch('http://127.0.0.1:' + port + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const email = 'ada@example.com';
  const password = 'an analytical engine';
  const signUp = await post('/auth/signup/credential', { email, password });
  const signIn = await post('/auth/signin/credential', { credential: email, password });
  const cookie = String(signIn.headers.get('set-cookie')).split(';')[0]!;
  const hello = await fetch('http://127.0.0.1:' + port + '/hello', { headers: { cookie } });
  const outcome = [signUp.status, signIn.status, hello.status, await hello.text()].join(' ');
  server.closeAllConnections();
  server.close();
  await auth.close();
`;
export const OUTCOME = '201 200 200 {"hello":"ada@example.com"}';
export const NAMES = 'authRouter, createAuth, credentialPassword, currentUser, requireSession';

export const IN_TYPESCRIPT = SERVE.replace('IS_ADDRESS', ' as AddressInfo');
export const IN_JAVASCRIPT = SERVE.replace('IS_ADDRESS', '')
  .replace('path: string, body: object', 'path, body')
  .replace(']!;', '];');
