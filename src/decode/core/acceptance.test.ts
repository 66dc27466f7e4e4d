// Lengths of drafts, and the theory that they rest on.
import { describe, expect, it } from 'vitest';
import { ratioReference } from '../../kernels/verify/verify.reference.ts';
import { ToyTokenRing } from '../../testing/toys/toy-token-ring.ts';
import { draftSampling } from '../core/draft-sampling.ts';
import { Acceptance } from './acceptance.ts';

describe('draft lengths', () => {
  it('follow the acceptance', () => {
    const acceptance = new Acceptance({ cost: 0.4, most: 15, begin: 0.8, decay: 0.9 });
    expect(acceptance.drafts).toBe(4); // 0.8⁴ ≥ 0.4 > 0.8⁵
    for (let i = 0; i < 40; i++) acceptance.add(acceptance.drafts, acceptance.drafts);
    expect(acceptance.drafts).toBe(15);
    for (let i = 0; i < 40; i++) acceptance.add(acceptance.drafts, 0);
    expect(acceptance.drafts).toBe(1);
    for (let i = 0; i < 200; i++) acceptance.add(10, 1); // one of two tested ones
    expect(acceptance.drafts).toBe(1);
  });
});

describe('theory (Leviathan et al. 2023)', () => {
  it('E[τ] = (1 − α^(γ+1)) / (1 − α) with α = Σ min(p, q), where every position is alike', () => {
    const sampling = { temperature: 1, topK: 0, topP: 1, minP: 0 };
    const [p, q] = [
      [0.5, 0.3, 0.15, 0.05],
      [0.3, 0.3, 0.1, 0.3],
    ];
    if (!p || !q) throw new Error('two distributions');
    const alpha = p.reduce((sum, x, i) => sum + Math.min(x, q[i] as number), 0);
    const tokenRing = new ToyTokenRing();
    for (const gamma of [1, 3, 5]) {
      const runs = 20_000;
      let committed = 0;
      for (let seed = 0; seed < runs; seed++) {
        const tokens = [0];
        const drawn = Array.from({ length: gamma }, (_, i) =>
          tokenRing.draw(q.map(Math.log), i + 1, draftSampling({ ...sampling, seed }), true),
        );
        for (const { token } of drawn) tokens.push(tokenRing.take(token));
        const distributions = drawn.map(({ distribution }) =>
          distribution ? tokenRing.distribution(distribution) : [],
        );
        const rows = Array.from({ length: gamma + 1 }, () => p);
        committed += ratioReference({ tokens, p: rows, q: distributions, seed, position: 0 }).path.length;
      }
      const expected = (1 - alpha ** (gamma + 1)) / (1 - alpha);
      expect(Math.abs(committed / runs - expected)).toBeLessThan(0.03);
    }
  });
});
