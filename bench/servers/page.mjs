// The page that all servers answer.

/**
 * @param {{ id: string, email: string, emailVerified?: boolean, emailVerifiedAt?: Date | null, createdAt: Date,
 *   updatedAt: Date }} user with one of `emailVerified` and `emailVerifiedAt`
 * @param {{ id: string, userId: string, createdAt: Date, expiresAt: Date, ipAddress: string, userAgent: string }} session
 */
export function page(user, session) {
  return {
    user: {
      id: user.id,
      email: user.email,
      emailVerified: user.emailVerified ?? user.emailVerifiedAt !== null,
      createdAt: user.createdAt,
      updatedAt: user.updatedAt,
    },
    session: {
      id: session.id,
      userId: session.userId,
      createdAt: session.createdAt,
      expiresAt: session.expiresAt,
      ipAddress: session.ipAddress,
      userAgent: session.userAgent,
    },
  };
}
