import { describe, expect, it } from 'vitest';
import { checkCounts } from './believable.ts';

const tensors = Array.from({ length: 9 }, () => ({ shape: [64, 64] }));

describe('counts of a config', () => {
  it.each([
    [{ num_hidden_layers: 2 ** 30 }, 'config.json: num_hidden_layers is 1073741824, and the files hold 9 tensors'],
    [{ n_layer: 2 ** 30 }, 'config.json: n_layer is 1073741824, and the files hold 9 tensors'],
    [{ vocab_size: 2 ** 30 }, 'config.json: vocab_size is 1073741824, and the tensors have 36864 elements'],
    [{ head_dim: 2 ** 13 }, 'config.json: head_dim is 8192, more than 4096'],
    [{ text_config: { num_attention_heads: 2 ** 13 } }, 'num_attention_heads is 8192, more than 4096'],
    [
      { transformer_layer_config: { num_hidden_layers: 2 ** 20 } },
      'config.json: transformer_layer_config: num_hidden_layers is 1048576',
    ],
  ])('are refused beyond what the tensors bear out: %j', (config, message) => {
    expect(() => checkCounts(config, tensors)).toThrow(message);
  });

  it('are believed as far as the tensors reach, and where they are too small to matter', () => {
    checkCounts({ num_hidden_layers: 36, num_target_layers: 61, hidden_size: 4096, vocab_size: 151_936 }, tensors);
    checkCounts({ vocab_size: 2 ** 21 }, [{ shape: [2 ** 21, 8] }]);
  });
});
