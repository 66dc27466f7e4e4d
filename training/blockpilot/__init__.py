"""BlockPilot (arXiv 2606.31315): a small network picks DFlash's block size once a prompt, from the prefill's last logits."""
