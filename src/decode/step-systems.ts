// The chunk that a page loads when a step system runs for the first time.
export { bothWrite } from './both-write.ts';
export { CALIBRATION_FILE, rangesOf, readCalibration, rolloutKey } from './calibration.ts';
export { Candidates, lanesOf } from './candidates.ts';
export { amongCandidates } from './escalate.ts';
export { guardedBy } from './guard.ts';
export { inSteps } from './in-steps.ts';
export { openSteps } from './open-steps.ts';
export { resultOf, textOf } from './result.ts';
export { route, scoredBy } from './route.ts';
export { sampleAnswers } from './samples.ts';
export { chanceAt, draftSampling } from './sampling.ts';
export { Boundary, stepsOf } from './steps.ts';
