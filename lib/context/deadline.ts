/**
 * Waits for work for a limited time. Work that is late goes on, and its outcome is ignored.
 *
 * @param late makes the error of a wait that was too long
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
