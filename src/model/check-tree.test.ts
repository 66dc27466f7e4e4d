// Mistakes that decoding systems make, on a toy model and on the device: both refuse each of them before anything runs,
// with the same words.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testGpu } from '../testing/device/gpu.ts';
import { chain, GREEDY } from '../testing/goldens/golden.ts';
import { tinyCheckpoint } from '../testing/toys/tiny.ts';
import { toyModel } from '../testing/toys/toy-model.ts';
import type { Cursor, DeviceDistribution, LanguageModel, OpenCursor } from './interface.ts';
import { loadModel } from './load/load-model.ts';

const PROMPT = [3, 14, 15, 9, 26];

interface Misuse {
  readonly mistake: string;
  readonly message: string | RegExp;
  /** What is done with a cursor that has read the prompt. */
  readonly on: (cursor: Cursor) => unknown;
  readonly options?: OpenCursor;
}

/** A verified draft: the cursor now knows the last committed token. */
const verified = async (cursor: Cursor): Promise<number> => {
  const { choices } = await cursor.forward(chain([11, 12])).verify(null, GREEDY);
  return (choices.at(-1) as { token: number }).token;
};

const distribution: DeviceDistribution = { distribution: 0 };

const MISUSES: readonly Misuse[] = [
  { mistake: 'no node at all', message: 'a tree without nodes', on: (cursor) => cursor.forward(chain([])) },
  {
    mistake: 'a node as its own parent',
    message: 'node 1 names 1 as its parent; an earlier node or -1 is allowed',
    on: (cursor) => cursor.forward({ tokens: [1, 2], parents: [-1, 1] }),
  },
  {
    mistake: 'a parent after its node',
    message: 'node 1 names 2 as its parent; an earlier node or -1 is allowed',
    on: (cursor) => cursor.forward({ tokens: [1, 2, 3], parents: [-1, 2, 0] }),
  },
  {
    mistake: 'parents shorter than tokens',
    message: '3 tokens but 2 parents',
    on: (cursor) => cursor.forward({ tokens: [1, 2, 3], parents: [-1, 0] }),
  },
  {
    mistake: 'parents longer than tokens',
    message: '1 tokens but 2 parents',
    on: (cursor) => cursor.forward({ tokens: [1], parents: [-1, 0] }),
  },
  {
    mistake: 'a token outside the vocabulary',
    message: 'token 50 is outside the vocabulary of 50',
    on: (cursor) => cursor.forward(chain([1, 50])),
  },
  {
    mistake: 'a token that is no id',
    message: 'token NaN is outside the vocabulary of 50',
    on: (cursor) => cursor.extend([1, Number.NaN]),
  },
  {
    mistake: 'another node 0 than the last committed token',
    message: /^node 0 is token \d+; the last committed token is \d+$/,
    on: async (cursor) => cursor.forward(chain([((await verified(cursor)) + 1) % 50, 3])),
  },
  {
    mistake: 'drafts without node 0: several roots',
    message: 'a draft has one root, the last committed token',
    on: (cursor) => cursor.forward({ tokens: [1, 2], parents: [-1, -1] }).verify(null, GREEDY),
  },
  {
    mistake: 'a prompt that was never read',
    message: 'a tree was scored with 0 rows in the cache, before the 4 rows of the prompt were read',
    on: (cursor) => {
      cursor.rewind(0);
      cursor.forward(chain([1]));
    },
  },
  {
    mistake: 'more nodes than the cursor was opened for',
    message: '4 rows in one pass; here the most is 3',
    on: (cursor) => cursor.forward(chain([1, 2, 3, 4])),
    options: { nodes: 3 },
  },
  {
    mistake: 'more rows than the cursor can hold',
    message: '5 rows and 4 more exceed the 8 that this cursor can hold',
    on: (cursor) => cursor.forward(chain([1, 2, 3, 4])),
    options: { capacity: 8 },
  },
  {
    mistake: 'a branching tree, with rollout',
    message: 'a cursor opened with `rollout` scores chains only',
    on: (cursor) => cursor.forward({ tokens: [1, 2, 3], parents: [-1, 0, 0] }),
    options: { rollout: { layers: 1, variant: 'plain' } },
  },
  {
    mistake: 'too few distributions',
    message: '1 distributions for 2 drafts',
    on: (cursor) => cursor.forward(chain([1, 2, 3])).verify([distribution], GREEDY),
  },
  {
    mistake: 'sampled drafts that branch',
    message: 'sampled drafts that are not a chain',
    on: (cursor) =>
      cursor.forward({ tokens: [1, 2, 3], parents: [-1, 0, 0] }).verify([distribution, distribution], GREEDY),
  },
  {
    mistake: 'a path that is none',
    message: '[0, 2] is not a path from a root',
    on: (cursor) => cursor.forward(chain([1, 2, 3])).accept([0, 2]),
  },
  {
    mistake: 'a pass accepted twice',
    message: 'this pass cannot be accepted: the cursor has moved on since',
    on: (cursor) => {
      const pass = cursor.forward(chain([1, 2]));
      pass.accept([0]);
      pass.accept([0]);
    },
  },
];

const models = new Map<string, LanguageModel>();
beforeAll(async () => {
  models.set('the toy', toyModel({ vocabulary: 50, sharpness: 4, context: 160 }));
  models.set('the device', await loadModel(await testGpu(), tinyCheckpoint(), { batchInvariant: true }));
});
afterAll(() => {
  for (const model of models.values()) model[Symbol.dispose]();
});

describe.each(['the toy', 'the device'])('%s refuses', (where) => {
  test.each(MISUSES)('$mistake', async ({ on, message, options = {} }) => {
    using cursor = await (models.get(where) as LanguageModel).open({ capacity: 64, ...options });
    cursor.expectPrompt(PROMPT.length - 1);
    await cursor.extend(PROMPT);
    const refused = (async () => on(cursor))();
    await expect(refused).rejects.toThrow(message);
  });

  test('nothing that a correct system does', async () => {
    using cursor = await (models.get(where) as LanguageModel).open({ capacity: 64 });
    cursor.expectPrompt(PROMPT.length - 1);
    await cursor.extend(PROMPT.slice(0, -1));
    const first = await cursor.forward(chain([26, 1, 2])).verify(null, GREEDY);
    const next = (first.choices.at(-1) as { token: number }).token;
    const second = await cursor.forward(chain([next, 4])).verify(null, GREEDY);
    expect(cursor.length).toBe(4 + first.path.length + second.path.length);
    cursor.rewind(4);
    cursor.forward(chain([30])); // of a rewound text the last token is not known
  });
});
