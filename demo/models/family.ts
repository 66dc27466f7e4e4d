// A family of models: a target, and the models for the other roles, bundled with it or chosen by the visitor.
import type { CatalogueEntry } from '../../src/catalogue/catalogue.ts';
import {
  BUNDLED_PARTNERS,
  type Loaded,
  type ModelRole,
  type ModelSource,
  type ModelSources,
  missingRoles,
  optionalRoles,
  type RemoteSource,
  type SystemFacts,
} from '../../src/index.ts';
import type { Role } from '../../src/trace/index.ts';

export interface Choice {
  readonly label: string;
  readonly source: ModelSource<never> | RemoteSource;
}

/** A model at an address. */
export const choiceAt = (url: string, label = url): Choice => ({ label, source: { kind: 'url', url } });

/** A published model, which is at this address, or one that comes with Outrider. */
export const publishedChoice = (
  { id, title, bundled }: Pick<CatalogueEntry, 'id' | 'title' | 'bundled'>,
  address: string,
): Choice => (bundled ? { label: title, source: id } : choiceAt(address, title));

/** The layer of the target's own files that drafts for it. */
export const OWN_MTP_LAYER: Choice = { label: 'the model’s own MTP layer', source: 'built-in' };

type AlsoRole = `also-${number}`;

const ROLE_NAMES: Readonly<Record<Exclude<ModelRole | Role, AlsoRole>, string>> = {
  target: 'target',
  draft: 'draft model',
  dflash: 'DFlash drafter',
  dspark: 'DSpark drafter',
  eagle3: 'EAGLE-3 drafter',
  mtp: 'MTP layer',
  policy: 'BlockPilot policy',
  prm: 'reward model',
  router: 'router',
  sentences: 'sentence model',
  remote: 'remote target',
  lookup: 'prompt lookup',
  constraint: 'constraint',
};

export const isAlso = (role: string): role is AlsoRole => role.startsWith('also-');

/** Whether a model for this role may be an ONNX file. */
export const mayBeOnnx = (role: string): boolean => ['prm', 'router', 'sentences'].includes(role);

/** Names of models by role; a trace carries those of its run. */
export type ModelNames = Readonly<Record<string, string>>;

export const namesOf = ({ models }: Pick<Loaded, 'models'>): ModelNames =>
  Object.fromEntries(Object.entries(models).map(([role, { name }]) => [role, name]));

/** The name of a role in a sentence. Further members of an ensemble go by the names of their models, where known. */
export const roleName = (role: ModelRole | Role, names: ModelNames = {}): string => {
  if (!isAlso(role)) return ROLE_NAMES[role] ?? role; // that of a trace may be of a newer version
  return names[role] ? `${names[role]} model` : `model ${Number(role.slice('also-'.length)) + 1}`;
};

type Needs = Pick<SystemFacts, 'needs' | 'uses' | 'usesOneOf' | 'joins' | 'remote' | 'instead'>;

export class Family {
  readonly target: Choice;
  readonly #own: Map<ModelRole, Choice>;

  constructor(target: Choice, own: Iterable<readonly [ModelRole, Choice]> = []) {
    this.target = target;
    this.#own = new Map(own);
  }

  /** This family with another model for a role. Another target has its own bundled partners, or none. */
  with(role: ModelRole, choice: Choice): Family {
    return role === 'target' ? new Family(choice) : new Family(this.target, [...this.#own, [role, choice]]);
  }

  /** Sets the models that vote with the target in an ensemble; an empty list means the draft model. */
  setMembers(members: readonly Choice[]): void {
    for (const role of [...this.#own.keys()].filter(isAlso)) this.#own.delete(role);
    for (const [i, choice] of members.entries()) this.#own.set(`also-${i + 1}`, choice);
  }

  /** Whether members were set. */
  get hasMembers(): boolean {
    return [...this.#own.keys()].some(isAlso);
  }

  /** Roles that this system needs and the family cannot fill. */
  missing(system: Needs): readonly ModelRole[] {
    return missingRoles(system, (role) => this.#find(role) !== undefined);
  }

  /** Roles that this system needs or is faster with. A remote target replaces the local one. */
  rolesOf(system: Needs): readonly ModelRole[] {
    const { needs, joins, remote } = system;
    const has = (role: ModelRole) => this.#find(role) !== undefined;
    const members = joins ? [...this.#own.keys()].filter(isAlso) : [];
    const isRemote = remote && this.#own.has('remote');
    const wanted: readonly ModelRole[] = isRemote
      ? ['remote', ...needs.filter((role) => role !== 'target')]
      : [...needs, ...optionalRoles(system, has), ...members];
    return [...new Set(wanted)].filter(has);
  }

  /** Sources for these roles, where known, and for the roles that this system runs with. */
  sources(system: Needs, roles: Iterable<ModelRole>): ModelSources {
    const found = [...new Set([...this.rolesOf(system), ...roles])].map(
      (role) => [role, this.#find(role)?.source] as const,
    );
    return Object.fromEntries(found.filter(([, source]) => source !== undefined)) as ModelSources;
  }

  #find(role: ModelRole): Choice | undefined {
    if (role === 'target') return this.target;
    const { source } = this.target;
    const bundled = typeof source === 'string' ? BUNDLED_PARTNERS[source]?.[role] : undefined;
    return this.#own.get(role) ?? (bundled === undefined ? undefined : { label: bundled, source: bundled });
  }
}
