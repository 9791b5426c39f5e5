import { exposuresOf, findTools, fixOf, type OwnTables } from '../../migrations/other-tools.js';
import { type Finding, ok, warning } from './finding.js';

/** Checks whether the tools in the working directory leave latchkey's tables alone. */
export function checkOtherTools(tables: OwnTables): Finding[] {
  const tools = findTools();
  const exposures = exposuresOf(tools, tables);
  const check = 'other-tools';
  if (exposures.length > 0)
    return exposures.map((exposure) => warning(check, exposure.problem, fixOf(exposure)));
  const names = tools.filter(({ files }) => files.length > 0).map(({ name }) => name);
  if (names.length > 0) return [ok(check, `latchkey's tables are left alone by ${names.join(' and ')}`)];
  return [ok(check, 'there is no config of a tool such as Drizzle or Prisma')];
}
