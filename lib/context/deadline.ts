/**
 * Awaits work for a limited time. After that the work continues, but its outcome is ignored.
 *
 * @param late creates the error to throw on timeout
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, late: () => unknown): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
