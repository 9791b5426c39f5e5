import { STATUS_CODES } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { optionalSession } from 'latchkey';
import type { DemoAuth } from '../auth.js';
import { composePage } from '../html.js';
import { navigationOf } from './visitor.js';

const TITLES: Record<number, string> = {
  403: 'Administrators only',
  404: 'Page not found',
  500: 'Something went wrong',
  503: 'Not available right now',
};

const DETAILS: Record<number, string> = {
  403: 'You are signed in, but only administrators may see this page.',
  404: 'There is nothing at this address.',
  500: 'The error is on our side and has been logged.',
  503: 'The app cannot answer right now. Try again shortly.',
};

/** Handles unknown paths and errors: browsers get a page, programs get a problem response. */
export function errors(auth: DemoAuth): { notFound: RequestHandler; answerError: ErrorRequestHandler } {
  const identify = optionalSession(auth);

  /** Uses the texts above: an error's own message is for the log, because it may contain internal details. */
  async function answer(status: number, req: Request, res: Response): Promise<void> {
    const phrase = STATUS_CODES[status] ?? '';
    const detail = DETAILS[status] ?? 'The app does not understand this request.';
    res.status(status).set('Cache-Control', 'no-store');
    if (req.accepts(['json', 'html']) !== 'html') {
      const problem = { type: 'about:blank', title: phrase, status, detail };
      res.type('application/problem+json').send(JSON.stringify(problem));
      return;
    }
    // For the links at the top of the page. Not after a server error, because this could fail for the same reason.
    if (status < 500) await new Promise((done) => identify(req, res, done));
    const html = composePage('error', { title: TITLES[status] ?? phrase });
    res.type('html').send(html(navigationOf(auth, req), { detail }));
  }

  return {
    notFound: (req, res) => answer(404, req, res),
    answerError(error, req, res, next) {
      if (res.headersSent) {
        next(error);
        return;
      }
      const isHttpStatus = Number.isInteger(error?.status) && error.status in STATUS_CODES;
      const status = isHttpStatus && error.status >= 400 ? error.status : 500;
      if (status >= 500) console.error(error);
      return answer(status, req, res);
    },
  };
}
