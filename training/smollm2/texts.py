"""The answers as token ids alone, in one small file: what outlives the machine that wrote them.

python -m smollm2.texts keep --answers R/answers FILE.npz                        about 2 bytes a token
python -m smollm2.texts read FILE.npz --target FOLDER --answers R/answers        their states, by prefills of whole texts

States take 4.6 kB a token and come from the target again, several texts in a pass, faster than they were first decoded.
"""

import argparse
import time
from pathlib import Path
from random import Random

import numpy as np
import torch

from .corpus import Corpus
from .generate import ANSWER, Text, Writer
from .target import Target

TOKENS = 2048  # padded, in one prefill
SHARD = 9  # names the chunks of a file that was read


def keep(answers: Path, out: Path) -> None:
    """Writes ids, and where answers start, if that is no fewer texts than the file has."""
    chunks = Corpus(answers, Random(0)).chunks.values()
    ids = [text.numpy().astype(np.uint16) for chunk in chunks for text in chunk["ids"]]
    if out.exists() and len(np.load(out)["lengths"]) > len(ids):
        raise SystemExit(f"{out} has more texts than {answers}: read it into that folder first, or name another file")
    if not ids:
        raise SystemExit(f"{answers} has no chunks of generate.py")
    np.savez_compressed(
        out,
        ids=np.concatenate(ids),
        lengths=np.array([len(text) for text in ids], np.uint16),
        starts=np.array([start for chunk in chunks for start in chunk["starts"]], np.uint16),
        kinds=np.array([kind for chunk in chunks for kind in chunk["kinds"]]),
        greedy=np.array([greedy for chunk in chunks for greedy in chunk["greedy"]]),
    )
    print(f"{len(ids)} texts, {sum(map(len, ids))} tokens, {out.stat().st_size} bytes")


def texts_of(file: Path) -> list[tuple[Text, list[int]]]:
    """Prompts, and the answers that follow them; the longest last."""
    stored = np.load(file)
    ids = np.split(stored["ids"].astype(np.int64), np.cumsum(stored["lengths"][:-1], dtype=np.int64))
    made = [
        (Text(str(kind), text[:start].tolist(), ANSWER, bool(greedy)), text[start:].tolist())
        for text, start, kind, greedy in zip(ids, stored["starts"], stored["kinds"], stored["greedy"], strict=True)
    ]
    return sorted(made, key=lambda text: text[0].start + len(text[1]))


@torch.no_grad()
def read(target: Target, file: Path, answers: Path) -> None:
    writer, waiting, reported = Writer(answers, SHARD), texts_of(file), time.time()
    if writer.chunks:
        raise SystemExit(f"{answers} already has texts of a file")
    while waiting:
        longest = waiting[-1][0].start + len(waiting[-1][1])
        group = [waiting.pop() for _ in range(min(len(waiting), max(1, TOKENS // longest)))]
        ids = torch.zeros(len(group), longest, dtype=torch.int64)
        for row, (text, answer) in enumerate(group):
            ids[row, : text.start + len(answer)] = torch.tensor(text.ids + answer)
        taps, hidden = target.read(ids)
        for row, (text, answer) in enumerate(group):
            chose = slice(text.start - 1, text.start - 1 + len(answer))
            text.ids += answer
            text.lse = target.head(hidden[row, chose]).float().logsumexp(-1).tolist()
            writer.add(text, taps[row], hidden[row])
        if time.time() - reported > 60:
            reported = time.time()
            print({"texts_left": len(waiting), "answer_tokens": writer.tokens}, flush=True)
    writer.write()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["keep", "read"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--target", type=Path, help="folder of the GGUF file, its config and tokenizer")
    args = parser.parse_args()
    if args.action == "keep":
        keep(args.answers, args.file)
        return
    if not args.target:
        parser.error("read needs --target")
    args.answers.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    read(Target(args.target), args.file, args.answers)


if __name__ == "__main__":
    main()
