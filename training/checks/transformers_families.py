"""Families that have no reference model of their own: small random models by transformers, and the engine's logits of them.

python checks/transformers_families.py      (from training/; needs the repository's `npm ci` and a WebGPU adapter for Node)

Prints the largest difference of any logit, in standard deviations of the logits, and fails past 1e-3.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM, Ernie4_5Config, Exaone4Config, GraniteMoeHybridConfig, LlamaConfig

ROOT = Path(__file__).parent.parent.parent
SIZES = {
    "vocab_size": 101,
    "hidden_size": 48,
    "intermediate_size": 88,
    "num_hidden_layers": 5,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.2,
}
LLAMA3 = {"rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
SCALED = {**LLAMA3, "original_max_position_embeddings": 32, "rope_theta": 1e6}
MULTIPLIERS = {"attention_multiplier": 0.2, "embedding_multiplier": 12.0, "residual_multiplier": 0.22, "logits_scaling": 8.0}
DENSE = {"num_local_experts": 0, "num_experts_per_tok": 0, "position_embedding_type": "rope", "mamba_n_heads": 8}

CONFIGS = {
    "llama, biases everywhere": LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True),
    "ernie4_5": Ernie4_5Config(**SIZES, head_dim=16),
    "ernie4_5, biases everywhere": Ernie4_5Config(**SIZES, head_dim=24, use_bias=True, tie_word_embeddings=False),
    "exaone4, a window in four layers of five": Exaone4Config(
        **SIZES, head_dim=16, sliding_window=7, sliding_window_pattern=4, rope_parameters=SCALED
    ),
    "exaone4, no window": Exaone4Config(
        **SIZES, head_dim=8, sliding_window=None, layer_types=["full_attention"] * 5, tie_word_embeddings=True
    ),
    "granite 4": GraniteMoeHybridConfig(
        **SIZES, **MULTIPLIERS, **DENSE, shared_intermediate_size=56, layer_types=["full_attention"] * 5, tie_word_embeddings=True
    ),
}


@torch.no_grad()
def difference(config) -> float:
    torch.manual_seed(7)
    model = AutoModelForCausalLM.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    for name, value in model.named_parameters():
        if "norm" in name:
            value.uniform_(0.7, 1.3)
        if name.endswith("bias"):
            value.uniform_(-0.5, 0.5)
    tokens = [(i * 37 + 11) % config.vocab_size for i in range(60)]
    expected = model(torch.tensor([tokens]), use_cache=False).logits[0].numpy()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        out = Path(folder) / "logits.f32"
        ids = ",".join(map(str, tokens))
        command = ["node", "src/cli/outrider.mjs", "logits", "--model", folder, "--tokens", ids, "--out", str(out)]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        found = np.fromfile(out, np.float32).reshape(expected.shape)
    return float(np.abs(found - expected).max() / expected.std())


def main() -> None:
    made = {name: difference(config) for name, config in CONFIGS.items()}
    print(json.dumps(made, indent=1))
    sys.exit(any(not value < 1e-3 for value in made.values()))


if __name__ == "__main__":
    main()
