// Medians, spread and tables.

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value below which a share of the values lies, such as 0.99. */
export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

/** `lowest–highest` of several rounds. */
export function spread(values, digits = 0) {
  return `${fixed(Math.min(...values), digits)}–${fixed(Math.max(...values), digits)}`;
}

/** The range of the middle half of the values. */
export function quartiles(values, digits = 0) {
  return `${fixed(percentile(values, 0.25), digits)}–${fixed(percentile(values, 0.75), digits)}`;
}

/**
 * The ratios of a number in paired rounds or turns.
 *
 * @template {string} Key
 * @param {readonly Record<Key, number>[]} ones
 * @param {readonly Record<Key, number>[]} others of another server, in the same order
 * @param {Key} key
 */
export function ratios(ones, others, key) {
  return ones.map((one, index) => one[key] / others[index][key]);
}

/** A number with a fixed count of digits, and thousands apart. */
export function fixed(value, digits = 0) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * A Markdown table.
 *
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number)[])[]} rows
 */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...rows.map(line)].join(
    '\n',
  );
}

/**
 * One line about a goal.
 *
 * @param {string} what
 * @param {number} reached
 * @param {'at least' | 'at most'} relation
 * @param {number} wanted
 */
export function goal(what, reached, relation, wanted, digits = 2) {
  const isReached = relation === 'at least' ? reached >= wanted : reached <= wanted;
  const verdict = isReached ? 'reached' : '**missed**';
  return `- ${what}: ${fixed(reached, digits)}; goal ${relation} ${fixed(wanted, digits)}: ${verdict}`;
}
