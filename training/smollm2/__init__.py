"""Drafters for SmolLM2-135M-Instruct, trained on its own answers: DSpark and EAGLE-3."""
