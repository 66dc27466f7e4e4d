"""Answers and both drafters on one GPU, in minutes; token ids are all that is kept of a text.

python -m smollm2.gpu answers --target S --data D --out R/answers --held R/held.npz --seconds 300
python -m smollm2.gpu train {eagle3,dspark} --target S --answers R/answers --held R/held.npz --out R/KIND --seconds 300
python -m smollm2.gpu checkpoint R/KIND --target S        R/KIND/checkpoint.pt, for `evaluate tau` and `export`

All may run at once, several `answers` with seeds of their own too: a run takes in the files that have appeared.
A GPU decodes thousands of texts at once, so answers are written in waves: prompts of like length, until nearly all of
a wave's answers have ended. States are not stored: the target reads the texts of a batch again, faster than a disk would.
The trained weights are kept in f16, as they are exported, in files of at most 15 MB.
"""

import argparse
import json
import time
from pathlib import Path
from random import Random

import numpy as np
import torch
from torch import Tensor

from bundled.optimizer import Optimizer
from bundled.train import Clock
from drafters.eagle import Eagle3
from drafters.measure import Lengths, mean

from . import evaluate, gguf, train
from .corpus import Batch
from .drafter_file import kind_of, restore
from .dspark import DSpark, cover
from .generate import ANSWER, GREEDY, QUESTION
from .measure import dspark_lengths, eagle_lengths
from .prompts import OPENINGS, SHARES, Evaluation, evaluation_prompts
from .target import END, TAPS, Cache, Target, chat, tokenizer_of, user_header

PREFILL = 65_536  # padded tokens of one
CACHED = 1_200_000  # tokens that the caches of a wave have room for: 28 GB
COOL = 0.8  # temperature of the questions that the model writes: at 1 many make no sense
MATH = 4  # answers to each of GSM8K's questions; the first is greedy
RETRIEVAL = 0.06  # of the answers: to a question that follows some articles, one of which answers it
LOOP, PERIOD = 64, 32  # an answer whose last 64 tokens repeat a part of at most 32 ends there
AGAIN = 1 / 3  # share of the self-written questions that get an answer at temperature 1 next to the greedy one: 3 in 4 are
TOGETHER = 128  # texts of a batch at most: their anchors' logits take 3 GB
ANCHORS = {"dspark": 48, "eagle3": 96}  # of a text in an update
FILE = 15_000_000  # bytes


def ends(made: Tensor) -> Tensor:
    """How many tokens of each row belong to the answer: as `generate.Text.over` ends it, checked every 16 tokens."""
    steps = made.shape[1]
    at = torch.arange(steps)
    over = made == END
    for period in range(1, min(PERIOD, steps - 1) + 1):
        differs = torch.ones_like(over)
        differs[:, period:] = made[:, period:] != made[:, :-period]
        last = torch.where(differs, at, -1).cummax(dim=1).values
        over |= (at - last >= LOOP - period) & (at >= LOOP - 1) & (at % 16 == 15)
    return torch.where(over, at, steps - 1).amin(dim=1) + 1


