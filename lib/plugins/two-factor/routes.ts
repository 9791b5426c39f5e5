import * as z from 'zod';
import type { Core } from '../../core/core.js';
import type { Factors } from '../../factors/factors.js';
import { requireAal } from '../../http/admit.js';
import { enrolledReply, enrolledShape, recoveryCodes } from '../../http/present.js';
import { named, route, text } from '../../http/route.js';
import { ENROL } from '../../sessions/second-factor.js';
import { FRESH_SECONDS } from '../../sessions/signed-in.js';
import type { TwoFactorApi } from './api.js';

export const readTwoFactor = ({ secondFactors, devices }: Core, { status }: Factors) =>
  route({
    method: 'get',
    path: '/two-factor',
    client: 'twoFactor.status',
    summary: "Get the state of the current user's second factor",
    access: 'session',
    openTo: 'any-task',
    answers: {
      200: {
        description: 'The factors that the user has enabled, and the number of unused recovery codes',
        schema: named(
          'TwoFactorStatus',
          "The state of the user's second factor",
          z.object({
            totp: z.boolean().describe('Whether codes from an authenticator app are enabled'),
            recovery_codes_left: z.int(),
            passkeys: z.boolean().describe('Whether the user has enabled passkeys as a second factor'),
            required: z.boolean().describe('Whether the user must have a second factor'),
            ...(secondFactors.trustDevices && {
              trusted_devices: z
                .int()
                .describe(
                  'The number of browsers in which sign-ins with the password do not ask for the second factor',
                ),
            }),
          }),
        ),
      },
    },
    async handle({ auth }) {
      const { id } = auth.user;
      const canTrust = secondFactors.trustDaysOf(auth.user) !== null;
      const [{ totp, passkeys, codes }, trusted] = await Promise.all([
        status.read(id),
        canTrust ? devices.countTrusted(id) : 0,
      ]);
      return {
        status: 200,
        body: {
          totp,
          recovery_codes_left: codes,
          passkeys,
          required: secondFactors.isRequiredOf(auth.user),
          ...(secondFactors.trustDevices && { trusted_devices: trusted }),
        },
      };
    },
  });

export const forgetTrustedDevices = ({ deviceRows }: Core) =>
  route({
    method: 'delete',
    path: '/two-factor/trusted-devices',
    client: 'twoFactor.forgetTrustedDevices',
    formTwin: '/two-factor/trusted-devices/delete',
    summary: "Ask for the second factor in all of the current user's browsers again",
    access: 'session',
    answers: { 204: { description: 'No browser stands in for the second factor' } },
    async handle({ auth }) {
      await deviceRows.distrustAll(auth.user.id);
      return { status: 204 };
    },
  });

export const enrollTotp = (core: Core, api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/two-factor/totp',
    client: 'twoFactor.enroll',
    summary: 'Start setting up an authenticator app, which must be confirmed within 10 minutes',
    access: 'session',
    openTo: { does: [ENROL] },
    sensitive: { asks: 'fresh' },
    answers: {
      201: {
        description: 'The secret to set the app up with',
        schema: named(
          'TotpEnrolment',
          'The secret for an authenticator app',
          z.object({
            secret: z.string().describe('In base32'),
            otpauth_url: z.string(),
            qr_svg: z.string().describe('The otpauth_url as a QR code, which is an SVG document'),
          }),
        ),
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
    client: 'twoFactor.disable',
    session: 'changes',
    summary: 'Disable codes from the authenticator app, and revoke all other sessions',
    access: 'session',
    sensitive: { asks: 'fresh' },
    answers: { 204: { description: 'The codes are disabled; the session has a new token' } },
    problems: ['second_factor_required', 'second_factor_demanded'],
    async handle({ auth }) {
      requireAal(auth, 2);
      const issued = await api.turnOff({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 204, ...(issued && { issue: issued }) };
    },
  });

export const confirmTotp = (core: Core, api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/two-factor/totp/confirm',
    client: 'twoFactor.confirm',
    session: 'changes',
    summary: 'Enable the second factor with a code from the authenticator app, and revoke all other sessions',
    access: 'session',
    openTo: { does: [ENROL] },
    sensitive: {
      asks: 'second-factor',
      because: 'this session started the enrolment after a recent sign-in',
    },
    // A page could not show the recovery codes after a redirect.
    forms: false,
    body: z.strictObject({ code: text(100) }),
    answers: {
      200: {
        description: 'The recovery codes, which cannot be retrieved later, and the session with a new token',
        schema: z.object({ ...enrolledShape(core), recovery_codes: recoveryCodes }),
      },
    },
    problems: ['invalid_code', 'rate_limited', ...(core.mails ? (['email_not_verified'] as const) : [])],
    async handle({ auth, body: { code } }) {
      await core.limiter.countAccount('recoveryCodes', auth.user.id);
      const { issued, recoveryCodes } = await api.confirm({
        userId: auth.user.id,
        sessionId: auth.session.id,
        code,
      });
      return enrolledReply(core, { issued, recoveryCodes });
    },
  });

export const usePasskeys = (core: Core, api: TwoFactorApi) =>
  route({
    method: 'put',
    path: '/two-factor/passkeys',
    client: 'twoFactor.usePasskeys',
    session: 'changes',
    summary: 'Enable or disable passkeys as a second factor, and revoke all other sessions',
    access: 'session',
    sensitive: { asks: 'fresh' },
    body: z.strictObject({ on: z.boolean() }),
    answers: {
      200: {
        description: 'The session with a new token, and recovery codes if the user had none',
        schema: z.object(enrolledShape(core)),
      },
    },
    problems: [
      ...(['second_factor_required', 'second_factor_demanded'] as const),
      'no_passkey',
      'rate_limited',
      ...(core.mails ? (['email_not_verified'] as const) : []),
    ],
    async handle({ auth, body: { on } }) {
      if (on) await core.limiter.countAccount('recoveryCodes', auth.user.id);
      else requireAal(auth, 2);
      const enrolled = await api.usePasskeys({ userId: auth.user.id, sessionId: auth.session.id, on });
      return enrolledReply(core, enrolled);
    },
  });

export const renewRecoveryCodes = (core: Core, api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/two-factor/recovery-codes',
    client: 'twoFactor.renewRecoveryCodes',
    summary: "Replace the current user's recovery codes",
    access: 'session',
    sensitive: { asks: 'fresh' },
    // A page could not show the codes after a redirect.
    forms: false,
    answers: {
      200: {
        description: 'The new codes, which cannot be retrieved later',
        schema: z.object({ recovery_codes: recoveryCodes }),
      },
    },
    problems: ['second_factor_required', 'totp_not_enabled', 'rate_limited'],
    async handle({ auth }) {
      requireAal(auth, 2);
      await core.limiter.countAccount('recoveryCodes', auth.user.id);
      const codes = await api.renewRecoveryCodes({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 200, body: { recovery_codes: codes } };
    },
  });

export const disableSecondFactor = (core: Core, api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/admin/users/:id/disable-second-factor',
    client: 'twoFactor.disableForUser',
    summary: 'Disable the second factor of a user, and revoke all of their sessions',
    access: 'admin',
    sensitive: { asks: 'fresh', within: Math.min(FRESH_SECONDS, core.administration.fresh) },
    forms: true,
    answers: { 204: { description: 'The second factor is disabled' } },
    problems: ['user_not_found', 'own_account'],
    async handle({ params: { id = '' }, auth }) {
      await api.disable(id, { adminId: auth.user.id });
      return { status: 204 };
    },
  });
