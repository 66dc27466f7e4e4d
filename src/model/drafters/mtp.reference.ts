// The MTP layer of Qwen3.5 on plain arrays: the reference of mtp.test.ts. Norms multiply by 1 + w.
export interface MtpSizes {
  readonly heads: number;
  readonly keyValueHeads: number;
  readonly headDim: number;
  /** Dimensions of a head that are rotated. */
  readonly rotated: number;
  readonly theta: number;
  readonly epsilon: number;
}

type Vector = readonly number[];

const dot = (a: Vector, b: Vector): number => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
const sum = (a: Vector, b: Vector): Vector => a.map((x, i) => x + (b[i] as number));
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

/** `weights`: by name, a matrix as its rows, a vector as one. */
export const mtpReference = (weights: (name: string) => readonly Vector[], sizes: MtpSizes) => {
  const { heads, keyValueHeads, headDim, rotated, theta, epsilon } = sizes;
  const times = (name: string, x: Vector): Vector => weights(name).map((row) => dot(row, x));
  const norm = (name: string, x: Vector): Vector => {
    const scale = 1 / Math.sqrt(dot(x, x) / x.length + epsilon);
    const [w] = weights(name) as [Vector];
    return x.map((value, i) => value * scale * (1 + (w[i] as number)));
  };
  const turned = (x: Vector, position: number): Vector =>
    x.map((value, i) => {
      if (i >= rotated) return value;
      const half = rotated / 2;
      const angle = position / theta ** ((i % half) / half);
      const other = i < half ? -(x[i + half] as number) : (x[i - half] as number);
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
  const at = (name: string): string => `mtp.layers.0.${name}.weight`;
  const headsOf = (x: Vector, size: number): readonly Vector[] =>
    Array.from({ length: x.length / size }, (_, head) => x.slice(head * size, (head + 1) * size));
  const keys: (readonly Vector[])[] = [];
  const values: (readonly Vector[])[] = [];

  /** The next row: a hidden state after the final norm, and the token after it. Gives the state that the head reads. */
  const row = (hidden: Vector, next: number): Vector => {
    const position = keys.length;
    const embedded = weights('model.embed_tokens.weight')[next] as Vector;
    const joined = [
      ...norm('mtp.pre_fc_norm_embedding.weight', embedded),
      ...norm('mtp.pre_fc_norm_hidden.weight', hidden),
    ];
    const stream = times('mtp.fc.weight', joined);
    const read = norm(at('input_layernorm'), stream);
    const rotatedHead = (part: string, x: Vector) => turned(norm(at(`self_attn.${part}_norm`), x), position);
    keys.push(headsOf(times(at('self_attn.k_proj'), read), headDim).map((key) => rotatedHead('k', key)));
    values.push(headsOf(times(at('self_attn.v_proj'), read), headDim));
    const attended = headsOf(times(at('self_attn.q_proj'), read), 2 * headDim).flatMap((both, head) => {
      const [query, gate] = [rotatedHead('q', both.slice(0, headDim)), both.slice(headDim)];
      const shared = Math.floor(head / (heads / keyValueHeads));
      const scores = keys.map((key) => Math.exp(dot(query, key[shared] as Vector) / Math.sqrt(headDim)));
      const total = scores.reduce((a, b) => a + b, 0);
      return gate.map((open, i) => {
        const value = values.reduce((mixed, one, j) => mixed + (scores[j] as number) * (one[shared]?.[i] as number), 0);
        return (value / total) * sigmoid(open);
      });
    });
    const mixed = sum(stream, times(at('self_attn.o_proj'), attended));
    const normed = norm(at('post_attention_layernorm'), mixed);
    const up = times(at('mlp.up_proj'), normed);
    const gated = times(at('mlp.gate_proj'), normed).map((x, i) => x * sigmoid(x) * (up[i] as number));
    return norm('mtp.norm.weight', sum(mixed, times(at('mlp.down_proj'), gated)));
  };

  return {
    row,
    /** The target's norm after its last layer. */
    finalNorm: (x: Vector) => norm('model.norm.weight', x),
    logits: (x: Vector) => times('lm_head.weight', x),
  };
};
