"""Reads and writes drafters in their published layouts: config.json and model.safetensors."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from bundled.model import Sizes

from .dflash import DFlash
from .eagle import Eagle3


def sizes_of(config: dict) -> Sizes:
    return Sizes(
        layers=config["num_hidden_layers"],
        width=config["hidden_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        ffn=config["intermediate_size"],
        vocabulary=config["vocab_size"],
        positions=config["max_position_embeddings"],
        rope_theta=config["rope_theta"] if "rope_theta" in config else config["rope_parameters"]["rope_theta"],
        norm_eps=config["rms_norm_eps"],
        tied=False,
    )


def weights_of(folder: Path) -> dict[str, torch.Tensor]:
    """A checkpoint's tensors; halves become f32."""
    tensors = load_file(folder / "model.safetensors")
    return {name: value.float() if value.is_floating_point() else value for name, value in tensors.items()}


def dflash(folder: Path) -> DFlash:
    config = json.loads((folder / "config.json").read_text())
    special = config["dflash_config"]
    drafter = DFlash(sizes_of(config), special["target_layer_ids"], special["mask_token_id"], config["block_size"])
    drafter.load_state_dict(weights_of(folder))
    return drafter.eval()


def eagle3(folder: Path) -> Eagle3:
    config = json.loads((folder / "config.json").read_text())
    drafter = Eagle3(sizes_of(config), config["draft_vocab_size"])
    drafter.load_state_dict(weights_of(folder))
    return drafter.eval()


def configuration(drafter: DFlash | Eagle3, target_layers: int) -> dict:
    """What loaders of the published checkpoints read."""
    s = drafter.sizes
    shared = {
        "hidden_size": s.width,
        "intermediate_size": s.ffn,
        "num_hidden_layers": s.layers,
        "num_attention_heads": s.heads,
        "num_key_value_heads": s.kv_heads,
        "head_dim": s.head_dim,
        "vocab_size": s.vocabulary,
        "hidden_act": "silu",
        "max_position_embeddings": s.positions,
        "rms_norm_eps": s.norm_eps,
        "rope_theta": s.rope_theta,
        "rope_scaling": None,
        "attention_bias": False,
        "tie_word_embeddings": False,
        "torch_dtype": "float16",
    }
    if isinstance(drafter, Eagle3):
        own = {"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "draft_vocab_size": len(drafter.d2t)}
        return {**own, **shared}
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "block_size": drafter.block,
        "dflash_config": {"mask_token_id": drafter.mask_id, "target_layer_ids": drafter.taps, "taps_before_norm": True},
        "num_target_layers": target_layers,
        "layer_types": ["full_attention"] * s.layers,
        "attention_dropout": 0.0,
        "sliding_window": None,
        "use_sliding_window": False,
        "use_cache": True,
        **shared,
    }


def save(drafter: DFlash | Eagle3, target_layers: int, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {n: v.half() if v.is_floating_point() else v for n, v in drafter.state_dict().items()}
    save_file({n: v.contiguous() for n, v in tensors.items()}, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)
    (folder / "config.json").write_text(json.dumps(configuration(drafter, target_layers), indent=2) + "\n")
