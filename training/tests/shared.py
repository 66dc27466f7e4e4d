"""Reference material next to the project; absent in a plain checkout, where what needs it is skipped, loudly."""

import os
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared"


def golden(name: str) -> Path:
    """A golden case's folder; skips the test without it, fails it under CI."""
    folder = SHARED / "golden" / name
    if not folder.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name}: the golden outputs are missing")
        pytest.skip(f"NOT CHECKED against {name}: ../shared is absent")
    return folder
