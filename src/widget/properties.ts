// What can be set on <outrider-chat>: attributes with properties of the same meaning, and a few properties alone.
import type { Constraint } from '../constraint/constraint.ts';
import type { KnobValue } from '../decode/core/knobs.ts';
import type { Engine } from '../engine/engine.ts';
import type { ModelSources } from '../engine/sources.ts';
import { OBSERVED, reflect } from './attributes.ts';

/** Servers that render pages import this file too; they have no `HTMLElement`. */
const Base: typeof HTMLElement = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

/** The settings of an `<outrider-chat>`. Those up to `constraint` are attributes too, in kebab case: `max-tokens`. */
export class ChatProperties extends Base {
  static readonly observedAttributes = OBSERVED;

  /** The target: a bundled model's name, or the address of a checkpoint. Default: the bundled `target`. */
  declare model: string | null;
  /** A draft model for it, likewise. */
  declare draft: string | null;
  /** A DFlash drafter for it, likewise. */
  declare dflash: string | null;
  /** A DSpark drafter for it, likewise. */
  declare dspark: string | null;
  /** An EAGLE-3 drafter for it, likewise. */
  declare eagle3: string | null;
  /** The layer of the target's own files that drafts for it: `built-in`, or a file that holds it alone. */
  declare mtp: string | null;
  /** The decoding system. Default: the first of `dflash`, `dspark`, `eagle3`, `mtp` and `draft-model` that the models serve, else `prompt-lookup`. */
  declare system: string | null;
  /** The initial text of the box. */
  declare prompt: string | null;
  /** The system prompt. */
  declare systemPrompt: string | null;
  /** The address under which `models/` is served. Default: the page's own. */
  declare base: string | null;
  /** Of the weights: `f32`, `f16`, `q8` or `q4`. Default: as in the file. */
  declare precision: string | null;
  /**
   * The address of a trace file. It is replayed instead where no model is named, and offered where there is no WebGPU.
   */
  declare trace: string | null;
  /** `light` or `dark`. Default: as the page, by its `color-scheme`. */
  declare theme: string | null;
  declare placeholder: string | null;
  /** The title, and the name for screen readers. */
  declare label: string | null;
  declare maxTokens: number | null;
  declare temperature: number | null;
  declare topP: number | null;
  declare seed: number | null;
  /**
   * How many earlier exchanges the model sees. Default: all; none for the bundled models, which know single questions.
   */
  declare history: number | null;
  /** Of a replay: 0.25 is a quarter of the recorded speed. */
  declare speed: number | null;
  declare disabled: boolean;
  /**
   * Sends the prompt, or plays the trace, as soon as the element is on the page. Where the visitor wants no motion, the
   * whole trace is shown at once.
   */
  declare autoplay: boolean;
  /** Shows rejected drafts, struck through, at their places. */
  declare rejected: boolean;
  /**
   * What every answer must be: JSON by a schema, a regular expression, a grammar, or one of several texts. The
   * attribute is JSON.
   */
  declare constraint: Constraint | null;

  /** Settings of the decoding system. */
  declare knobs: Readonly<Record<string, KnobValue>> | null;

  #engine: Engine | null = null;
  #sources: ModelSources | null = null;

  /** An engine of the page's own with its models loaded: the element loads nothing into it and does not close it. */
  get engine(): Engine | null {
    return this.#engine;
  }

  set engine(engine: Engine | null) {
    this.#engine = engine;
    this.settingsChanged();
  }

  /** Models by role instead of those that attributes name: files, for instance. */
  get sources(): ModelSources | null {
    return this.#sources;
  }

  set sources(sources: ModelSources | null) {
    this.#sources = sources;
    this.settingsChanged();
  }

  /** Shows what follows from the settings. */
  protected settingsChanged(): void {}
}

reflect(ChatProperties.prototype);
// Not a field: what a page set before the element was defined would be overwritten.
Object.assign(ChatProperties.prototype, { knobs: null });
