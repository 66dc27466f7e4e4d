// Which model serves which role: a target, and the drafters that were made for it.
import { type DecodingSystem, lacking, type ModelRole, type ModelSource, type ModelSources } from '../src/index.ts';
import type { Role } from '../src/trace.ts';

export interface Choice {
  readonly label: string;
  readonly source: ModelSource<never>;
}

type AlsoRole = `also-${number}`;

const ROLE_NAMES: Readonly<Record<Exclude<ModelRole | Role, AlsoRole>, string>> = {
  target: 'target',
  draft: 'draft model',
  dflash: 'DFlash drafter',
  eagle3: 'EAGLE-3 drafter',
  policy: 'BlockPilot policy',
  prm: 'reward model',
  router: 'router',
  remote: 'remote target',
  lookup: 'prompt lookup',
};

export const isAlso = (role: string): role is AlsoRole => role.startsWith('also-');

/** What roles are called in a sentence. */
export const roleName = (role: ModelRole | Role): string =>
  isAlso(role) ? `model ${Number(role.slice('also-'.length)) + 1}` : ROLE_NAMES[role];

/** Of the bundled models. DFlash and EAGLE-3 read hidden states, so they fit one target; a draft shares a vocabulary. */
const PARTNERS: Readonly<Record<string, { readonly [Role in ModelRole]?: string }>> = {
  target: { draft: 'draft', dflash: 'dflash', eagle3: 'eagle3', policy: 'blockpilot', prm: 'prm', router: 'router' },
  mid: { draft: 'draft' },
};

type Needs = Pick<DecodingSystem, 'needs' | 'uses' | 'joins' | 'remote'>;

export class Family {
  readonly target: Choice;
  readonly #own = new Map<ModelRole, Choice>();

  constructor(target: Choice) {
    this.target = target;
  }

  /** A drafter that the visitor brought. */
  add(role: ModelRole, choice: Choice): void {
    this.#own.set(role, choice);
  }

  /** Who votes beside the target in an ensemble; nobody: the draft. */
  join(members: readonly Choice[]): void {
    for (const role of [...this.#own.keys()].filter(isAlso)) this.#own.delete(role);
    for (const [i, choice] of members.entries()) this.#own.set(`also-${i + 1}`, choice);
  }

  /** Whether anybody was named for that. */
  get joined(): boolean {
    return [...this.#own.keys()].some(isAlso);
  }

  /** What this system needs and nobody has. */
  missing(system: Needs): readonly ModelRole[] {
    return lacking(system, (role) => this.#find(role) !== undefined);
  }

  /** What this system runs with, here: what it needs, and what it is faster with. */
  rolesOf({ needs, uses = [], joins }: Needs): readonly ModelRole[] {
    const members = joins ? [...this.#own.keys()].filter(isAlso) : [];
    return [...new Set([...needs, ...uses, ...members])].filter((role) => this.#find(role));
  }

  /** Those of `roles` that there are, with what this system runs with. */
  sources(system: Needs, roles: Iterable<ModelRole>): ModelSources {
    const found = [...new Set([...this.rolesOf(system), ...roles])].map(
      (role) => [role, this.#find(role)?.source] as const,
    );
    return Object.fromEntries(found.filter(([, source]) => source !== undefined));
  }

  #find(role: ModelRole): Choice | undefined {
    if (role === 'target') return this.target;
    const { source } = this.target;
    const bundled = typeof source === 'string' ? PARTNERS[source]?.[role] : undefined;
    return this.#own.get(role) ?? (bundled === undefined ? undefined : { label: bundled, source: bundled });
  }
}
