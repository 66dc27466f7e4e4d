// The act “hand off steps”: a card for each step, its score on a scale with the threshold as a tick, and a slider that
// shows what a stricter or milder judge would have decided, at what cost.
import { make } from '../shared/elements.ts';
import { HAND_OFF_CAPTIONS } from './captions.ts';
import { decide, type HandOffScene, type HandOffStep, strictness, thresholdFor } from './hand-off.ts';
import { captionsOf, counter, type DrawnScene, endLineOf, laneNode, type Phase, passed, textOf } from './lane-view.ts';
import { DURATION, shown } from './scene.ts';

/** Seconds: so long before a phase ends, all of it is shown. */
const BEFORE = 0.002;

const TOKENS = 'Tokens, words or parts of words, that the large model has written.';
const OTHER_THRESHOLD = 'The recorded scores, with another threshold than in that run.';
const OTHER = 'would differ after a wrong step';

/** Text that is written between two times. */
const written = (pieces: readonly string[], className: string): { node: HTMLElement; draw(share: number): void } => {
  const spans = pieces.map((text) => make('span', { textContent: shown(text) }));
  return {
    node: make('p', { className }, ...spans),
    draw: (share) => {
      for (const [i, span] of spans.entries()) span.classList.toggle('on', share > i / spans.length);
    },
  };
};

const shareOf = (seconds: number, from: number, to: number): number =>
  Math.min(1, Math.max(0, (seconds - from) / Math.max(1e-9, to - from)));

interface Card {
  readonly node: HTMLElement;
  /** `other`: a step before it was kept that the recorded run did not keep. */
  draw(seconds: number, handedOff: boolean, threshold: number, other: boolean): void;
}

const cardOf = ({ step, draft, target, score, differs, from, drafted, judged, ended }: HandOffStep): Card => {
  const verdict = make('span', { className: 'muted' });
  const pieces = draft.map((text, i) => (i === draft.length - 1 ? text.trimEnd() : text));
  const own = written(pieces, 'hand-draft');
  const better = written(target.split(/(?= )/), 'hand-target');
  const kept = make('p', { className: 'hand-kept muted', textContent: 'The large model writes nothing here.' });
  const scale = make('span', { className: 'score-scale', ariaHidden: 'true' });
  const node = make(
    'li',
    { className: 'hand' },
    make('div', { className: 'hand-head' }, make('strong', {}, `Step ${step}`), scale, verdict),
    own.node,
    make('div', { className: 'hand-end' }, kept, better.node),
  );
  return {
    node,
    draw(seconds, handedOff, threshold, other) {
      const decided = seconds >= judged;
      own.draw(shareOf(seconds, from, drafted));
      better.draw(decided && handedOff ? shareOf(seconds, judged, ended) : 0);
      node.classList.toggle('handed', decided && handedOff);
      node.classList.toggle('agreed', decided && handedOff && !differs);
      node.classList.toggle('kept', decided && !handedOff);
      node.classList.toggle('judging', seconds >= drafted && !decided);
      node.classList.toggle('other', decided && other);
      scale.style.setProperty('--score', `${100 * (score ?? 0) * shareOf(seconds, drafted, judged)}%`);
      scale.style.setProperty('--threshold', `${100 * threshold}%`);
      const read = score === null ? 'no score' : `score ${score < 0.001 ? score.toPrecision(1) : score.toFixed(3)}`;
      const text = decided
        ? other
          ? OTHER
          : `${read} · ${handedOff ? (differs ? '↑ handed off' : '↑ asked: it agreed') : '✓ kept'}`
        : seconds >= drafted
          ? 'judging …'
          : '';
      if (verdict.textContent !== text) verdict.textContent = text;
    },
  };
};

const milliseconds = (ms: number): string => `${Math.round(ms)} ms`;

