import express, { Router } from 'express';

const THEMES = ['light', 'dark', 'light dark'];
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** The theme (light, dark, or the system's) is stored in a cookie of the app itself, next to latchkey's cookie. */
export function theme(): Router {
  const router = Router();
  router.get('/theme.css', (req, res) => {
    const { theme } = req.cookies;
    // The server sends a style sheet, because a script would run too late and the page would flash.
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
