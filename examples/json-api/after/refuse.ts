import type { NextFunction, Request, Response } from 'express';
import { AuthError } from 'latchkey';
import { UniqueConstraintError } from 'sequelize';

/** The shape of every refusal of this API. */
export function refuse(res: Response, field: string, reason: string, status = 422): void {
  res.status(status).json({ errors: { [field]: [reason] } });
}

export function answerErrors(error: unknown, req: Request, res: Response, next: NextFunction): void {
  if (error instanceof UniqueConstraintError) refuse(res, 'handle', 'has already been taken');
  else if (error instanceof AuthError) {
    const { code, status, detail, errors: [first] = [] } = error;
    if (code === 'email_taken') refuse(res, 'email', 'has already been taken');
    else if (code === 'account_in_use') refuse(res, 'user', 'has articles', 409);
    else if (first?.code === 'taken') refuse(res, first.pointer.slice(1), 'has already been taken');
    else if (first) refuse(res, first.pointer.slice(1), first.detail);
    else refuse(res, code, detail, status);
  } else next(error);
}
