import { exposuresOf, findTools, fixOf, type OwnTables, unseenDanger } from '../../migrations/other-tools.js';
import { type Finding, ok, warning } from './finding.js';

/** Checks whether the tools in the working directory leave latchkey's tables alone. */
export function checkOtherTools(tables: OwnTables): Finding[] {
  const tools = findTools();
  const exposures = exposuresOf(tools, tables);
  const check = 'other-tools';
  const unseen = tools.flatMap((tool) => {
    const danger = unseenDanger(tool);
    if (danger === null) return [];
    const problem = `package.json names ${tool.name}, but no config of it could be read here. If it does not exclude latchkey's tables, ${danger}`;
    return [warning(check, problem, 'run doctor in the folder of the config')];
  });
  if (exposures.length + unseen.length > 0)
    return [...exposures.map((exposure) => warning(check, exposure.problem, fixOf(exposure))), ...unseen];
  const names = tools.filter(({ files }) => files.length > 0).map(({ name }) => name);
  if (names.length > 0) return [ok(check, `latchkey's tables are left alone by ${names.join(' and ')}`)];
  return [ok(check, 'there is no config of a tool such as Drizzle or Prisma')];
}
