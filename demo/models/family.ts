// Which model serves which role: a target, and the drafters that were made for it.
import {
  type DecodingSystem,
  type Loaded,
  type ModelRole,
  type ModelSource,
  type ModelSources,
  missingRoles,
  type RemoteSource,
} from '../../src/index.ts';
import type { Role } from '../../src/trace/index.ts';

export interface Choice {
  readonly label: string;
  readonly source: ModelSource<never> | RemoteSource;
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
  sentences: 'sentence model',
  remote: 'remote target',
  lookup: 'prompt lookup',
};

export const isAlso = (role: string): role is AlsoRole => role.startsWith('also-');

/** Whether a model for that role may be an ONNX file. */
export const mayBeOnnx = (role: string): boolean => ['prm', 'router', 'sentences'].includes(role);

/** By role, how a model is called; a trace has those of its run. */
export type ModelNames = Readonly<Record<string, string>>;

export const namesOf = ({ models }: Pick<Loaded, 'models'>): ModelNames =>
  Object.fromEntries(Object.entries(models).map(([role, { name }]) => [role, name]));

/** What roles are called in a sentence; further members of an ensemble by their models' names, where those are known. */
export const roleName = (role: ModelRole | Role, names: ModelNames = {}): string => {
  if (!isAlso(role)) return ROLE_NAMES[role];
  return names[role] ? `${names[role]} model` : `model ${Number(role.slice('also-'.length)) + 1}`;
};

/** Of the bundled models. DFlash and EAGLE-3 read hidden states, so they fit one target; a draft shares a vocabulary. */
const PARTNERS: Readonly<Record<string, { readonly [Role in ModelRole]?: string }>> = {
  target: { draft: 'draft', dflash: 'dflash', eagle3: 'eagle3', policy: 'blockpilot', prm: 'prm', router: 'router' },
  mid: { draft: 'draft' },
};

type Needs = Pick<DecodingSystem, 'needs' | 'uses' | 'joins' | 'remote'>;

export class Family {
  readonly target: Choice;
  readonly #own: Map<ModelRole, Choice>;

  constructor(target: Choice, own: Iterable<readonly [ModelRole, Choice]> = []) {
    this.target = target;
    this.#own = new Map(own);
  }

  /** With what the visitor brought for this role; another target comes with its own partners, or none. */
  with(role: ModelRole, choice: Choice): Family {
    return role === 'target' ? new Family(choice) : new Family(this.target, [...this.#own, [role, choice]]);
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
    return missingRoles(system, (role) => this.#find(role) !== undefined);
  }

  /** What this system runs with, here: what it needs, and what it is faster with. A target far away takes its own's place. */
  rolesOf({ needs, uses = [], joins, remote }: Needs): readonly ModelRole[] {
    const members = joins ? [...this.#own.keys()].filter(isAlso) : [];
    const far = remote && this.#own.has('remote');
    const wanted: readonly ModelRole[] = far
      ? ['remote', ...needs.filter((role) => role !== 'target')]
      : [...needs, ...uses, ...members];
    return [...new Set(wanted)].filter((role) => this.#find(role));
  }

  /** Those of `roles` that there are, with what this system runs with. */
  sources(system: Needs, roles: Iterable<ModelRole>): ModelSources {
    const found = [...new Set([...this.rolesOf(system), ...roles])].map(
      (role) => [role, this.#find(role)?.source] as const,
    );
    return Object.fromEntries(found.filter(([, source]) => source !== undefined)) as ModelSources;
  }

  #find(role: ModelRole): Choice | undefined {
    if (role === 'target') return this.target;
    const { source } = this.target;
    const bundled = typeof source === 'string' ? PARTNERS[source]?.[role] : undefined;
    return this.#own.get(role) ?? (bundled === undefined ? undefined : { label: bundled, source: bundled });
  }
}
