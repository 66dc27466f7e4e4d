"""Judges of reasoning steps: step data, the process reward model, the Arbitrage router, offline curves of routing rules."""
