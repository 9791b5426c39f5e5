const { Router } = require('express');
const { auth } = require('./auth');
const handler = require('./handler');
const { Post } = require('./models');
const requireLogin = require('./require-login');

const MIN_PASSWORD = 8;
const router = Router();

/** What latchkey says of the first field that it refuses, such as a password that is too common. */
const firstOf = ({ errors: [{ pointer, detail }] }) => `The ${pointer.slice(1)} ${detail}.`;

router.get('/register', (req, res) => res.render('register', { error: null }));

router.post(
  '/register',
  handler(async (req, res) => {
    const { username = '', name = '', password = '' } = req.body;
    const refuse = (error) => res.status(422).render('register', { error });
    if (!/^[a-z0-9_]{3,20}$/.test(username)) return refuse('A username has 3 to 20 of a-z, 0-9 and _.');
    if (name.trim() === '') return refuse('Tell us your name.');
    if (password.length < MIN_PASSWORD) return refuse('A password has at least 8 characters.');
    try {
      const { user } = await auth.credential.signUp({ username, password, fields: { name }, request: req });
      const session = { remember: true, ip: req.ip, userAgent: req.get('user-agent') };
      await auth.establishSession(req, res, await auth.createSession(user.id, session));
    } catch (error) {
      if (error.code === 'username_taken') return refuse('That username is taken.');
      if (error.code === 'validation_failed') return refuse(firstOf(error));
      throw error;
    }
    res.redirect('/');
  }),
);

router.get('/login', (req, res) => res.render('login', { failed: 'failed' in req.query }));

router.post(
  '/login',
  handler(async (req, res) => {
    const { username = '', password = '' } = req.body;
    try {
      const signIn = { credential: username, password, rememberMe: true, request: req };
      await auth.establishSession(req, res, await auth.credential.signIn(signIn));
    } catch (error) {
      if (!['invalid_credentials', 'validation_failed'].includes(error.code)) throw error;
      return res.redirect('/login?failed');
    }
    res.redirect('/');
  }),
);

router.post(
  '/logout',
  handler(async (req, res) => {
    await auth.endSession(req, res);
    res.redirect('/');
  }),
);

router.get(
  '/account',
  requireLogin,
  handler(async (req, res) => {
    const posts = await Post.count({ where: { userId: req.user.id } });
    res.render('account', { posts, error: null });
  }),
);

router.post(
  '/account',
  requireLogin,
  handler(async (req, res) => {
    await req.user.update({ name: req.body.name });
    res.redirect('/account');
  }),
);

router.post(
  '/account/password',
  requireLogin,
  handler(async (req, res) => {
    const { current = '', password = '' } = req.body;
    const posts = await Post.count({ where: { userId: req.user.id } });
    const refuse = (error) => res.status(422).render('account', { posts, error });
    if (password.length < MIN_PASSWORD) return refuse('A password has at least 8 characters.');
    try {
      const { user, session } = req.auth;
      const change = {
        userId: user.id,
        sessionId: session.id,
        currentPassword: current,
        newPassword: password,
      };
      await auth.establishSession(
        req,
        res,
        await auth.credential.changePassword({ ...change, request: req }),
      );
    } catch (error) {
      if (error.code === 'invalid_credentials') return refuse('That is not your password.');
      if (error.code === 'validation_failed') return refuse(firstOf(error));
      throw error;
    }
    res.redirect('/account');
  }),
);

router.post(
  '/account/delete',
  requireLogin,
  handler(async (req, res) => {
    await auth.users.delete(req.auth.user.id);
    await auth.endSession(req, res);
    res.redirect('/');
  }),
);

module.exports = router;
