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
from transformers import (
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    Cohere2Config,
    Ernie4_5Config,
    Exaone4Config,
    GemmaConfig,
    Glm4Config,
    GlmConfig,
    GPT2Config,
    GPTNeoXConfig,
    GraniteMoeHybridConfig,
    HeliumConfig,
    HunYuanDenseV1Config,
    InternLM3Config,
    Lfm2VlConfig,
    LlamaConfig,
    Ministral3Config,
    Mistral3Config,
    Olmo3Config,
    PhiConfig,
    Qwen2_5_VLConfig,
    Qwen3VLConfig,
    SmolVLMConfig,
    StableLmConfig,
    Starcoder2Config,
    VaultGemmaConfig,
)

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
ALPHA = {"rope_type": "dynamic", "alpha": 50.0, "factor": 1.0, "rope_theta": 1e4}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "rope_theta": 1e5}
TEMPERATURES = {"mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1}
SECTIONS = {"rope_type": "default", "rope_theta": 1e5, "mrope_section": [2, 1, 1]}
PLAIN = {"rope_type": "default", "rope_theta": 5e5}
TINY = {"num_heads": 2, "hidden_size": 32, "intermediate_size": 32, "depth": 1, "out_hidden_size": 48}
PIXTRAL = {
    "model_type": "pixtral",
    "hidden_size": 32,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "head_dim": 16,
}
SIGLIP = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
MINISTRAL3 = {**SIZES, "head_dim": 16, "rope_parameters": {**YARN, **TEMPERATURES}}
NEOX = {name: value for name, value in SIZES.items() if name != "num_key_value_heads"}
HALF = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5}
TOKENS = {"image_token_id": 90, "video_token_id": 91, "vision_start_token_id": 92, "vision_end_token_id": 93}

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
    "gemma": GemmaConfig(**SIZES, head_dim=16, hidden_act="gelu"),
    "olmo3": Olmo3Config(**SIZES, sliding_window=7, rope_parameters={"full_attention": YARN, "sliding_attention": PLAIN}),
    "hunyuan": HunYuanDenseV1Config(**SIZES, head_dim=16, rope_parameters=ALPHA, attention_bias=True),
    "glm": GlmConfig(**SIZES, head_dim=16, pad_token_id=None),
    "glm4": Glm4Config(**SIZES, head_dim=16, pad_token_id=None),
    "helium": HeliumConfig(**SIZES, head_dim=8, pad_token_id=None),
    "internlm3, biases everywhere": InternLM3Config(**SIZES, head_dim=16, attention_bias=True, mlp_bias=True),
    "vaultgemma": VaultGemmaConfig(**SIZES, head_dim=16, sliding_window=7),
    "gpt2": GPT2Config(vocab_size=101, n_embd=48, n_layer=3, n_head=3, n_positions=128, initializer_range=0.2),
    "gpt_neox": GPTNeoXConfig(**NEOX, rope_parameters={**HALF, "partial_rotary_factor": 1.0}),
    "gpt_neox, one part after the other": GPTNeoXConfig(**NEOX, use_parallel_residual=False, rope_parameters=HALF),
    "phi": PhiConfig(**SIZES, rope_parameters=HALF),
    "starcoder2": Starcoder2Config(**SIZES, sliding_window=7),
    "stablelm": StableLmConfig(**SIZES, use_qkv_bias=True, rope_parameters=HALF),
    "stablelm, parallel parts": StableLmConfig(**SIZES, use_parallel_residual=True, rope_parameters=HALF),
    "cohere2": Cohere2Config(**SIZES, logit_scale=0.3, sliding_window=7, pad_token_id=None),
    "ministral3": Ministral3Config(**MINISTRAL3),
    "mistral3, its text": Mistral3Config(
        text_config={"model_type": "ministral3", **MINISTRAL3},
        vision_config=PIXTRAL,
        image_token_index=90,
        tie_word_embeddings=False,
    ),
    "qwen2.5-vl, its text": Qwen2_5_VLConfig(
        text_config={**SIZES, "rope_parameters": SECTIONS}, vision_config=TINY, **TOKENS, tie_word_embeddings=True
    ),
    "lfm2-vl, its text": Lfm2VlConfig(
        text_config={**SIZES, "full_attn_idxs": [1, 3], "block_multiple_of": 8}, vision_config=SIGLIP
    ),
    "smolvlm, its text": SmolVLMConfig(
        text_config=SIZES, vision_config={**SIGLIP, "image_size": 16, "patch_size": 4}, image_token_id=90
    ),
    "qwen3-vl, its text": Qwen3VLConfig(
        text_config={**SIZES, "head_dim": 8, "rope_parameters": SECTIONS},
        vision_config={**TINY, "deepstack_visual_indexes": [0]},
        **TOKENS,
    ),
}


@torch.no_grad()
def difference(config) -> float:
    torch.manual_seed(7)
    kind = AutoModelForImageTextToText if hasattr(config, "vision_config") else AutoModelForCausalLM
    model = kind.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    vocabulary = config.get_text_config().vocab_size
    for name, value in model.named_parameters():
        if "norm" in name:
            value.uniform_(0.7, 1.3)
        if value.dim() == 2 and "proj" in name:
            value.normal_(0, 0.2)
        if name.endswith("bias"):
            value.uniform_(-0.5, 0.5)
    tokens = [(i * 37 + 11) % min(vocabulary, 89) for i in range(60)]
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