@torch.no_grad()
def wave(target: Target, prompts: list[list[int]], temperatures: list[float], limit: int, until: float) -> list[list[int]]:
    """The answers to prompts of like length, written together; 0 is greedy. Past `until` they are cut off where they are."""
    rows, longest = len(prompts), max(map(len, prompts))
    starts = torch.tensor([len(prompt) for prompt in prompts])
    ids = torch.tensor([prompt + [END] * (longest - len(prompt)) for prompt in prompts])
    cache = Cache(target, rows, -(-(longest + limit) // 64) * 64)
    hidden = torch.empty(rows, target.width, dtype=target.dtype)
    together = max(1, PREFILL // longest)
    for at in range(0, rows, together):
        part = torch.arange(at, min(rows, at + together))
        _, states = target.read(ids[part], cache, part)
        hidden[part] = states[torch.arange(len(part)), starts[part] - 1]
    heat = torch.tensor(temperatures)
    made = torch.full((rows, limit), END)
    alive = torch.arange(rows)  # what the cache holds
    for step in range(limit):
        logits = target.head(hidden).float()
        token, drawn = logits.argmax(-1), heat[alive].nonzero()[:, 0]
        if len(drawn):
            noise = torch.empty(len(drawn), logits.shape[1]).exponential_().log_()
            token[drawn] = (logits[drawn] / heat[alive[drawn], None] - noise).argmax(-1)
        made[alive, step] = token
        if step + 1 == limit:
            break
        if step % 16 == 15:
            over = ends(made[alive, : step + 1]) <= step
            if over.float().mean() > 0.97 or time.time() > until:
                break
            if over.float().mean() > 0.2:
                kept = (~over).nonzero()[:, 0]
                alive, token = alive[kept], token[kept]
                cache.keep(kept)
        # Whole blocks of the cache, so that an attention mask needs no padding.
        _, states = target.step(token, starts[alive] + step, cache, -(-(longest + step + 1) // 64) * 64)
        hidden = states[:, 0]
    # An answer that has not ended yet is an answer as well.
    lengths = torch.minimum(ends(made), torch.tensor(step + 1))
    return [row[:length] for row, length in zip(made.tolist(), lengths.tolist(), strict=True)]


class Kept:
    """Texts for an npz file, as `texts.py` has them."""

    def __init__(self) -> None:
        self.ids: list[list[int]] = []
        self.starts: list[int] = []
        self.kinds: list[str] = []
        self.greedy: list[bool] = []
        self.tokens = 0

    def add(self, kind: str, prompt: list[int], answer: list[int], greedy: bool) -> None:
        self.ids.append(prompt + answer)
        self.starts.append(len(prompt))
        self.kinds.append(kind)
        self.greedy.append(greedy)
        self.tokens += len(answer)

    def write(self, out: Path) -> None:
        out.parent.mkdir(parents=True, exist_ok=True)
        begun = out.with_suffix(".new")  # whoever reads the folder finds whole files only
        with begun.open("wb") as file:
            np.savez_compressed(
                file,
                ids=np.concatenate([np.array(text, np.uint16) for text in self.ids]),
                lengths=np.array([len(text) for text in self.ids], np.uint16),
                starts=np.array(self.starts, np.uint16),
                kinds=np.array(self.kinds),
                greedy=np.array(self.greedy),
            )
        begun.rename(out)


def loaded(args: argparse.Namespace) -> Target:
    """In bf16 on a GPU, where it is fast."""
    return Target(args.target, torch.float32 if args.device == "cpu" else torch.bfloat16)


def say(begun: float, **facts: object) -> None:
    print({"seconds": round(time.time() - begun, 1), **facts}, flush=True)


class Authors:
    """What there is to answer: GSM8K's training questions, and prompts that the model writes itself."""

    def __init__(self, target: Target, args: argparse.Namespace) -> None:
        self.target, self.rows, self.rng = target, args.rows, Random(args.seed)
        self.tokenizer = tokenizer_of(args.target)
        self.evaluation = Evaluation(evaluation_prompts(args.data))
        lines = (args.data / "gsm8k-train.jsonl").read_text().splitlines()
        self.math = [json.loads(line)["question"] for line in self.rng.sample(lines, len(lines))]

    def encode(self, texts: list[str]) -> list[list[int]]:
        return [made.ids for made in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def questions(self, until: float) -> list[tuple[str, str]]:
        """One wave of messages that the model writes; those that end by themselves and quote no evaluation prompt."""
        kinds = self.rng.choices(list(OPENINGS), [SHARES[kind] for kind in OPENINGS], k=self.rows)
        openings = [self.rng.choice(OPENINGS[kind]) for kind in kinds]
        prompts = self.encode([user_header() + opening for opening in openings])
        answers = wave(self.target, prompts, [COOL] * len(prompts), QUESTION, until)
        said = self.tokenizer.decode_batch([answer[:-1] for answer in answers], skip_special_tokens=False)
        made = [
            (kind, opening + rest)
            for kind, opening, rest, answer in zip(kinds, openings, said, answers, strict=True)
            if answer[-1] == END and (opening + rest).strip()
        ]
        return [(kind, question) for kind, question in made if not self.evaluation.holds(question)]

    def temperature(self, greedy: bool) -> float:
        return 0.0 if greedy else self.rng.uniform(0.5, 1)

    def documents(self, articles: list[tuple[str, str]], count: int) -> list[tuple[str, str, bool]]:
        """Summaries to write, and questions to answer from one of some articles; (question, article) each."""
        asked = []
        for i in range(count):
            some = self.rng.sample(articles, min(len(articles), self.rng.randint(1, 4)))
            text, greedy = "\n".join(article for _, article in some), self.rng.random() < GREEDY
            if i < count * RETRIEVAL / (SHARES["summary"] + RETRIEVAL):
                asked.append(("retrieval", f"{text}\n{self.rng.choice(some)[0]}", greedy))
            else:
                asked.append(("summary", f"Summarize: {text}", greedy))
        return asked

    def answer(self, kept: Kept, asked: list[tuple[str, str, bool]], until: float) -> list[tuple[str, str]]:
        """Answers to (kind, message, greedy); gives back the chat messages whose answers are as long as an article."""
        prompts = self.encode([chat(message) for _, message, _ in asked])
        order = sorted(range(len(asked)), key=lambda i: len(prompts[i]))
        long = []
        while order and time.time() < until:
            fit = max(1, CACHED // (len(prompts[order[-1]]) + ANSWER))
            some, order = order[-min(fit, self.rows) :], order[: -min(fit, self.rows)]
            made = wave(self.target, [prompts[i] for i in some], [self.temperature(asked[i][2]) for i in some], ANSWER, until)
            for i, answer in zip(some, made, strict=True):
                kind, message, greedy = asked[i]
                kept.add(kind, prompts[i], answer, greedy)
                if kind == "chat" and len(answer) > 120:
                    long.append((message, self.tokenizer.decode(answer, skip_special_tokens=True)))
        return long


def held_out(authors: Authors, args: argparse.Namespace) -> Kept:
    """Greedy answers to the prompts of `evaluate texts`."""
    kept = Kept()
    asked = [(kind, ids) for kind, said in evaluate.prompts(args.data, args.each) for ids in authors.encode([chat(said)])]
    asked = sorted((each for each in asked if len(each[1]) + 128 <= args.longest), key=lambda each: len(each[1]))
    for at in range(0, len(asked), 16):
        part = asked[at : at + 16]
        answers = wave(authors.target, [ids for _, ids in part], [0.0] * len(part), 128, float("inf"))
        for (kind, ids), answer in zip(part, answers, strict=True):
            kept.add(kind, ids, answer, True)
    return kept


def answers(args: argparse.Namespace) -> None:
    begun = time.time()
    until = begun + args.seconds
    torch.manual_seed(args.seed)
    authors = Authors(loaded(args), args)
    say(begun, step="loaded")
    if args.held:
        held_out(authors, args).write(args.held)
        say(begun, step="held-out answers")
    rng, articles, files, tokens = authors.rng, [], 0, 0
    math = [("math", question, again == 0) for again in range(MATH) for question in authors.math]
    # A cycle is a wave of questions and the answers to them, with as many of GSM8K's as make the shares right.
    while time.time() < until:
        questions = authors.questions(until)
        asked = [(kind, said, True) for kind, said in questions]
        asked += [(kind, said, False) for kind, said in questions if rng.random() < AGAIN]
        count = round(len(asked) * SHARES["math"] / (1 - SHARES["math"] - SHARES["summary"]))
        asked += math[:count]
        del math[:count]
        if articles:
            asked += authors.documents(articles, round(len(asked) * (SHARES["summary"] + RETRIEVAL)))
        rng.shuffle(asked)
        kept = Kept()
        articles = authors.answer(kept, asked, until)
        if kept.ids:
            kept.write(args.out / f"answers-{args.seed}-{files}.npz")
        files, tokens = files + 1, tokens + kept.tokens
        say(begun, texts=len(kept.ids), answer_tokens=tokens, math_left=len(math))


class Texts:
    """The texts of some npz files, or of those in a folder, which may grow; a batch's states are read when it is made."""

    def __init__(self, target: Target, paths: list[Path], shortest: int = 3) -> None:
        self.target, self.paths, self.shortest, self.files = target, paths, shortest, []
        self.known: dict[Path, dict[str, np.ndarray]] = {}
        while not self.refresh():
            time.sleep(1)

    def refresh(self) -> bool:
        """Takes in new files, if there are any; whether there are texts at all."""
        files = [file for path in self.paths for file in (sorted(path.glob("*.npz")) if path.is_dir() else [path])]
        files = [file for file in files if file.exists()]
        if len(files) > len(self.files):
            self.read(files)
        return bool(self.files)

    def read(self, files: list[Path]) -> None:
        self.files = files
        self.known |= {file: dict(np.load(file)) for file in files if file not in self.known}
        stored = [self.known[file] for file in files]
        self.flat = torch.from_numpy(np.concatenate([each["ids"] for each in stored]).astype(np.int32))
        self.flat = self.flat.to(torch.get_default_device())
        self.lengths = np.concatenate([each["lengths"] for each in stored]).astype(np.int64)
        self.starts = np.concatenate([each["starts"] for each in stored]).astype(np.int64)
        self.kinds = np.concatenate([each["kinds"] for each in stored])
        self.offsets = np.concatenate(([0], self.lengths.cumsum()[:-1]))
        self.usable = np.flatnonzero(self.lengths - self.starts >= self.shortest)

    def answer_tokens(self) -> int:
        return int((self.lengths - self.starts).sum())

    def usage(self, vocabulary: int) -> Tensor:
        return torch.bincount(self.flat.long(), minlength=vocabulary)

    def groups(self, chosen: np.ndarray, tokens: int) -> list[np.ndarray]:
        """Texts of like length, at most `tokens` padded tokens together."""
        chosen = chosen[self.lengths[chosen].argsort(kind="stable")]
        made, at = [], 0
        while at < len(chosen):
            end = at + 1
            while end < min(len(chosen), at + TOGETHER) and (end + 1 - at) * self.lengths[chosen[end]] <= tokens:
                end += 1
            made.append(chosen[at:end])
            at = end
        return made

    def ids(self, chosen: np.ndarray) -> tuple[Tensor, Tensor]:
        """Padded on the right, and the position of each text's last token."""
        lengths = torch.tensor(self.lengths[chosen])
        places = torch.arange(int(self.lengths[chosen].max()))
        at = torch.tensor(self.offsets[chosen])[:, None] + places
        return self.flat[at.clamp(max=len(self.flat) - 1)].long() * (places < lengths[:, None]), lengths - 1

    @torch.no_grad()
    def batch(self, chosen: np.ndarray) -> Batch:
        ids, ends = self.ids(chosen)
        starts, places = torch.tensor(self.starts[chosen]), torch.arange(ids.shape[1])
        taps, states = self.target.read(ids)
        answer = (places >= starts[:, None] - 1) & (places < ends[:, None])
        lse = torch.zeros(ids.shape)
        lse[answer] = torch.cat([self.target.head(part).float().logsumexp(-1) for part in states[answer].split(8192)])
        return Batch(ids, starts, ends, taps, states, lse)

    def batches(self, tokens: int, rng: np.random.Generator):
        """Endless epochs, in parts, so that batches of like length are not always the same texts together.

        Where new files have come, a new epoch begins.
        """
        while True:
            known, order = len(self.files), rng.permutation(self.usable)
            for at in range(0, len(order), 8192):
                groups = self.groups(order[at : at + 8192], tokens)
                for i in rng.permutation(len(groups)):
                    yield self.batch(groups[i])
                self.refresh()
                if len(self.files) > known:
                    break


def tau(drafter: DSpark | Eagle3, embedding: Tensor, held: Texts, drafts: int) -> dict[str, float]:
    """As `train.tau`."""
    lengths: dict[str, Lengths] = {}
    measure = eagle_lengths if isinstance(drafter, Eagle3) else dspark_lengths
    for group in held.groups(held.usable, 8000):
        batch = held.batch(group)
        batch.taps = batch.taps.float()
        for i, each in zip(group, measure(drafter, embedding, batch, drafts), strict=True):
            lengths.setdefault(str(held.kinds[i]), []).append(each)
    made = {kind: round(mean(each), 3) for kind, each in sorted(lengths.items())}
    return {"tau": round(mean([rounds for each in lengths.values() for rounds in each]), 3), **made}


def scale_of(texts: Texts) -> Tensor:
    """`train.tap_scale`, of some texts."""
    rows = []
    for group in texts.groups(texts.usable[:: -(-len(texts.usable) // 64)], 8000):
        ids, ends = texts.ids(group)
        taps, _ = texts.target.read(ids)
        rows += [each[8:end] for each, end in zip(taps.float(), ends.tolist(), strict=True)]
    size = torch.cat(rows).pow(2).mean(0).sqrt().view(len(TAPS), -1)
    middle = size.median(dim=1, keepdim=True).values
    return (1 / size.clamp(min=middle / 2, max=middle * 6)).flatten()


def save(drafter: DSpark | Eagle3, out: Path, facts: dict) -> None:
    """The trained weights in f16 and the drafted tokens, in files of at most FILE bytes; the head is the target's."""
    parts, room = [{}], FILE
    for name, p in drafter.named_parameters():
        if not p.requires_grad:
            continue
        value = p.detach().half().cpu()
        size = value.numel() * 2
        if size > room:
            parts.append({})
            room = FILE
        parts[-1][name] = value
        room -= size
    chosen = drafter.t2d.nonzero()[:, 0].to(torch.int32).cpu()
    for i, part in enumerate(parts):
        torch.save({"part": part, "chosen": chosen, **facts}, out / f"weights-{i}.pt")


def run(args: argparse.Namespace) -> None:
    begun = time.time()
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    target = loaded(args)
    embedding = target.embedding
    texts, held = Texts(target, args.answers), Texts(target, [args.held], 2)
    say(begun, texts=len(texts.lengths), answer_tokens=texts.answer_tokens())
    scale, drafter = scale_of(texts), train.new(args.kind)
    drafter.lm_head.weight.requires_grad_(False)
    if args.begin:
        facts, tensors = gguf.read(args.begin)
        chosen = tensors["d2t"].to(embedding.device)
    else:
        chosen = train.most_used(texts, len(embedding))
    train.start(drafter, chosen, embedding)
    if args.begin and (facts["general.architecture"] == "eagle3") == (kind_of(drafter) == "eagle3"):
        restore(drafter, args.begin)
        say(begun, begin=tau(drafter, embedding, held, args.drafts))
        train.unfold(drafter, scale)
        cover(drafter, chosen, embedding.float())  # the head again, not through so few bits
    index = torch.where(drafter.t2d, drafter.t2d.cumsum(0) - 1, -1)
    optimizer, clock = Optimizer(drafter, 0, 1), Clock(time.time(), begun + args.seconds, args.decay)
    stream, updates, tokens, recent, reported = texts.batches(args.tokens, np.random.default_rng(args.seed)), 0, 0, [], time.time()

    def report(over: bool) -> None:
        facts = {"kind": args.kind, "updates": updates, "tokens": tokens, "minutes": (time.time() - begun) / 60}
        line = {**facts, "rate": round(clock.scale(updates), 3), "texts": len(texts.lengths), "unique": texts.answer_tokens()}
        if recent:
            loss, length = (torch.stack(each).mean().item() for each in zip(*recent, strict=True))
            line |= {"loss": round(loss, 3), "length": round(length, 3)}
        if over or args.measured:
            line |= tau(train.folded(drafter, scale), embedding, held, args.drafts)
        with (args.out / "curve.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        say(begun, **line)
        save(drafter, args.out, {**facts, "scale": scale.cpu()})
        recent.clear()

    while clock.progress() < 1:
        batch = next(stream)
        loss, length = train.update_loss(drafter, index, embedding, batch, scale, args.rows, ANCHORS[args.kind])
        loss.backward()
        optimizer.step(args.rate * clock.scale(updates))
        drafter.zero_grad(set_to_none=True)
        updates, tokens = updates + 1, tokens + batch.tokens
        recent.append((loss.detach(), length))
        if time.time() - reported > args.every:
            report(False)
            reported = time.time()
    report(True)


def checkpoint(args: argparse.Namespace) -> None:
    parts = [torch.load(path, weights_only=False) for path in sorted(args.folder.glob("weights-*.pt"))]
    saved = parts[0]
    drafter = train.new(saved["kind"])
    cover(drafter, saved["chosen"].long(), Target(args.target).embedding.float())
    weights = {name: value.float() for each in parts for name, value in each["part"].items()}
    missing, unknown = drafter.load_state_dict(weights, strict=False)
    if unknown or set(missing) != {"lm_head.weight", "d2t", "t2d"}:
        raise SystemExit(f"{args.folder}: missing {missing}, unknown {unknown}")
    kept = {name: saved[name] for name in ("kind", "updates", "tokens", "minutes", "scale")}
    torch.save({"model": drafter.state_dict(), **kept}, args.folder / "checkpoint.pt")
    print({name: value for name, value in kept.items() if name != "scale"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)
    write = parts.add_parser("answers")
    write.set_defaults(run=answers)
    write.add_argument("--data", type=Path, required=True, help="folder of GSM8K and of the evaluation prompts to avoid")
    write.add_argument("--out", type=Path, required=True, help="a folder; a file for each wave of questions")
    write.add_argument("--held", type=Path, help="where the greedy answers to held-out prompts go, which are written first")
    write.add_argument("--rows", type=int, default=2048, help="texts of a wave")
    write.add_argument("--each", type=int, default=8, help="held-out prompts of a category, twice as many of GSM8K")
    write.add_argument("--longest", type=int, default=1152, help="most tokens of a held-out text")
    learn = parts.add_parser("train")
    learn.set_defaults(run=run)
    learn.add_argument("kind", choices=["dspark", "eagle3"])
    learn.add_argument("--answers", type=Path, required=True, nargs="+", help="files, or folders that may grow")
    learn.add_argument("--held", type=Path, required=True)
    learn.add_argument("--out", type=Path, required=True)
    learn.add_argument("--begin", type=Path, help="a file of `export --gguf`: its draft tokens, and the same kind's layers")
    learn.add_argument("--decay", type=float, default=0.5, help="share of the time in which the rate falls to zero")
    learn.add_argument("--tokens", type=int, default=24576, help="padded tokens of a batch")
    learn.add_argument("--rate", type=float, default=1.0, help="multiplies every learning rate")
    learn.add_argument("--rows", type=int, default=7, help="drafts of an anchor in training")
    learn.add_argument("--drafts", type=int, default=7, help="in the measured rounds")
    learn.add_argument("--every", type=float, default=30, help="seconds between reports")
    learn.add_argument("--measured", action="store_true", help="τ in every report, not only in the last")
    back = parts.add_parser("checkpoint")
    back.set_defaults(run=checkpoint)
    back.add_argument("folder", type=Path)
    for part in (write, learn):
        part.add_argument("--seconds", type=float, required=True)
        part.add_argument("--seed", type=int, default=1)
    for part in (write, learn, back):
        part.add_argument("--target", type=Path, required=True, help="folder of the GGUF file, its config and tokenizer")
        part.add_argument("--device", default="cuda" if torch.cuda.is_available() and part is not back else "cpu")
    args = parser.parse_args()
    torch.set_default_device(args.device)
    args.run(args)


if __name__ == "__main__":
    main()
