// The sections of bench/RESULTS.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { commit, machine } from './machine.mjs';

/** The sections that `bench/run.mjs` measures. */
export const FIGURES = [
  'guarded-page',
  'one-request',
  'layers',
  'sign-in',
  'growth',
  'organizations',
  'migrate-under-load',
  'memory',
  'start',
  'pages',
  'human-check',
];

/** All sections in their order; `load` is measured by bench/load.mjs. */
const SECTIONS = [...FIGURES, 'load'];

const HEAD = `# Results

Each section is written by \`npm run bench\` and says when, where and of which commit. [README.md](README.md) says what is
measured and how. Only ratios within one table travel to other machines: compare a library with another one on the same
machine, in the same run. Numbers are medians: of interleaved rounds, with the lowest and the highest in brackets or beside
them, or of alternating turns, with the range of the middle half.
`;
const results = new URL('../RESULTS.md', import.meta.url);

/**
 * When, where and with what a section was measured.
 *
 * @param {string} command
 * @param {readonly string[]} versions of the database servers
 * @param {string} [measured] the commit; by default the one that is checked out
 */
export function facts(command, versions, measured = commit()) {
  const { cpu, cores, memoryGb, node, system } = machine();
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${measured}, \`${command}\`.`,
    `${cpu}, ${cores} core${cores === 1 ? '' : 's'}, ${memoryGb} GB, ${system}, Node ${node.slice(1)}${versions.map((version) => `, ${version}`).join('')}.`,
  ].join('\n');
}

/** Replaces one section of the results; they are in the order of the figures. */
export function store(name, section) {
  const before = existsSync(results) ? readFileSync(results, 'utf8') : '';
  const sections = new Map();
  for (const text of before.split(/^(?=<!-- figure )/m).slice(1)) {
    sections.set(/^<!-- figure (\S+) -->/.exec(text)[1], `${text.trim()}\n`);
  }
  sections.set(name, `<!-- figure ${name} -->\n${section}`);
  const inOrder = SECTIONS.flatMap((one) => sections.get(one) ?? []);
  writeFileSync(results, [HEAD, ...inOrder].join('\n'));
  console.log('written to bench/RESULTS.md');
}
