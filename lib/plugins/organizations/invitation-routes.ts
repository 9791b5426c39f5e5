import * as z from 'zod';
import { resourceOf, resources, sessionReply } from '../../http/present.js';
import { named, pageOptions, pageQuery, type Route, route, text, time } from '../../http/route.js';
import { optionalFields, shownAgain } from '../../shown-again.js';
import { type Invitation, invitationsTable } from './declarations.js';
import type { Invitations } from './invitations.js';
import {
  membershipResource,
  type OrganizationParts,
  organizationResource,
  rightsOf,
  roleField,
} from './routes.js';

/** What the routes of invitations use. */
interface InvitationParts extends OrganizationParts {
  readonly invitations: Invitations;
}

const invitationResource = resourceOf<Invitation>(
  'Invitation',
  'An invitation to an organization, without its token',
  invitationsTable.columns,
);

/** The routes of invitations, which require emails. */
export function invitationRoutes(parts: InvitationParts): readonly Route[] {
  return [
    createInvitation(parts),
    listInvitations(parts),
    revokeInvitation(parts),
    lookUpInvitation(parts),
    acceptInvitation(parts),
  ];
}

const createInvitation = (parts: InvitationParts) =>
  route({
    method: 'post',
    path: '/organizations/:id/invitations',
    client: 'organizations.invite',
    summary: 'Invite an address to an organization, after a recent sign-in or with the password',
    access: 'session',
    rights: rightsOf(parts, 'invitation:create'),
    sensitive: { asks: 'fresh-or-password' },
    body: z.strictObject({ email: shownAgain(text(320)), role: shownAgain(roleField(parts)) }),
    answers: {
      201: {
        description: 'The invitation. Its token is only in the email',
        schema: z.object({ invitation: invitationResource.schema }),
      },
    },
    problems: [
      'organization_not_found',
      'permission_required',
      'already_member',
      'too_many_invitations',
      'rate_limited',
    ],
    async handle({ auth, params: { id = '' }, body }) {
      const invitation = await parts.invitations.create(id, body, auth.user.id);
      return { status: 201, body: { invitation: invitationResource.present(invitation) } };
    },
  });

const listInvitations = (parts: InvitationParts) =>
  route({
    method: 'get',
    path: '/organizations/:id/invitations',
    client: 'organizations.invitations',
    summary: 'List the pending invitations of an organization, newest first',
    access: 'session',
    rights: rightsOf(parts, 'invitation:create'),
    query: z.object(pageQuery),
    answers: {
      200: {
        description: 'The invitations, and the cursor of the next page',
        schema: z.object({
          invitations: z.array(invitationResource.schema),
          next_cursor: z.string().nullable(),
        }),
      },
    },
    problems: ['organization_not_found', 'permission_required'],
    async handle({ params: { id = '' }, query }) {
      const { items, nextCursor } = await parts.invitations.list(id, pageOptions(query));
      const invitations = items.map(invitationResource.present);
      return { status: 200, body: { invitations, next_cursor: nextCursor } };
    },
  });

const revokeInvitation = (parts: InvitationParts) =>
  route({
    method: 'delete',
    path: '/organizations/:id/invitations/:invitationId',
    client: 'organizations.revokeInvitation',
    formTwin: '/organizations/:id/invitations/:invitationId/revoke',
    summary: 'Revoke an invitation',
    access: 'session',
    rights: rightsOf(parts, 'invitation:create'),
    answers: { 204: { description: 'The invitation was revoked' } },
    problems: ['organization_not_found', 'permission_required', 'invitation_not_found'],
    async handle({ auth, params: { id = '', invitationId = '' } }) {
      await parts.invitations.revoke(id, invitationId, auth.user.id);
      return { status: 204 };
    },
  });

const lookUpInvitation = ({ core, invitations }: InvitationParts) =>
  route({
    method: 'post',
    path: '/invitations/lookup',
    client: 'organizations.lookUpInvitation',
    summary: 'Get the invitation that an emailed token belongs to. The token still works',
    access: 'public',
    forms: false,
    body: z.strictObject({ token: text(200) }),
    answers: {
      200: {
        description: 'The invitation',
        schema: named(
          'OpenInvitation',
          'An invitation that can be accepted',
          z.object({
            organization: organizationResource.schema,
            email: z.string(),
            role: z.string(),
            invited_by: z
              .string()
              .nullable()
              .describe('The email or username of the member who invites. Null if the app does'),
            expires_at: time,
            account: z
              .boolean()
              .describe('Whether the address has an account, so that accepting requires a session'),
          }),
        ),
      },
    },
    problems: ['invalid_token', 'rate_limited'],
    async handle({ body: { token } }) {
      await core.limiter.countAddress('signIn');
      const { row, organization, inviter, hasAccount } = await invitations.find(token);
      const body = {
        organization: organizationResource.present(organization),
        email: row.email,
        role: row.role,
        invited_by: inviter?.user.email ?? inviter?.user.usernameDisplay ?? null,
        expires_at: row.expiresAt.toISOString(),
        account: hasAccount,
      };
      return { status: 200, body };
    },
  });

const acceptInvitation = ({ core, invitations }: InvitationParts) => {
  const [signsUp] = core.contributions.flatMap((one) => one.signsUp ?? []);
  const fields = signsUp && invitations.createsAccounts ? signsUp.shape : {};
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/invitations/accept',
    client: 'organizations.acceptInvitation',
    session: 'changes',
    summary: 'Accept an invitation in a session of the invited address, or with a new account',
    access: 'session-or-none',
    rights: {},
    body: z.strictObject({
      token: text(200),
      ...optionalFields(fields),
      ...(signsUp && { remember_me: shownAgain(REMEMBER_ME) }),
    }),
    answers: {
      200: {
        description: 'The organization and the membership, and for a new account the user and the session',
        schema: z.object({
          organization: organizationResource.schema,
          membership: membershipResource.schema,
          user: user.schema.optional(),
          session: session.schema.optional(),
        }),
      },
    },
    problems: [
      'invalid_token',
      'invitation_for_other_email',
      'account_exists',
      'sign_up_refused',
      'organization_full',
      ...(signsUp?.problems ?? []),
    ],
    async handle({ auth, body }) {
      const { token, remember_me = false, ...given } = body as AcceptBody;
      const { organization, membership, issued } = auth
        ? await invitations.accept(token, auth)
        : await invitations.signUp(token, given, remember_me);
      const joined = {
        organization: organizationResource.present(organization),
        membership: membershipResource.present(membership),
      };
      if (!issued) return { status: 200, body: joined };
      const { body: signedIn, ...reply } = sessionReply(core, issued);
      return { ...reply, body: { ...joined, ...(signedIn as object) } };
    },
  });
};

interface AcceptBody extends Record<string, unknown> {
  readonly token: string;
  readonly remember_me?: boolean;
}

const REMEMBER_ME = z.boolean().optional().describe('Keep the session when the browser is closed');
