// SpecGuard: verification from the draft's own signals (arXiv 2604.15244). Approximate, and without a judge. The draft
// draws k candidate steps as one batch, and the most central one is judged by the draft's own pass: its least log-
// probability (LPBV) and its least grounding by attention rollout (ABGV), weighed by β. Below τ the target writes the
// step: in the paper as the most central of k candidates, here by default as the request samples. Beyond the paper,
// candidates may be compared by the draft's own hidden states instead of a sentence model. k, β and τ were chosen on
// validation problems (docs/log/routers.md); the paper's are k = 16, β = .3 and τ = .7.

import { candidateSamplings, stepSampling } from '../decode/core/draft-sampling.ts';
import type { Knobs, KnobValues } from '../decode/core/knobs.ts';
import type { Models, RunContext } from '../decode/core/system.ts';
import { CALIBRATION_FILE, rangesOf, readCalibration, rolloutKey } from '../decode/steps/calibration.ts';
import { Candidates } from '../decode/steps/candidates.ts';
import { textOf } from '../decode/steps/final-result.ts';
import { selectBy } from '../decode/steps/select-candidate.ts';
import { specguardScore } from '../decode/steps/specguard-score.ts';
import { candidateWriter } from '../decode/steps/step-writer.ts';
import { defineRouter } from './define-router.ts';

const knobs = {
  k: { kind: 'number', label: 'Candidates of a step', min: 1, max: 16, step: 1, initial: 1 },
  tau: {
    kind: 'number',
    label: 'Threshold: minimum score to keep a step',
    min: 0,
    max: 1.01,
    step: 0.01,
    initial: 0.92,
  },
  temperature: { kind: 'number', label: 'Temperature of the candidates', min: 0, max: 2, step: 0.05, initial: 0.7 },
  'top-p': { kind: 'number', label: 'Top-p of the candidates', min: 0, max: 1, step: 0.05, initial: 0.8 },
  beta: {
    kind: 'number',
    label: 'β: weight of the log-probability (1: alone, the best on validation problems; 0: grounding alone)',
    min: 0,
    max: 1,
    step: 0.05,
    initial: 1,
  },
  layers: { kind: 'choice', label: 'Last layers rolled out', options: ['1', '2', '3', 'all'], initial: '3' },
  rollout: {
    kind: 'choice',
    label: 'Attention rollout',
    options: ['threshold', 'renormalised', 'plain', 'residual'],
    initial: 'threshold',
  },
  sink: { kind: 'choice', label: 'The first token, as a source', options: ['counted', 'left-out'], initial: 'counted' },
  selector: {
    kind: 'choice',
    label: 'Candidates are compared by',
    options: ['sentences', 'states', 'tokens', 'none'],
    initial: 'states',
  },
  escalated: {
    kind: 'choice',
    label:
      'An escalated step is written by the system of “inner”, or is the most central of k candidates of the target',
    options: ['inner', 'candidates'],
    initial: 'inner',
  },
} as const satisfies Knobs;

/** Sentence embeddings are the paper's choice, and the initial one where a model for them is loaded. */
const fitSelector = ({ sentences }: Models): Knobs => {
  const [embeddings, ...others] = knobs.selector.options;
  if (sentences) return { selector: { ...knobs.selector, initial: embeddings } };
  const missing = 'For sentences, load a sentence-embedding model (all-MiniLM-L6-v2 …) under that role.';
  return { selector: { ...knobs.selector, options: others, others: missing } };
};

type Run = Pick<RunContext, 'sequence'> & { readonly knobs: KnobValues<typeof knobs> };

/** How candidates are drawn. */
const samplingOf = ({ sequence, knobs: { temperature, 'top-p': topP } }: Run) => ({
  ...sequence.sampling,
  temperature,
  topP,
});

/**
 * What is computed with the candidates' rows: grounding, unless β leaves it out, and mean states to compare them by.
 */
const rowsOf = ({ knobs: { k, beta, layers, rollout: variant, sink, selector } }: Run) => ({
  ...(beta < 1 && {
    rollout: {
      layers: layers === 'all' ? layers : Number(layers),
      variant,
      ...(sink === 'left-out' && { skip: 1 }),
    },
  }),
  ...(k > 1 && selector === 'states' && { pool: true as const }),
});

export default defineRouter({
  id: 'specguard',
  title: 'SpecGuard',
  summary:
    'No judge: the draft’s token probabilities decide on each step; with β below 1 also its attention to the prompt.',
  group: 'step-level',
  paper: 'https://arxiv.org/abs/2604.15244',
  needs: ['target', 'draft'],
  uses: ['sentences'],
  remote: true,
  calibrated: true,
  knobs,
  threshold: 'tau',
  escalates: 'low',
  reasons: { kept: 'the score reaches the threshold', escalated: 'the score is below the threshold' },
  fit: fitSelector,
  draft: (run) => ({ samplings: candidateSamplings(stepSampling(samplingOf(run)), run.knobs.k), ...rowsOf(run) }),
  async scorer(run, { boundary, most }) {
    const { k, beta, selector, escalated } = run.knobs;
    const { draft, target: model, remote, sentences } = run.models;
    const { rollout, pool } = rowsOf(run);
    const key = rollout && draft ? rolloutKey(rollout, draft.layers) : null;
    const ranges = rangesOf(readCalibration(await run.sidecar(CALIBRATION_FILE)), key);
    run.emit({ type: 'calibration', ...ranges });

    const select = selectBy(selector, { sentences, textOf: (tokens) => textOf(tokens, run) });
    const score = specguardScore({ select, ranges, beta });
    if (k === 1 || remote || escalated === 'inner') return { by: 'draft', score };

    const room = most.tokens;
    const own = new Candidates({
      by: 'target',
      model,
      cursor: await run.open('target', { forks: { count: k, room }, ahead: room, ...(pool && { pool }) }),
      samplings: candidateSamplings(samplingOf(run), k),
      boundary,
      room,
      grounds: false,
      pools: pool === true,
    });
    return { by: 'draft', score, target: candidateWriter(own, select) };
  },
});
