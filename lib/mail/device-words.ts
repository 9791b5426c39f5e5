const MAX_LENGTH = 255;

/** Where the user agent does not say, or says it in a way that is not known. */
export const UNKNOWN_DEVICE = 'an unknown device';

/**
 * A user agent in words, such as "Firefox on Windows". The client chooses it, so only names that are known are told, and
 * of programs a single word, such as "curl". Never throws.
 */
export async function deviceInWords(userAgent: string | null): Promise<string> {
  const given = (userAgent ?? '').slice(0, MAX_LENGTH);
  try {
    return (await known(given)) ?? program(given) ?? UNKNOWN_DEVICE;
  } catch {
    return UNKNOWN_DEVICE;
  }
}

async function known(userAgent: string): Promise<string | null> {
  if (userAgent.trim() === '') return null;
  // Loaded on first use, which takes some milliseconds.
  const { default: bowser } = await import('bowser');
  const { browser, os } = bowser.parse(userAgent);
  // For others, it repeats what the client says.
  const name = Object.values(bowser.BROWSER_MAP).find((one) => one === browser.name);
  const system = Object.values(bowser.OS_MAP).find((one) => one === os.name);
  if (!system) return name ?? null;
  return `${name ?? 'a browser'} on ${system}`;
}

function program(userAgent: string): string | null {
  return /^([a-z][a-z0-9_-]{1,29})\/\d/i.exec(userAgent)?.[1] ?? null;
}
