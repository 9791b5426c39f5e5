import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { requireAal } from '../../http/admit.js';
import { route } from '../../http/route.js';
import type { TwoFactorApi } from './api.js';

export const enrollTotp = (core: Core, api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/two-factor/totp',
    summary: 'Begin to set up an authenticator app, which is to be confirmed within 10 minutes',
    access: 'session',
    fresh: 600,
    changesWaysIn: true,
    answers: {
      201: {
        description: 'What to set the app up with',
        schema: z.object({
          secret: z.string().describe('In base32'),
          otpauth_url: z.string(),
          qr_svg: z.string().describe('The otpauth_url as a QR code'),
        }),
      },
    },
    problems: core.mails ? ['email_not_verified'] : [],
    async handle({ auth }) {
      const { secret, otpauthUrl, qrSvg } = await api.enroll({
        userId: auth.user.id,
        sessionId: auth.session.id,
      });
      return { status: 201, body: { secret, otpauth_url: otpauthUrl, qr_svg: qrSvg } };
    },
  });

export const turnOffTotp = (api: TwoFactorApi) =>
  route({
    method: 'delete',
    path: '/two-factor/totp',
    summary: 'Switch my second factor off, and end my other sessions',
    access: 'session',
    fresh: 600,
    changesWaysIn: true,
    answers: { 204: { description: 'It is off; the session has a new token' } },
    problems: ['second_factor_required'],
    async handle({ auth }) {
      requireAal(auth, 2);
      const issued = await api.turnOff({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 204, ...(issued && { issue: issued }) };
    },
  });
