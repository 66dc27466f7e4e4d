// Which models an element loads, from its attributes: the bundled family by name, published models by their ids in the
// catalogue, or checkpoints at addresses; and the decoding system that fits them.

import type { SystemFacts } from '../decode/core/system.ts';
import { BUILT_IN } from '../engine/built-in.ts';
import { BUNDLED, BUNDLED_PARTNERS, bundledSource } from '../engine/bundled.ts';
import type { ModelSources } from '../engine/sources.ts';
import type { Source } from '../weights/open.ts';

/** Roles that the widget can fill, the target apart. */
const PARTNER_ROLES = ['draft', 'dflash', 'dspark', 'eagle3', 'mtp', 'policy', 'prm', 'router'] as const;
type Partner = (typeof PARTNER_ROLES)[number];

const isPartner = (role: string): role is Partner => PARTNER_ROLES.some((each) => each === role);

/** What names models: attributes, or `sources` instead of them. */
export interface Named {
  readonly model: string | null;
  readonly draft: string | null;
  readonly dflash: string | null;
  readonly dspark: string | null;
  readonly eagle3: string | null;
  readonly mtp: string | null;
  readonly system: string | null;
  readonly base: string | null;
  readonly sources: ModelSources | null;
}

const isBundled = (name: string): boolean => BUNDLED.some((known) => known === name);

/** Ids of the catalogue, which is fetched only for a name that could be one. */
const published = async (name: string): Promise<string | undefined> =>
  isBundled(name) || name.includes('/') ? undefined : (await import('../catalogue/catalogue.ts')).addressOfEntry(name);

/** A name that is not published and has no dot or slash must be a bundled one; `bundledSource` refuses any other. */
const sourceOf = async (name: string, base: string | null, page: string): Promise<Source | typeof BUILT_IN> => {
  if (name === BUILT_IN) return name; // for `mtp`; of any other role the engine refuses it
  const address = await published(name);
  if (address !== undefined) return { kind: 'url', url: address };
  return isBundled(name) || !/[./]/.test(name)
    ? bundledSource(name, new URL(base ?? '', page).href)
    : { kind: 'url', url: new URL(name, page).href };
};

type Names = { readonly [Role in Partner]?: string };

/** The models that attributes name. */
const ownOf = ({ draft, dflash, dspark, eagle3, mtp }: Named): Names =>
  Object.fromEntries(Object.entries({ draft, dflash, dspark, eagle3, mtp }).filter(([, name]) => name !== null));

const targetOf = ({ model }: Named): string => model ?? 'target';

/** The bundled models were trained on single questions. */
export const isOfSingleQuestions = (named: Named): boolean => !named.sources && isBundled(targetOf(named));

/** The fastest system that the models serve. */
export const systemOf = (named: Named): string => {
  const there: object = named.sources ?? { ...BUNDLED_PARTNERS[targetOf(named)], ...ownOf(named) };
  if (named.system) return named.system;
  if ('dflash' in there) return 'dflash';
  if ('dspark' in there) return 'dspark';
  if ('eagle3' in there) return 'eagle3';
  if ('mtp' in there) return 'mtp';
  return 'draft' in there ? 'draft-model' : 'prompt-lookup';
};

/**
 * The models that the system needs, and those that make it better. Block-size policies and sentence encoders are left
 * out unless they are needed: they would bring the ONNX runtime.
 */
const partnersOf = (id: string, systems: readonly SystemFacts[], names: Names): readonly Partner[] => {
  const { needs = [], uses = [], usesOneOf = [] } = systems.find((system) => system.id === id) ?? {};
  // As `optionalRoles`, whose chunk holds the engine: a page that shows the widget does not fetch that.
  const one = usesOneOf.filter(isPartner).filter((role) => names[role] !== undefined);
  return [...needs, ...uses.filter((role) => role !== 'policy'), ...one.slice(0, 1)].filter(isPartner);
};

/** `page`: its address. `systems`: the engine's. */
export const sourcesOf = async (named: Named, page: string, systems: readonly SystemFacts[]): Promise<ModelSources> => {
  if (named.sources) return named.sources;
  const own = ownOf(named);
  const system = systemOf(named);
  const names: Names = { ...BUNDLED_PARTNERS[targetOf(named)], ...(system === 'mtp' && { mtp: BUILT_IN }), ...own };
  const roles = new Set([...partnersOf(system, systems, names), ...(Object.keys(own) as Partner[])]);
  const wanted = [...roles].flatMap((role) => (names[role] === undefined ? [] : [[role, names[role]] as const]));
  const all = [['target', targetOf(named)] as const, ...wanted];
  const found = await Promise.all(all.map(async ([role, name]) => [role, await sourceOf(name, named.base, page)]));
  return Object.fromEntries(found);
};
