// SpecGuard: verification from the draft's own signals (arXiv 2604.15244). Approximate, and without a judge. The draft
// draws k candidate steps as one batch, the most central one is chosen, and the draft's own pass decides: least log-
// probability (LPBV) and least grounding by attention rollout (ABGV), weighed by β. Below τ the target draws k candidates.
import type { Knobs } from '../decode/core/knobs.ts';
import type { DecodingSystem, Models } from '../decode/core/system.ts';
import { fitInner, innerSystem, NESTED_USES, stepKnobs } from './step-knobs.ts';

const knobs = {
  k: { kind: 'number', label: 'Candidates of a step', min: 1, max: 16, step: 1, initial: 4 },
  temperature: { kind: 'number', label: 'Temperature of the candidates', min: 0, max: 2, step: 0.05, initial: 0.7 },
  'top-p': { kind: 'number', label: 'Top-p of the candidates', min: 0, max: 1, step: 0.05, initial: 0.8 },
  beta: {
    kind: 'number',
    label: 'β: weight of the log-probability (1: alone; 0: grounding alone)',
    min: 0,
    max: 1,
    step: 0.05,
    initial: 0.5,
  },
  tau: { kind: 'number', label: 'τ: least score of a step that stays', min: 0, max: 1.01, step: 0.01, initial: 0.5 },
  layers: { kind: 'choice', label: 'Last layers rolled out', options: ['1', '2', '3', 'all'], initial: '3' },
  rollout: {
    kind: 'choice',
    label: 'Attention rollout',
    options: ['threshold', 'plain', 'residual'],
    initial: 'threshold',
  },
  sink: { kind: 'choice', label: 'The first token, as a source', options: ['counted', 'left-out'], initial: 'counted' },
  selector: {
    kind: 'choice',
    label: 'Candidates are compared by',
    options: ['sentences', 'states', 'tokens', 'none'],
    initial: 'states',
  },
  ...stepKnobs,
} as const;

/** Sentence embeddings are the paper's choice: whoever loads a model for them means to use it. */
const fitSelector = ({ sentences }: Models): Knobs => {
  const [embeddings, ...others] = knobs.selector.options;
  if (sentences) return { selector: { ...knobs.selector, initial: embeddings } };
  const missing = 'For sentences, load a sentence-embedding model (all-MiniLM-L6-v2 …) under that role.';
  return { selector: { ...knobs.selector, options: others, others: missing } };
};

export default {
  id: 'specguard',
  title: 'SpecGuard',
  summary: 'No judge: the draft’s own certainty and what its attention rests on decide on each step.',
  group: 'step-level',
  paper: 'https://arxiv.org/abs/2604.15244',
  guarantee: 'approximate',
  needs: ['target', 'draft'],
  uses: [...NESTED_USES, 'sentences'],
  remote: true,
  knobs,
  escalates: 'low',
  threshold: 'tau',
  calibrated: true,
  fit: (models) => ({ ...fitInner(models), ...fitSelector(models) }),
  async start(run) {
    const steps = await import('../decode/steps/step-systems.ts');
    const { selectBy } = await import('../judge/selector.ts');
    const { k, temperature, 'top-p': topP, beta, tau: threshold, layers, rollout: variant, sink, selector } = run.knobs;
    const { draft, target: targetModel, remote, sentences } = run.models;
    if (!draft) throw new Error('specguard was started without a draft');
    const pool = k > 1 && selector === 'states';
    const rollout = {
      layers: layers === 'all' ? layers : Number(layers),
      variant,
      ...(sink === 'left-out' && { skip: 1 }),
    };
    const sampling = { ...run.sequence.sampling, temperature, topP };
    const models = await steps.openSteps(run, run.knobs, innerSystem(run.knobs), {
      lanes: steps.lanesOf(steps.draftSampling(sampling), k),
      ...(beta < 1 && { rollout }),
      ...(pool && { pool }),
    });
    const key = beta < 1 ? steps.rolloutKey(rollout, draft.layers) : null;
    const ranges = steps.rangesOf(steps.readCalibration(await run.sidecar(steps.CALIBRATION_FILE)), key);
    run.emit({ type: 'calibration', ...ranges });

    const select = selectBy(selector, { sentences, textOf: (tokens) => steps.textOf(tokens, run) });
    const rule = steps.specguardRule({ select, ranges, beta, threshold });
    if (k === 1 || remote) return { first: null, round: steps.route(run, { ...models, rule }) };

    const room = run.knobs['step-tokens'];
    const forks = { count: k, room };
    const own = new steps.Candidates({
      by: 'target',
      model: targetModel,
      cursor: await run.open('target', { forks, ahead: room, ...(pool && { pool }) }),
      lanes: steps.lanesOf(sampling, k),
      boundary: models.boundary,
      room,
      grounds: false,
      pools: pool,
    });
    return { first: null, round: steps.route(run, { ...models, rule, target: steps.amongCandidates(own, select) }) };
  },
} satisfies DecodingSystem<typeof knobs>;
