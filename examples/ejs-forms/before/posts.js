const { Router } = require('express');
const handler = require('./handler');
const { Comment, Post, User } = require('./models');
const requireLogin = require('./require-login');

const router = Router();

router.get(
  '/',
  handler(async (req, res) => {
    res.render('posts', { posts: await Post.findAll({ include: User, order: [['id', 'DESC']] }) });
  }),
);

router.get('/posts/new', requireLogin, (req, res) => res.render('new-post'));

router.post(
  '/posts',
  requireLogin,
  handler(async (req, res) => {
    const { title, body } = req.body;
    const post = await Post.create({ title, body, userId: req.user.id });
    res.redirect(`/posts/${post.id}`);
  }),
);

router.get(
  '/posts/:id(\\d+)',
  handler(async (req, res, next) => {
    const order = [[Comment, 'id', 'ASC']];
    const post = await Post.findByPk(req.params.id, {
      include: [User, { model: Comment, include: User }],
      order,
    });
    if (post === null) return next();
    res.render('post', { post });
  }),
);

router.post(
  '/posts/:id(\\d+)/comments',
  requireLogin,
  handler(async (req, res) => {
    const { id } = req.params;
    await Comment.create({ body: req.body.body, postId: id, userId: req.user.id });
    res.redirect(`/posts/${id}`);
  }),
);

router.post(
  '/posts/:id(\\d+)/delete',
  requireLogin,
  handler(async (req, res, next) => {
    const post = await Post.findByPk(req.params.id);
    if (post === null) return next();
    if (post.userId !== req.user.id) {
      return res.status(403).render('error', { message: 'This is not your post.' });
    }
    await post.destroy();
    res.redirect('/');
  }),
);

module.exports = router;
