import { internalsOf } from '../../lib/auth.js';
import { EmailProof } from '../../lib/users/email-proof.js';

/** Records that a user has used an emailed link in their own session, as POST /verify-email does. */
export async function proveMailbox(auth: Parameters<typeof internalsOf>[0], userId: string): Promise<void> {
  await record(auth, userId, true);
}

/** Records that someone has used an emailed link without any other proof, as a reset does. */
export async function takeMailbox(auth: Parameters<typeof internalsOf>[0], userId: string): Promise<void> {
  await record(auth, userId, false);
}

async function record(
  auth: Parameters<typeof internalsOf>[0],
  userId: string,
  isOwn: boolean,
): Promise<void> {
  const { core } = internalsOf(auth);
  await core.database.transaction(async (transaction) => {
    const user = await core.users.lock(userId, transaction);
    if (!user) throw new Error('there is no such user');
    await core.emailProofs.record(user, { proof: EmailProof.answeredMail, isOwn }, transaction);
  });
}
