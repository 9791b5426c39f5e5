import type { z } from 'zod';

/**
 * Checks the options of a plugin, or the config, and fills in their defaults.
 *
 * @param where what they are options of
 * @throws TypeError that names every wrong key and its mend
 */
export function readOptions<S extends z.ZodType>(where: string, schema: S, options: unknown): z.output<S> {
  const { data, error } = schema.safeParse(options);
  if (error)
    throw new TypeError(`latchkey: ${where && `${where}: `}${error.issues.map(sentence).join('; ')}`);
  return data as z.output<S>;
}

function sentence(issue: z.core.$ZodIssue): string {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.map((key) => (path ? `${path}.${key}` : key)).join(', ');
    return `${keys} is no option of latchkey; remove it or mend its spelling`;
  }
  if (issue.code === 'invalid_union') {
    // What is wrong within the alternative that was meant says more than that none fits.
    const all = issue.errors.flat();
    const inner =
      all.find(({ path }) => path.length > 0) ?? all.find(({ code }) => code !== 'invalid_type') ?? all[0];
    const isMeant = inner && (inner.path.length > 0 || !issue.message.startsWith('must'));
    if (isMeant) return sentence({ ...inner, path: [...issue.path, ...inner.path] });
  }
  if (issue.code === 'invalid_type' && /^Invalid input/.test(issue.message)) {
    return `${path || 'this'} must be ${issue.expected === 'object' ? 'an object of options' : `a ${issue.expected}`}`;
  }
  return `${path || 'this'} ${issue.message}`;
}
