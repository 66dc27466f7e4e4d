// Which models an element asks for, from its attributes: the bundled family by name, or checkpoints at addresses, and the
// decoding system that suits what there is.
import { BUNDLED, bundledSource } from '../engine/bundled.ts';
import type { ModelSources } from '../engine/sources.ts';
import type { Source } from '../weights/open.ts';

/** Beside a target, what each system runs with. The systems say so themselves, and a test holds this against them: to ask them would bring the engine to the page. */
export const RUNS_WITH: Readonly<Record<string, readonly Partner[]>> = {
  autoregressive: [],
  'draft-model': ['draft'],
  'prompt-lookup': [],
  dflash: ['dflash'],
  blockpilot: ['dflash', 'policy'],
  eagle3: ['eagle3'],
  ensemble: ['draft'],
  'ensemble-parallel': ['draft'],
  'ensemble-speculative': ['draft'],
  'cos-naive': ['draft'],
  cos: ['draft'],
  rsd: ['draft', 'prm', 'dflash'],
  arbitrage: ['draft', 'router', 'dflash'],
  specguard: ['draft', 'dflash'],
  confidence: ['draft', 'dflash'],
  random: ['draft', 'dflash'],
  oracle: ['draft', 'prm', 'dflash'],
  'draft-only': ['draft'],
  'target-only': ['dflash'],
  majority: ['draft'],
  'best-of-n': ['draft', 'prm'],
};

type Partner = 'draft' | 'dflash' | 'eagle3' | 'policy' | 'prm' | 'router';

/** What was made for each bundled target, by its name among the bundled models. */
const PARTNERS: Readonly<Record<string, { readonly [Role in Partner]?: string }>> = {
  target: { draft: 'draft', dflash: 'dflash', eagle3: 'eagle3', policy: 'blockpilot', prm: 'prm', router: 'router' },
  mid: { draft: 'draft' },
};

/** What names models: attributes, and `sources` in their place. */
export interface Named {
  readonly model: string | null;
  readonly draft: string | null;
  readonly dflash: string | null;
  readonly eagle3: string | null;
  readonly system: string | null;
  readonly base: string | null;
  readonly sources: ModelSources | null;
}

const isBundled = (name: string): boolean => BUNDLED.some((known) => known === name);

/** Names without a dot or a slash are meant to be bundled ones, and refused by `bundledSource` where they are not. */
const sourceOf = (name: string, base: string | null, page: string): Source =>
  isBundled(name) || !/[./]/.test(name)
    ? bundledSource(name, new URL(base ?? '', page).href)
    : { kind: 'url', url: new URL(name, page).href };

type Names = { readonly [Role in Partner]?: string };

/** Those that the page named itself. */
const ownOf = ({ draft, dflash, eagle3 }: Named): Names =>
  Object.fromEntries(Object.entries({ draft, dflash, eagle3 }).filter(([, name]) => name !== null));

const targetOf = ({ model }: Named): string => model ?? 'target';

/** The bundled models were trained on single questions. */
export const isOfSingleQuestions = (named: Named): boolean => !named.sources && isBundled(targetOf(named));

/** Of what drafts for this target, whatever is fastest. */
export const systemOf = (named: Named): string => {
  const there: object = named.sources ?? { ...PARTNERS[targetOf(named)], ...ownOf(named) };
  if (named.system) return named.system;
  if ('dflash' in there) return 'dflash';
  if ('eagle3' in there) return 'eagle3';
  return 'draft' in there ? 'draft-model' : 'prompt-lookup';
};

/** `page` is the page's address. */
export const sourcesOf = (named: Named, page: string): ModelSources => {
  if (named.sources) return named.sources;
  const own = ownOf(named);
  const names: Names = { ...PARTNERS[targetOf(named)], ...own };
  const roles = new Set([...(RUNS_WITH[systemOf(named)] ?? []), ...(Object.keys(own) as Partner[])]);
  const partners = [...roles].flatMap((role) => {
    const name = names[role];
    return name === undefined ? [] : [[role, sourceOf(name, named.base, page)] as const];
  });
  return { target: sourceOf(targetOf(named), named.base, page), ...Object.fromEntries(partners) };
};