/** `touched`: called when the slider moves, to show the end. */
export const handOffView = (scene: HandOffScene, touched: () => void): DrawnScene => {
  const { rule, cost } = scene;
  const captions = captionsOf(HAND_OFF_CAPTIONS);
  const plainCount = counter('tokens', TOKENS);
  const plain = textOf(scene.plain, false);
  const times = scene.plain.marks.map(({ at }) => at);
  const count = counter('tokens', TOKENS);
  const cards = scene.steps.map(cardOf);
  const slider = make('input', { type: 'range', id: 'strict', min: '0', max: '1', step: '0.01' });
  slider.valueAsNumber = strictness(rule, scene.threshold);
  const value = make('output');
  const total = make('p', { className: 'hand-total', id: 'hand-total', ariaLive: 'polite' });
  const bar = make('span', { className: 'hand-cost', ariaHidden: 'true' });
  let threshold = scene.threshold;
  let at = 0;
  const show = (): void => {
    const { handedOff, targetMs, totalMs, answer, right, wrong } = decide(scene, threshold);
    let tokens = 0;
    for (const [i, card] of cards.entries()) {
      const { judged, ended, tokens: own } = scene.steps[i] as HandOffStep;
      if (handedOff[i]) tokens += own * shareOf(at, judged, ended);
      card.draw(at, handedOff[i] ?? false, threshold, wrong >= 0 && i > wrong);
    }
    count.show(Math.round(tokens));
    const most = Math.max(cost.alone, cost.draft + cost.judge + scene.tokens * cost.token);
    bar.style.setProperty('--small', `${(100 * (cost.draft + cost.judge)) / most}%`);
    bar.style.setProperty('--total', `${(100 * totalMs) / most}%`);
    bar.style.setProperty('--alone', `${(100 * cost.alone) / most}%`);
    value.textContent = `threshold ${threshold.toFixed(threshold > 0.01 && threshold < 0.99 ? 2 : 4)}`;
    const verdict =
      answer === null ? 'The answer is not known.' : `Answer ${answer}: ${right ? '✓ right' : '✗ wrong'}.`;
    const handed = `${handedOff.filter(Boolean).length} of ${scene.steps.length} steps handed off`;
    const time =
      `${milliseconds(cost.draft + cost.judge)} to draft and judge + ${milliseconds(targetMs)} of the large model = ` +
      `${milliseconds(totalMs)}, ${totalMs > cost.alone ? 'slower' : 'faster'} than ${milliseconds(cost.alone)} alone.`;
    // A screen reader speaks what is set, and this runs for every picture.
    if (total.textContent !== `${handed}. ${verdict} ${time}`)
      total.replaceChildren(make('strong', {}, `${handed}. ${verdict}`), ` ${time}`);
    total.dataset.right = `${right}`;
  };
  slider.addEventListener('input', () => {
    threshold = thresholdFor(rule, slider.valueAsNumber);
    touched();
    show();
  });
  const strict = make(
    'div',
    { className: 'strict' },
    make('label', { htmlFor: 'strict' }, 'How strict is the judge?'),
    value,
    slider,
    make(
      'span',
      { className: 'strict-ends muted', ariaHidden: 'true' },
      make('span', {}, 'keeps all'),
      make('span', {}, 'keeps none'),
    ),
    bar,
    total,
  );
  const steps = make('ol', { className: 'hands' }, ...cards.map(({ node }) => node));
  const lanes = make(
    'div',
    { className: 'stage-lanes with-strict' },
    laneNode('The large model alone', 'It writes every token itself.', plainCount, plain.node),
    laneNode(
      'The small model writes, a judge decides',
      'Steps with a good score stay. The large model writes the others.',
      count,
      steps,
    ),
    strict,
  );
  const end = endLineOf(scene.end);
  /** Which moment of which step it is: writing, judging, keeping or handing off. */
  const momentAt = (seconds: number): { step: number; moment: number } | null => {
    const step = scene.steps.findIndex(({ from, ended }) => from <= seconds && seconds < ended);
    const now = scene.steps[step];
    if (!now) return null;
    if (seconds < now.judged) return { step, moment: seconds < now.drafted ? 0 : 1 };
    return { step, moment: decide(scene, threshold).handedOff[step] ? 3 : 2 };
  };
  const phaseAt = (seconds: number): Phase | null => {
    const now = momentAt(seconds);
    const [name = '', , about = ''] = (now && HAND_OFF_CAPTIONS[now.moment]) ?? [];
    return now && { name: `Step ${now.step + 1}, ${name}`, about };
  };
  return {
    node: make('div', { className: 'scene' }, captions.node, lanes, end.node),
    stops: scene.steps.flatMap(({ drafted, judged, ended }) => [drafted, judged, ended].map((time) => time - BEFORE)),
    phaseAt,
    draw(seconds, playing) {
      at = seconds;
      plain.draw(seconds);
      plainCount.show(passed(times, seconds));
      show();
      const recorded = threshold === scene.threshold;
      const phase = playing ? null : phaseAt(seconds);
      end.show(seconds >= DURATION - 1 && recorded, phase?.about ?? (recorded ? undefined : OTHER_THRESHOLD));
      captions.mark(momentAt(seconds)?.moment ?? null);
    },
  };
};
