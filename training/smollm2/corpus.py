"""Generated answers as training batches: files of `generate.py`, which may still be growing."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from torch import Tensor


@dataclass
class Batch:
    """Texts of like length, padded on the right. State row i chose token i + 1; prompts have no states."""

    ids: Tensor  # [batch, rows]
    starts: Tensor  # position of the first answer token
    ends: Tensor  # position of the last one
    taps: Tensor  # [batch, rows, taps * width]
    states: Tensor  # [batch, rows, width]: the target's last states after its norm
    lse: Tensor  # [batch, rows]: the log-normaliser of the target's logits

    @property
    def tokens(self) -> int:
        return int((self.ends + 1 - self.starts).sum())


class Corpus:
    def __init__(self, folder: Path, rng: Random) -> None:
        self.folder, self.rng = folder, rng
        self.chunks: dict[str, dict] = {}
        self.refresh()

    def refresh(self) -> None:
        """Opens the files that are new."""
        for path in sorted(self.folder.glob("chunk-*.pt")):
            if path.name not in self.chunks:
                self.chunks[path.name] = torch.load(path, mmap=True)

    def texts(self) -> list[tuple[str, int]]:
        return [(name, i) for name, chunk in self.chunks.items() for i in range(len(chunk["ids"]))]

    def usage(self, vocabulary: int) -> Tensor:
        """How often the texts use each token."""
        uses = torch.zeros(vocabulary, dtype=torch.int64)
        for name, i in self.texts():
            uses += torch.bincount(self.chunks[name]["ids"][i], minlength=vocabulary)
        return uses

    def batch(self, texts: list[tuple[str, int]]) -> Batch:
        parts = [(self.chunks[name], i) for name, i in texts]
        rows = max(len(chunk["ids"][i]) for chunk, i in parts)
        some = parts[0][0]
        made = Batch(
            ids=torch.zeros(len(parts), rows, dtype=torch.int64),
            starts=torch.tensor([chunk["starts"][i] for chunk, i in parts]),
            ends=torch.tensor([len(chunk["ids"][i]) - 1 for chunk, i in parts]),
            taps=torch.zeros(len(parts), rows, some["taps"][0].shape[1], dtype=some["taps"][0].dtype),
            states=torch.zeros(len(parts), rows, some["hidden"][0].shape[1], dtype=some["hidden"][0].dtype),
            lse=torch.zeros(len(parts), rows),
        )
        for row, (chunk, i) in enumerate(parts):
            end, answer = made.ends[row], slice(made.starts[row] - 1, made.ends[row])
            made.ids[row, : end + 1] = chunk["ids"][i]
            made.taps[row, :end] = chunk["taps"][i]
            made.states[row, answer] = chunk["hidden"][i]
            made.lse[row, answer] = chunk["lse"][i]
        return made

    def groups(self, texts: list[tuple[str, int]], tokens: int) -> list[list[tuple[str, int]]]:
        """Texts of like length, at most `tokens` padded tokens together."""
        made: list[list[tuple[str, int]]] = []
        for text in sorted(texts, key=lambda text: len(self.chunks[text[0]]["ids"][text[1]])):
            longest = len(self.chunks[text[0]]["ids"][text[1]])
            if not made or (len(made[-1]) + 1) * longest > tokens:
                made.append([])
            made[-1].append(text)
        return made

    def batches(self, tokens: int) -> Iterator[Batch]:
        """Endless epochs; each takes in the files that have appeared."""
        while True:
            self.refresh()
            texts = self.texts()
            self.rng.shuffle(texts)
            # An epoch in parts, so that batches of like length are not always the same texts together.
            for at in range(0, len(texts), 512):
                groups = self.groups([text for text in texts[at : at + 512] if self.length(text) > 2], tokens)
                self.rng.shuffle(groups)
                for group in groups:
                    yield self.batch(group)

    def length(self, text: tuple[str, int]) -> int:
        """Tokens of the answer."""
        chunk = self.chunks[text[0]]
        return len(chunk["ids"][text[1]]) - chunk["starts"][text[1]]
