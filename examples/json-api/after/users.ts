import { type Request, type Response, Router } from 'express';
import { AuthError } from 'latchkey';
import { auth } from './auth.js';
import { requireUser } from './guards.js';
import { sequelize, User } from './models.js';
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
  const { user } = await auth.credential.signUp({ email, password, fields: { handle }, request: req });
  res.status(201).json(answer(await rowOf(user), await tokenFor(user, req)));
});

users.post('/users/login', async (req: Request, res: Response) => {
  const { email = '', password = '' } = req.body.user ?? {};
  try {
    const signIn = { credential: email, password, rememberMe: true, request: req };
    const { user, token } = await auth.credential.signIn(signIn);
    res.json(answer(await rowOf(user), token));
  } catch (error) {
    const isWrong =
      error instanceof AuthError && ['invalid_credentials', 'validation_failed'].includes(error.code);
    if (!isWrong) throw error;
    refuse(res, 'email or password', 'is invalid', 401);
  }
});

users.get('/user', requireUser, (req: Request, res: Response) => {
  res.json(answer(req.user!, tokenOf(req)));
});

users.put('/user', requireUser, async (req: Request, res: Response) => {
  const { email, password, handle, bio } = req.body.user ?? {};
  const user = req.user!;
  if (handle !== undefined) user.handle = handle;
  if (bio !== undefined) user.bio = bio;
  const id = String(user.authId);
  await sequelize.transaction(async (transaction) => {
    await user.save({ transaction });
    if (email !== undefined) await auth.users.changeEmail(id, email, { transaction });
    if (password !== undefined) await auth.users.setPassword(id, password, { transaction });
  });
  if (email !== undefined) await user.reload();
  // A new password ends every session.
  res.json(answer(user, password === undefined ? tokenOf(req) : await tokenFor({ id }, req)));
});

users.get('/profiles/:handle', async (req: Request, res: Response) => {
  const user = await User.findOne({ where: { handle: String(req.params.handle) } });
  if (!user) return refuse(res, 'handle', 'is unknown', 404);
  res.json({ profile: { handle: user.handle, bio: user.bio } });
});

const rowOf = ({ id }: { id: string }) => User.findOne({ where: { authId: id }, rejectOnEmpty: true });

const tokenOf = (req: Request) => String(req.get('authorization')).slice('Bearer '.length);

async function tokenFor({ id }: { id: string }, req: Request): Promise<string> {
  const client = { ip: req.ip, userAgent: req.get('user-agent') };
  const { token } = await auth.createSession(id, { remember: true, ...client });
  return token;
}
