import { type Request, type Response, Router } from 'express';
import { auth } from './auth.js';
import { requireAdmin, requireUser } from './guards.js';
import { User } from './models.js';
import { refuse } from './refuse.js';

export const admin = Router();
admin.use(requireUser, requireAdmin);

const answer = ({ id, email, handle, role }: User) => ({ id, email, handle, role });

admin.get('/users', async (req: Request, res: Response) => {
  res.json({ users: (await User.findAll({ order: ['id'] })).map(answer) });
});

admin.patch('/users/:id', async (req: Request, res: Response) => {
  const { role } = req.body.user ?? {};
  if (!['author', 'admin'].includes(role)) return refuse(res, 'role', 'is unknown');
  const user = await User.findByPk(Number(req.params.id));
  if (!user) return refuse(res, 'id', 'is unknown', 404);
  await user.update({ role });
  res.json({ user: answer(user) });
});

admin.delete('/users/:id', async (req: Request, res: Response) => {
  const user = await User.findByPk(Number(req.params.id));
  if (!user) return refuse(res, 'id', 'is unknown', 404);
  await auth.users.delete(String(user.authId));
  res.status(204).end();
});
