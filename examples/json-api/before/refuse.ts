import type { NextFunction, Request, Response } from 'express';
import { ForeignKeyConstraintError, UniqueConstraintError } from 'sequelize';

/** The shape of every refusal of this API. */
export function refuse(res: Response, field: string, reason: string, status = 422): void {
  res.status(status).json({ errors: { [field]: [reason] } });
}

export function answerErrors(error: unknown, req: Request, res: Response, next: NextFunction): void {
  if (error instanceof UniqueConstraintError) {
    const field = /email/.test(Object.keys(error.fields).join()) ? 'email' : 'handle';
    refuse(res, field, 'has already been taken');
  } else if (error instanceof ForeignKeyConstraintError) {
    refuse(res, 'user', 'has articles', 409);
  } else next(error);
}
