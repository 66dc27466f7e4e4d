// The chunk that a page loads when a step system runs for the first time.

export { chanceAt, draftSampling } from '../core/draft-sampling.ts';
export { CALIBRATION_FILE, rangesOf, readCalibration, rolloutKey } from './calibration.ts';
export { Candidates, lanesOf } from './candidates.ts';
export { amongCandidates } from './escalate.ts';
export { resultOf, textOf } from './final-result.ts';
export { inSteps } from './in-steps.ts';
export { openSteps } from './open-steps.ts';
export { oracleRule } from './oracle-rule.ts';
export { route, scoredBy } from './route.ts';
export { sampleAnswers } from './sampled-answers.ts';
export { specguardRule } from './specguard-rule.ts';
export { Boundary, stepsOf } from './step-boundary.ts';
