/** bcrypt, whose native part is loaded on first use instead of at startup. */
export const bcrypt = async () => (await import('bcrypt')).default;
