import { type Command, InvalidArgumentError } from 'commander';

/** Adds the options of a list that is printed page by page. */
export function paged(command: Command): Command {
  return command
    .option('--limit <count>', 'how many to list, at most 200', readLimit, 50)
    .option('--cursor <cursor>', 'the cursor that the previous page printed');
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new InvalidArgumentError('It must be a whole number from 1 to 200.');
  return limit;
}
