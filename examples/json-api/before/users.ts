import bcrypt from 'bcrypt';
import { type Request, type Response, Router } from 'express';
import { requireUser, tokenFor } from './guards.js';
import { User } from './models.js';
import { refuse } from './refuse.js';

export const users = Router();

const answer = ({ id, email, handle, bio, role }: User, token: string) => ({
  user: { id, email, handle, bio, role, token },
});

users.post('/users', async (req: Request, res: Response) => {
  const { email = '', password = '', handle = '' } = req.body.user ?? {};
  if (!/^\S+@\S+$/.test(email)) return refuse(res, 'email', 'is invalid');
  if (!/^\w{1,30}$/.test(handle)) return refuse(res, 'handle', 'is invalid');
  if (password.length < 8) return refuse(res, 'password', 'is too short');
  const passwordHash = await bcrypt.hash(password, 10);
  const user = await User.create({ email: email.toLowerCase(), passwordHash, handle });
  res.status(201).json(answer(user, tokenFor(user)));
});

users.post('/users/login', async (req: Request, res: Response) => {
  const { email = '', password = '' } = req.body.user ?? {};
  const user = await User.findOne({ where: { email: String(email).toLowerCase() } });
  if (!user || !(await bcrypt.compare(String(password), user.passwordHash))) {
    return refuse(res, 'email or password', 'is invalid', 401);
  }
  res.json(answer(user, tokenFor(user)));
});

users.get('/user', requireUser, (req: Request, res: Response) => {
  res.json(answer(req.user!, tokenOf(req)));
});

users.put('/user', requireUser, async (req: Request, res: Response) => {
  const { email, password, handle, bio } = req.body.user ?? {};
  const user = req.user!;
  if (handle !== undefined) user.handle = handle;
  if (bio !== undefined) user.bio = bio;
  if (email !== undefined) user.email = email.toLowerCase();
  if (password !== undefined) user.passwordHash = await bcrypt.hash(password, 10);
  await user.save();
  res.json(answer(user, tokenOf(req)));
});

users.get('/profiles/:handle', async (req: Request, res: Response) => {
  const user = await User.findOne({ where: { handle: String(req.params.handle) } });
  if (!user) return refuse(res, 'handle', 'is unknown', 404);
  res.json({ profile: { handle: user.handle, bio: user.bio } });
});

const tokenOf = (req: Request) => String(req.get('authorization')).slice('Bearer '.length);
