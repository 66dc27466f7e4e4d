"""The bundled family: one synthetic task, one tokenizer, three Qwen3-shaped language models."""
