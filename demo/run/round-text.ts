// A round and its tokens in words: which role drafted how many tokens, how many were accepted, and what followed them.
import type { Role } from '../../src/trace/index.ts';
import { isAlso, type ModelNames, roleName } from '../models/family.ts';
import { percent } from '../shared/percent.ts';
import { capitalised } from '../shared/words.ts';
import type { Row } from './moments.ts';
import { type DecodedRound, quoted, type TokenStatus, visible } from './rounds.ts';

/** The status of a token, as a sign and words. */
export const STATUSES: Readonly<Record<TokenStatus, string>> = {
  anchor: 'anchor',
  drafted: '✓ accepted',
  rejected: '✗ rejected',
  past: 'after the end',
  corrected: '✎ corrected',
  bonus: '+ bonus',
  routed: '↑ by the target',
  forced: '= forced by the constraint',
  sampled: 'by the target',
};

/** “5” 1.2 %, “6” < 0.1 % */
export const alternativesText = (alternatives: Row['alternatives']): string =>
  alternatives.map(({ text, probability }) => `“${visible(text)}” ${percent(probability)}`).join(', ');

const DRAFTERS: Readonly<Record<Exclude<Role, `also-${number}`>, string>> = {
  target: 'the target',
  draft: 'the draft model',
  dflash: 'DFlash',
  dspark: 'DSpark',
  eagle3: 'EAGLE-3',
  mtp: 'MTP',
  lookup: 'prompt lookup',
  prm: 'the reward model',
  router: 'the router',
  remote: 'the remote target',
  constraint: 'the constraint',
};

const drafter = (role: Role, models: ModelNames): string =>
  isAlso(role) ? `the ${roleName(role, models)}` : (DRAFTERS[role] ?? role); // of a newer version

const ENDS: Readonly<Record<string, string>> = {
  corrected: 'then one corrected token',
  bonus: 'then a bonus token',
  routed: 'then one token by the target',
};

/** “by DFlash”; for an ensemble “5 by the draft model, 1 by the target”. */
const authors = ({ by, parents, proposers, models }: DecodedRound): string => {
  const each = [...new Set(proposers)].map(
    (role) => `${proposers.filter((one) => one === role).length} by ${drafter(role, models)}`,
  );
  if (each.length > 1) return ` (${each.join(', ')})`;
  const tree = parents.some((parent, node) => parent !== node - 1) ? ' in a tree' : '';
  return ` by ${drafter(proposers[0] ?? by ?? 'target', models)}${tree}`;
};

const withoutDrafts = ({ step, committed, models }: DecodedRound): string => {
  const count = committed.length === 1 ? 'one token' : `${committed.length} tokens`;
  if (!step) return `${count}, without drafts`;
  return step.by === 'target' ? `${count} by the target` : `${count} by ${drafter(step.by, models)}, accepted`;
};

const withDrafts = (round: DecodedRound): string => {
  const { pieces, path, committed, proposers } = round;
  const drafted = pieces.length - 1;
  const own = committed.length === path.length ? committed.at(-1) : undefined;
  const ended = own === undefined && (proposers.length === 0 || committed.length < path.length - 1);
  const end = ended ? 'and the answer ended' : ENDS[own?.source ?? ''];
  return [`${drafted} drafted${authors(round)}`, `${path.length - 1} accepted`, end].filter(Boolean).join(', ');
};

export const describeRound = (round: DecodedRound): string => {
  if (round.round === 0) return `The first token, from the prompt · ${round.ms.toFixed(1)} ms`;
  const what = round.by === null ? withoutDrafts(round) : withDrafts(round);
  const where = round.step ? `Step ${round.step.step}: ` : '';
  const text = where + (where ? what : capitalised(what));
  return `${text} · ${round.ms.toFixed(1)} ms`;
};

/** The drawing of a round in words, for screen readers. */
export const spokenRound = ({ pieces, path, committed }: DecodedRound): string => {
  const quote = (texts: readonly string[]): string => texts.map(quoted).join(' ');
  const rejected = pieces.filter((_, node) => !path.includes(node));
  const kept = committed.map(({ text }) => text);
  return `Committed: ${quote(kept)}. Rejected: ${rejected.length > 0 ? quote(rejected) : 'nothing'}.`;
};
