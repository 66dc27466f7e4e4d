// The stage at the top of the page: it plays recorded runs before any model is loaded, one act for each kind of system,
// and any run of this machine that is brought to it.
import { SYSTEMS } from '../../src/index.ts';
import { fold, METRICS, type TraceEvent } from '../../src/trace/index.ts';
import type { ModelNames } from '../models/family.ts';
import type { Outcome } from '../run/outcome.ts';
import { LETTERS } from '../run/votes.ts';
import { element, make, say } from '../shared/elements.ts';
import { withLavapipe } from '../shared/words.ts';
import { placeOf, type Recording, recorded, recordings } from '../traces/recordings.ts';
import { GUESS_CAPTIONS, VOTE_CAPTIONS } from './captions.ts';
import { guessView, type Names } from './guess-view.ts';
import { handOffOf } from './hand-off.ts';
import { handOffView } from './hand-off-view.ts';
import type { DrawnScene } from './lane-view.ts';
import { Player } from './player.ts';
import { DURATION, sceneOf } from './scene.ts';
import './stage.css';

/** Each act is a recording of this system. */
const ACTS = { guess: 'dflash', 'hand-off': 'rsd', vote: 'cos' } as const;
type Act = keyof typeof ACTS;

const HEADLINES: Readonly<Record<Act, string>> = {
  guess: 'A small model guesses ahead; the large one checks.',
  'hand-off': 'A small model writes; a judge calls the large one.',
  vote: 'Three models vote on every token.',
};

const isAct = (name: string): name is Act => Object.hasOwn(ACTS, name);

const PASS = 'One pass for each token, a word or a part of one.';

const GUESS: Names = {
  plain: 'The large model alone',
  plainAbout: PASS,
  system: 'A small model guesses ahead',
  systemAbout: 'One pass of the large model checks all guesses.',
  captions: GUESS_CAPTIONS,
};

const VOTE: Names = {
  plain: 'Three models vote on every token',
  plainAbout: 'The best average wins.',
  system: 'They propose for each other',
  systemAbout: '',
  captions: VOTE_CAPTIONS,
};

/** “A: target, B: mid, C: draft” */
const membersOf = (models: ModelNames): string =>
  Object.entries(models)
    .filter(([role]) => role === 'target' || role.startsWith('also-'))
    .map(([, name], i) => `${LETTERS[i]}: ${name}`)
    .join(', ');

const modelsOf = (events: readonly TraceEvent[]): ModelNames => {
  const run = events.find((event) => event.type === 'run');
  return run?.models ?? {};
};

interface View extends DrawnScene {
  /** What it shows, in a sentence. */
  readonly headline: string;
  /** Where the run was made. */
  readonly about: string;
  /** What to run on this machine to see the same. */
  readonly recording: Recording | null;
}

/** A run of this machine, for people. */
interface OwnRun {
  readonly title: string;
  readonly question: string;
  readonly device: string;
}

/** The problem comes first, and the act decides how large the type is. */
const introduce = ({ node }: DrawnScene, act: Act, question: string): void => {
  node.dataset.act = act;
  node.prepend(make('p', { className: 'stage-problem' }, question));
};

