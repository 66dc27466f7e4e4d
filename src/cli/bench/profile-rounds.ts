// The time of a round by kernel. Timestamps exist at pass boundaries only, so every kernel gets a pass of its own and
// the whole is slower than otherwise: the shares are right, the totals are not.
import type { Gpu } from '../../gpu/device.ts';
import { Profile } from '../../gpu/profile.ts';
import type { TraceEvent } from '../../trace/index.ts';

export interface ProfiledRounds {
  readonly rounds: number;
  /** Of all rounds together, dearest first; the prompt is not counted. */
  readonly kernels: readonly { readonly name: string; readonly ms: number; readonly dispatches: number }[];
}

export const profileRounds = async (gpu: Gpu, events: AsyncIterable<TraceEvent>): Promise<ProfiledRounds> => {
  const profile = await Profile.start(gpu);
  try {
    let rounds = 0;
    for await (const event of events) {
      if (event.type !== 'commit') continue;
      if (event.round === 0) await profile.take();
      else rounds++;
    }
    return { rounds, kernels: await profile.take() };
  } finally {
    profile.stop();
  }
};
