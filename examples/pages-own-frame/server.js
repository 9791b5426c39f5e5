import { join } from 'node:path';
import express from 'express';
import { authRouter, createAuth, credentialPassword, optionalSession, requireSession } from 'latchkey';
import { pages } from 'latchkey/pages';
import { signOut } from './pages/sign-out.js';

const port = Number(process.env.PORT ?? 3000);
const app = express();
app.set('view engine', 'ejs');
app.set('views', join(import.meta.dirname, 'views'));

const auth = createAuth({
  database: process.env.DATABASE_URL ?? 'sqlite:./app.db',
  secret: process.env.AUTH_SECRET,
  baseUrl: `http://localhost:${port}`,
  appName: 'Bread & Butter',
  email: { send: (message) => console.log(message.kind, message.url) },
  plugins: [
    credentialPassword({ signInOnSignUp: true }),
    pages({
      home: '/recipes',
      theme: { accent: '#8a4b08', dark: 'never' },
      stylesheet: '/site.css',
      // The sign-in page is a template of this app. All other pages are put into its frame: the ejected one, and those of
      // latchkey.
      render(page) {
        if (page.name === 'sign-in') return renderView('sign-in', { page });
        return renderView('frame', { page, main: page.name === 'sign-out' ? signOut(page) : page.main });
      },
    }),
  ],
});
await auth.migrate();

/** Renders a template with the app's own view engine. */
function renderView(name, values) {
  return new Promise((resolve, reject) => {
    app.render(name, values, (error, html) => (error ? reject(error) : resolve(html)));
  });
}

app.use(express.static(join(import.meta.dirname, 'public')));
app.use((_req, res, next) => {
  // The pages keep this policy of the app, because they are in its frame.
  res.setHeader('Content-Security-Policy', "default-src 'self'; frame-ancestors 'none'; base-uri 'none'");
  next();
});
app.use(authRouter(auth)); // its routes and pages are below /auth
app.get('/', optionalSession(auth), (req, res) => res.render('home', { user: req.auth?.user ?? null }));
app.get('/recipes', requireSession(auth), (req, res) => res.render('recipes', { user: req.auth.user }));

const server = app.listen(port, () => console.log(`http://localhost:${server.address().port}`));
process.once('SIGTERM', () => server.close(() => auth.close()));