export class Stage {
  readonly #scenes = element('stage-scenes', HTMLElement);
  readonly #player = new Player({
    button: element('stage-play', HTMLButtonElement),
    slider: element('stage-at', HTMLInputElement),
    duration: DURATION,
    draw: (seconds, playing) => this.#shown?.draw(seconds, playing),
    says: (seconds) => {
      const phase = this.#shown?.phaseAt(seconds)?.name;
      return `${phase ? `${phase}, ` : ''}${seconds.toFixed(2)} of ${DURATION} seconds`;
    },
  });
  readonly #views = new Map<string, View>();
  /** Acts that are made or being made. */
  readonly #acts = new Map<Act, Promise<View | null>>();
  readonly #switch = element('stage-acts', HTMLFieldSetElement);
  #shown: View | null = null;
  #all: Promise<readonly Recording[]> | null = null;

  constructor() {
    this.#switch.addEventListener('change', ({ target }) => {
      if (target instanceof HTMLInputElement && isAct(target.value)) void this.play(target.value);
    });
    element('stage-back', HTMLButtonElement).addEventListener('click', () => this.#step(true));
    element('stage-next', HTMLButtonElement).addEventListener('click', () => this.#step(false));
  }

  /** Goes to the next phase of a round, or to the one before, and says what happens in it. */
  #step(back: boolean): void {
    const shown = this.#shown;
    if (!shown) return;
    const at = this.#player.step(shown.stops, back);
    const phase = shown.phaseAt(at);
    say('stage-says', at === 0 ? 'The beginning' : phase ? `${phase.name}. ${phase.about}` : 'The end');
  }

  /** Plays the recording of an act from its beginning. */
  async play(act: Act): Promise<void> {
    const view = await this.#viewOf(act);
    if (view && this.#switch.querySelector<HTMLInputElement>(':checked')?.value === act) this.#present(view);
  }

  /** Every act is laid out at once, so that switching between them moves nothing. */
  async start(): Promise<void> {
    await this.play('guess');
    for (const act of ['hand-off', 'vote'] as const) await this.#viewOf(act);
  }

  /** Brings a run of this machine on stage. */
  show({ title, question, device }: OwnRun, run: Outcome, plain: Outcome | null): void {
    const about = SYSTEMS.find(({ id }) => id === run.system)?.summary ?? '';
    const names = { ...GUESS, system: title, systemAbout: about };
    const drawn = guessView(sceneOf(run.events, plain?.events), names);
    const view = {
      ...drawn,
      headline: `${title} on this machine`,
      about: `${title}, run on this machine${device && ` (${withLavapipe(device)})`}, in slow motion.`,
      recording: null,
    };
    introduce(view, 'guess', question);
    for (const input of this.#switch.querySelectorAll('input')) input.checked = false;
    this.#views.get('own')?.node.remove();
    this.#views.set('own', view);
    this.#add(view);
    this.#present(view);
  }

  /** The recording on stage; null while a run of this machine is. */
  get recording(): Recording | null {
    return this.#shown?.recording ?? null;
  }

  /** A run needs the machine for itself. */
  rest(): void {
    this.#player.end();
  }

  #add({ node }: DrawnScene): void {
    this.#scenes.append(node);
  }

  #present(view: View): void {
    for (const { node } of this.#views.values()) {
      node.classList.toggle('current', node === view.node);
      node.inert = node !== view.node;
    }
    this.#shown = view;
    say('stage-title', view.headline);
    say('stage-about', view.about);
    this.#player.start();
  }

  /** Made once, also if it is asked for again while its recording is fetched. */
  #viewOf(act: Act): Promise<View | null> {
    const made = this.#acts.get(act) ?? this.#make(act);
    this.#acts.set(act, made);
    made.catch(() => this.#acts.delete(act));
    return made;
  }

  async #make(act: Act): Promise<View | null> {
    this.#all ??= recordings();
    const found = (await this.#all).find(({ system }) => system === ACTS[act]);
    if (!found) return null;
    const { file, plain, draft, device } = found;
    const [run, alone, own] = await Promise.all([recorded(file), recorded(plain), draft ? recorded(draft) : []]);
    const drawn = act === 'hand-off' ? this.#handOff(run, alone, own) : this.#guess(act, run, alone);
    if (!drawn) return null;
    const view = {
      ...drawn,
      headline: HEADLINES[act],
      about: `Recorded on ${placeOf(device)} and slowed down. It plays without a model.`,
      recording: found,
    };
    introduce(view, act, found.problem.question);
    this.#views.set(act, view);
    this.#add(view);
    return view;
  }

  #guess(act: Act, run: readonly TraceEvent[], plain: readonly TraceEvent[]): DrawnScene {
    const together = (events: readonly TraceEvent[]): string =>
      `Passes of all models: ${fold(METRICS.passes, events)}.`;
    const vote = {
      ...VOTE,
      plainAbout: `${VOTE.plainAbout} ${together(plain)}`,
      systemAbout: `${membersOf(modelsOf(run))}. ${together(run)}`,
    };
    return guessView(sceneOf(run, plain, true), act === 'vote' ? vote : GUESS);
  }

  #handOff(run: readonly TraceEvent[], plain: readonly TraceEvent[], alone: readonly TraceEvent[]): DrawnScene | null {
    const scene = handOffOf(run, plain, alone);
    return scene && handOffView(scene, () => this.#player.end());
  }
}
