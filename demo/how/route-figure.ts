// A step router's run: the small model writes a step, the judge scores it, and a step with a poor score is written by the
// target. The slider of the stage shows what another threshold would have decided.
import { decide, handOffOf } from '../stage/hand-off.ts';
import { handOffView } from '../stage/hand-off-view.ts';
import { DURATION } from '../stage/scene.ts';
import { recorded } from '../traces/recordings.ts';
import type { Drawing } from './figure.ts';
import { recordingOf } from './recording-of.ts';

const STEP = 0.05;

/** `end`: shows the end of the recording. The slider of the judge calls it, because it changes the whole run. */
export const routeFigure = async (end: () => void): Promise<Drawing> => {
  const { recording, events, plain } = await recordingOf('rsd');
  const scene = handOffOf(events, plain, recording.draft ? await recorded(recording.draft) : []);
  if (!scene) throw new Error('the recording has no threshold');
  const { node, draw } = handOffView(scene, end);
  const escalated = decide(scene, scene.threshold).handedOff;
  node.classList.add('current', 'drawing');
  return {
    node,
    about: `${recording.problem.question} The judge is a reward model: it gives each step a probability of being right.`,
    step: STEP,
    last: DURATION / STEP,
    draw: (moment) => draw(moment * STEP, true),
    says(moment) {
      const seconds = moment * STEP;
      const at = scene.steps.findIndex(({ from, ended }) => from <= seconds && seconds < ended);
      const step = scene.steps[at];
      if (!step) return `${scene.end.factor} ${scene.end.sentence}`;
      if (seconds < step.drafted) return `The small model writes step ${step.step}.`;
      if (seconds < step.judged) return `The judge reads step ${step.step}.`;
      return escalated[at] ? `Step ${step.step} is escalated: the target writes it anew.` : `Step ${step.step} stays.`;
    },
  };
};
