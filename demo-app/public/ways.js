/** The ways in which a user can sign in, in words. */
export function waysInWords({ password, providers, passkeys = 0, email }) {
  const ofPasskeys = passkeys === 1 ? ['a passkey'] : passkeys > 1 ? [`${passkeys} passkeys`] : [];
  return [
    ...(password ? ['password'] : []),
    ...providers,
    ...ofPasskeys,
    ...(email ? ['a code by email'] : []),
  ].join(', ');
}
