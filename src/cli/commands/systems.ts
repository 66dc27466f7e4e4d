// The decoding systems: what each is, what it promises and needs, and its knobs. All of it stands in the systems'
// files.
import type { Knob } from '../../decode/core/knobs.ts';
import { describeSystem, SYSTEM_GROUPS, type SystemFacts } from '../../decode/core/system.ts';
import { SYSTEMS } from '../../systems/index.ts';
import { UsageError } from '../arguments.ts';
import { defineCommand } from '../command.ts';
import { nearest } from '../nearest.ts';
import { table } from '../table.ts';

const find = (id: string): SystemFacts => {
  const system = SYSTEMS.find((known) => known.id === id);
  if (system) return describeSystem(system);
  const ids = SYSTEMS.map((known) => known.id);
  throw new UsageError(`there is no system "${id}"`, `The nearest is ${nearest(id, ids)}; outrider systems lists all.`);
};

const rangeOf = (knob: Knob): string =>
  knob.kind === 'choice'
    ? knob.options.join(' | ')
    : `${knob.min} to ${knob.max}${Number.isInteger(knob.step ?? 1) ? '' : `, in steps of ${knob.step}`}`;

/** One line a system, without its knobs' ranges. */
const listed = ({ id, title, guarantee, needs, summary, paper, knobs }: SystemFacts): string => {
  const settings = Object.entries(knobs).map(([name, { initial }]) => `${name}=${[initial].flat().join(',')}`);
  const facts = [title, guarantee, `needs ${needs.join(', ')}`, ...(paper === '' ? [] : [paper])];
  const lines = [facts.join(' · '), summary, ...(settings.length > 0 ? [`knobs: ${settings.join('  ')}`] : [])];
  return lines.map((line, i) => `  ${(i === 0 ? id : '').padEnd(20)} ${line}`).join('\n');
};

const list = (all: readonly SystemFacts[]): string =>
  Object.entries(SYSTEM_GROUPS)
    .map(([group, title]) => [title, ...all.filter((system) => system.group === group).map(listed)].join('\n'))
    .join('\n\n');

const promiseOf = ({ id, guarantee, baseline = 'autoregressive' }: SystemFacts): string => {
  if (guarantee === 'approximate') return 'approximate: it may change the answer';
  if (id === baseline) return 'exact by definition: other systems are compared with it';
  return `exact: the tokens of ${baseline} at temperature 0, and its distribution above`;
};

const whole = (system: SystemFacts): string => {
  const { id, title, summary, group, paper, baseline = 'autoregressive', needs, instead = {}, knobs } = system;
  const roles = needs.map((role) => (instead[role] ? `${role} or ${instead[role]}` : role));
  const uses = [
    ...(system.uses?.filter((role) => !Object.values(instead).includes(role)) ?? []),
    ...(system.usesOneOf ? [system.usesOneOf.join(' or ')] : []),
  ];
  const { joins, remote, escalates, threshold } = system;
  const rows: [string, string][] = [
    ['title', title],
    ['group', SYSTEM_GROUPS[group]],
    ...(paper === '' ? [] : [['paper', paper] as [string, string]]),
    ['guarantee', promiseOf(system)],
    ['compared with', baseline],
    ['needs', `${roles.join(', ')}${joins ? '; other models (--also) may take the place of the draft' : ''}`],
    ...(uses.length > 0 ? [['uses, where loaded', uses.join(', ')] as [string, string]] : []),
    ...(remote ? [['remote target', 'may take the place of a local one'] as [string, string]] : []),
    ...(escalates
      ? [['escalates', `steps that score ${escalates === 'high' ? 'above' : 'below'} ${threshold}`] as [string, string]]
      : []),
  ];
  const settings = Object.entries(knobs).map(([name, knob]) => [
    name,
    knob.kind,
    [knob.initial].flat().join(','),
    rangeOf(knob),
    knob.label,
  ]);
  const shown = settings.length > 0 ? `\n\n${table(['knob', 'kind', 'default', 'range', 'sets'], settings)}` : '';
  return `${id}: ${summary}\n\n${table(null, rows)}${shown}`;
};

/** As scripts read it: every field that people are shown, and a knob's initial value under the name `default`. */
const asJson = ({ baseline = 'autoregressive', uses = [], usesOneOf = [], knobs, ...facts }: SystemFacts) => ({
  ...facts,
  baseline,
  uses: [...uses, ...usesOneOf],
  knobs: Object.fromEntries(
    Object.entries(knobs).map(([name, { initial, ...knob }]) => [name, { ...knob, default: initial }]),
  ),
});

export const systems = defineCommand({
  name: 'systems',
  summary: 'the decoding systems, with what they promise, need and can be set to',
  usage: '[ID]',
  positionals: [],
  optional: ['ID'],
  options: {},
  async run({ values, positionals: [id] }, terminal) {
    const chosen = id === undefined ? SYSTEMS.map((system) => describeSystem(system)) : [find(id)];
    if (values.json) return terminal.json(chosen.map(asJson));
    await terminal.write(`${id === undefined ? list(chosen) : chosen.map(whole).join('')}\n`);
  },
});
