import express, { Router } from 'express';

const THEMES = ['light', 'dark', 'light dark'];
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** Light, dark, or what the system says: a cookie of the app's own, beside latchkey's. */
export function theme(): Router {
  const router = Router();
  router.get('/theme.css', (req, res) => {
    const { theme } = req.cookies;
    // From the server, as a style sheet: a script would come too late, and the page would flash.
    res.set('Cache-Control', 'no-store').type('css');
    res.send(`:root { color-scheme: ${THEMES.includes(theme) ? theme : 'light dark'}; }\n`);
  });
  router.post('/theme', express.urlencoded({ extended: false }), (req, res) => {
    const theme = req.body?.theme;
    if (!THEMES.includes(theme)) {
      res.sendStatus(422);
      return;
    }
    res.cookie('theme', theme, { httpOnly: true, sameSite: 'lax', maxAge: YEAR_MS });
    res.sendStatus(204);
  });
  return router;
}
