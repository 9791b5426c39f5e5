import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { problemPage } from './pages.js';

const DETAILS: Record<number, string> = {
  404: 'There is nothing at this address.',
  500: 'The error is on our side and has been logged.',
  503: 'The app cannot answer right now. Try again shortly.',
};

export const notFound: RequestHandler = (req, res) => answer(404, req, res);

export const answerError: ErrorRequestHandler = (error, req, res, next) => {
  if (res.headersSent) {
    next(error);
    return;
  }
  const isHttpStatus = Number.isInteger(error?.status) && error.status in STATUS_CODES;
  const status = isHttpStatus && error.status >= 400 ? error.status : 500;
  if (status >= 500) console.error(error);
  answer(status, req, res);
};

/**
 * Sends a page to browsers and a problem response to programs. The message of an error is for the log: it can contain
 * internal details.
 */
function answer(status: number, req: Request, res: Response): void {
  const title = STATUS_CODES[status] ?? '';
  const detail = DETAILS[status] ?? 'The app does not understand this request.';
  res.status(status).set('Cache-Control', 'no-store');
  if (req.accepts(['json', 'html']) === 'html') {
    res.send(problemPage(title, detail).toString());
    return;
  }
  const problem = { type: 'about:blank', title, status, detail };
  res.type('application/problem+json').send(JSON.stringify(problem));
}
