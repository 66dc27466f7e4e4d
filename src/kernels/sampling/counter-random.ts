// The counter-based random numbers of sampling: a number is a function of (token, position, seed) alone, so a draw is
// the same in a pass of one row and of sixteen, and on the host. PCG3D from Jarzynski and Olano, "Hash Functions for
// GPU Rendering", JCGT 9(3), 2020; shaders/include/counter-random.wgsl computes the same.

/** A 32-bit hash. */
export const pcg3d = (x: number, y: number, z: number): number => {
  const step = (v: number) => (Math.imul(v, 1664525) + 1013904223) | 0;
  let [a, b, c] = [step(x), step(y), step(z)];
  a = (a + Math.imul(b, c)) | 0;
  b = (b + Math.imul(c, a)) | 0;
  c = (c + Math.imul(a, b)) | 0;
  a ^= a >>> 16;
  b ^= b >>> 16;
  c ^= c >>> 16;
  return (a + Math.imul(b, c)) >>> 0;
};

/** Standard Gumbel noise: the argmax of logit + noise is a draw from the softmax. */
export const gumbel = (token: number, position: number, seed: number): number =>
  -Math.log(-Math.log1p(-(pcg3d(token, position, seed) + 0.5) / 2 ** 32));

/** In the place of a token, which it cannot be: the stream that decides whether drafts are kept. */
const ACCEPTANCE = 0xffff_ffff;

/** Of the seed: the stream that replaces a rejected draft. */
export const REPLACEMENT = 0x7f4a_7c15;

/** In [0, 1): a draft drawn from q is kept if chance · q < p. Keyed by the draft's position. */
export const chance = (position: number, seed: number): number => (pcg3d(ACCEPTANCE, position, seed) >>> 8) / 2 ** 24;
