"""Reads and writes drafters in the layout of vLLM's speculators library: a nested config.json and model.safetensors."""

import json
from pathlib import Path

from safetensors.torch import save_file

from drafters.eagle import Eagle3
from drafters.load import sizes_of, weights_of

from .dspark import DSpark


def load(folder: Path, config: str = "config.json") -> DSpark | Eagle3:
    said = json.loads((folder / config).read_text())
    sizes = sizes_of(said["transformer_layer_config"])
    weights = weights_of(folder)
    weights.pop("embed_tokens.weight", None)  # the target's
    if said["speculators_model_type"] == "eagle3":
        drafter = Eagle3(sizes, said["draft_vocab_size"], said["norm_before_residual"])
        weights = {name.replace("layers.0.", "midlayer."): value for name, value in weights.items()}
    else:
        taps = [layer - 1 for layer in said["aux_hidden_state_layer_ids"]]
        drafted, rank = said["draft_vocab_size"], said["markov_rank"]
        drafter = DSpark(sizes, taps, said["mask_token_id"], said["block_size"], drafted, rank)
    drafter.load_state_dict(weights)
    return drafter.eval()


def configuration(drafter: DSpark | Eagle3, taps: list[int], drafts: int) -> dict:
    """`taps` are the outputs of the target's layers; this layout names the layers that they enter."""
    s = drafter.sizes
    kind = "eagle3" if isinstance(drafter, Eagle3) else "dspark"
    layers = {
        "attention_bias": False,
        "head_dim": s.head_dim,
        "hidden_act": "silu",
        "hidden_size": s.width,
        "intermediate_size": s.ffn,
        "max_position_embeddings": 8192,
        "model_type": "llama" if kind == "eagle3" else "qwen3",
        "num_attention_heads": s.heads,
        "num_hidden_layers": s.layers,
        "num_key_value_heads": s.kv_heads,
        "rms_norm_eps": s.norm_eps,
        "rope_parameters": {"rope_theta": s.rope_theta, "rope_type": "default"},
        "tie_word_embeddings": False,
        "vocab_size": s.vocabulary,
    }
    entered = [layer + 1 for layer in taps]
    shared = {
        "draft_vocab_size": len(drafter.d2t),
        "dtype": "float16",
        "speculators_config": {
            "algorithm": kind,
            "default_proposal_method": "greedy",
            "proposal_methods": [{"proposal_type": "greedy", "speculative_tokens": drafts}],
            "verifier": {"architectures": ["LlamaForCausalLM"], "name_or_path": "HuggingFaceTB/SmolLM2-135M-Instruct"},
        },
        "speculators_model_type": kind,
        "tie_word_embeddings": False,
        "transformer_layer_config": layers,
    }
    if kind == "eagle3":
        own = {
            "architectures": ["Eagle3DraftModel"],
            "eagle_aux_hidden_state_layer_ids": entered,
            "embed_requires_grad": False,
            "fc_norm": False,
            "norm_before_fc": False,
            "norm_before_residual": drafter.midlayer.normed,
            "norm_output": False,
        }
        return own | shared
    own = {
        "architectures": ["DSparkDraftModel"],
        "aux_hidden_state_layer_ids": entered,
        "block_size": drafter.block,
        "confidence_head_with_markov": True,
        "enable_confidence_head": True,
        "markov_head_type": "vanilla",
        "markov_rank": drafter.markov_head.markov_w1.weight.shape[1],
        "mask_token_id": drafter.mask_id,
        "sample_from_anchor": True,
        "sliding_window_non_causal": False,
    }
    layers |= {"layer_types": ["full_attention"] * s.layers, "sliding_window": None, "use_sliding_window": False}
    return own | shared


def save(drafter: DSpark | Eagle3, taps: list[int], drafts: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {n: v.half() if v.is_floating_point() else v for n, v in drafter.state_dict().items()}
    tensors = {n.replace("midlayer.", "layers.0."): v.contiguous() for n, v in tensors.items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    (folder / "config.json").write_text(json.dumps(configuration(drafter, taps, drafts), indent=2) + "\n")
