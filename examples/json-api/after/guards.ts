import type { NextFunction, Request, Response } from 'express';
import { requireSession } from 'latchkey';
import { auth } from './auth.js';
import type { User as Row } from './models.js';
import { refuse } from './refuse.js';

declare global {
  namespace Express {
    interface User extends Row {}
  }
}

export const requireUser = requireSession(auth, {
  accept: ['bearer', 'api-key'],
  onError: (error, req, res, next) =>
    error.status === 401
      ? refuse(res as Response, 'authorization', 'is missing or invalid', 401)
      : next(error),
});

export function requireAdmin(req: Request, res: Response, next: NextFunction) {
  if (req.user?.role === 'admin') return next();
  res.status(403).json({ errors: { role: ['does not allow this'] } });
}
