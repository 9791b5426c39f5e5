const { promisify } = require('node:util');
const bcrypt = require('bcrypt');
const { Router } = require('express');
const { UniqueConstraintError } = require('sequelize');
const handler = require('./handler');
const { Post, User } = require('./models');
const passport = require('./passport');
const requireLogin = require('./require-login');

const MIN_PASSWORD = 8;
const router = Router();

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
      const passwordHash = await bcrypt.hash(password, 10);
      const user = await User.create({ username, name, passwordHash });
      await promisify(req.login.bind(req))(user);
    } catch (error) {
      if (error instanceof UniqueConstraintError) return refuse('That username is taken.');
      throw error;
    }
    res.redirect('/');
  }),
);

router.get('/login', (req, res) => res.render('login', { failed: 'failed' in req.query }));

router.post(
  '/login',
  passport.authenticate('local', { successRedirect: '/', failureRedirect: '/login?failed' }),
);

router.post(
  '/logout',
  handler(async (req, res) => {
    await promisify(req.logout.bind(req))();
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
    const isRight = await bcrypt.compare(current, req.user.passwordHash);
    if (!isRight) return refuse('That is not your password.');
    await req.user.update({ passwordHash: await bcrypt.hash(password, 10) });
    res.redirect('/account');
  }),
);

router.post(
  '/account/delete',
  requireLogin,
  handler(async (req, res) => {
    await req.user.destroy();
    await promisify(req.logout.bind(req))();
    res.redirect('/');
  }),
);

module.exports = router;
