import type { NextFunction, Request, Response } from 'express';
import jwt from 'jsonwebtoken';
import { User } from './models.js';

declare global {
  namespace Express {
    interface Request {
      user?: User;
    }
  }
}

const SECRET = String(process.env.JWT_SECRET);

export const tokenFor = (user: User) => jwt.sign({}, SECRET, { subject: String(user.id), expiresIn: '60d' });

export async function requireUser(req: Request, res: Response, next: NextFunction) {
  try {
    const [, token = ''] = /^Bearer (.+)$/.exec(req.get('authorization') ?? '') ?? [];
    const { sub } = jwt.verify(token, SECRET);
    const user = await User.findByPk(Number(sub));
    if (user) {
      req.user = user;
      return next();
    }
  } catch (error) {
    if (!(error instanceof jwt.JsonWebTokenError)) throw error;
  }
  res.status(401).json({ errors: { authorization: ['is missing or invalid'] } });
}

export function requireAdmin(req: Request, res: Response, next: NextFunction) {
  if (req.user?.role === 'admin') return next();
  res.status(403).json({ errors: { role: ['does not allow this'] } });
}
