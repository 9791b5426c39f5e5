import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { composePage } from '../html.js';

const DETAILS: Record<number, string> = {
  403: 'You are signed in, but only an administrator may see this.',
  404: 'There is no such page.',
  500: 'Something went wrong on our side. It has been noted.',
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

/** In our own words: an error's message is for the log, and may say too much. */
function answer(status: number, req: Request, res: Response): void {
  const title = STATUS_CODES[status] ?? '';
  const detail = DETAILS[status] ?? 'The app does not understand this request.';
  res.status(status).set('Cache-Control', 'no-store');
  if (req.accepts(['json', 'html']) === 'html') {
    res.type('html').send(composePage('error', { title, detail, navigation: 'none' }));
  } else {
    res.type('application/problem+json').send(JSON.stringify({ type: 'about:blank', title, status, detail }));
  }
}
