"""Drafters of the bundled target, in their published layouts: DFlash (a block at once) and EAGLE-3 (a chain or a tree)."""
