import { type Request, type Response, Router } from 'express';
import { requireUser } from './guards.js';
import { Article, User } from './models.js';
import { refuse } from './refuse.js';

export const articles = Router();

const answer = ({ id, title, body }: Article, author: User | undefined) => ({
  id,
  title,
  body,
  author: { handle: author?.handle, bio: author?.bio },
});

articles.get('/articles', async (req: Request, res: Response) => {
  const found = await Article.findAll({ include: { model: User, as: 'author' }, order: [['id', 'DESC']] });
  res.json({ articles: found.map((article) => answer(article, article.author)) });
});

articles.post('/articles', requireUser, async (req: Request, res: Response) => {
  const { title = '', body = '' } = req.body.article ?? {};
  if (title === '') return refuse(res, 'title', "can't be blank");
  const article = await Article.create({ title, body, authorId: req.user!.id });
  res.status(201).json({ article: answer(article, req.user) });
});

articles.delete('/articles/:id', requireUser, async (req: Request, res: Response) => {
  const article = await Article.findByPk(Number(req.params.id));
  if (!article) return refuse(res, 'id', 'is unknown', 404);
  const isAllowed = article.authorId === req.user!.id || req.user!.role === 'admin';
  if (!isAllowed) return refuse(res, 'article', 'is not yours', 403);
  await article.destroy();
  res.status(204).end();
});
