"""SmolLM2 and its drafters: golden outputs, the batched decoder, the loss's own gradient, and the packed passes."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from shared import SHARED, golden

from bundled import evaluate
from bundled.model import Sizes
from bundled.optimizer import Optimizer
from drafters.eagle import Eagle3
from smollm2 import drafter_file, generate, gguf, gpu, layout, texts, train
from smollm2.corpus import Batch, Corpus
from smollm2.dspark import DSpark, cover
from smollm2.evaluate import Finite
from smollm2.losses import DISTANCE, TRUE, dspark_loss
from smollm2.measure import dspark_lengths
from smollm2.prompts import Evaluation
from smollm2.target import END, TAPS, Cache, Target, chat, halves, tokenizer_of

SMALL = Sizes(layers=2, width=32, heads=2, kv_heads=1, head_dim=16, ffn=48, vocabulary=64, tied=False)


def tensor(folder: Path, case: dict, name: str) -> torch.Tensor:
    entry = case["files"][name]
    return torch.from_numpy(np.fromfile(folder / entry["file"], "<f4").reshape(entry["shape"]).copy())


def near(actual: torch.Tensor, expected: torch.Tensor) -> None:
    error = (actual - expected).abs().max() / expected.std()
    assert error < 1e-4, f"off by {error:.2e} standard deviations"


@pytest.fixture(scope="module")
def smollm2() -> Target:
    golden("smollm2")
    return Target(SHARED / "models/smollm2-135m-instruct", torch.float32)


@torch.no_grad()
def test_dspark_golden() -> None:
    folder = golden("dspark-tiny-speculators")
    case = json.loads((folder / "case.json").read_text())
    drafter, embedding = layout.load(folder), evaluate.load(golden("qwen3-tiny-deep")).model.embed_tokens.weight
    fused = drafter.fuse(torch.cat((tensor(folder, case, "taps"), tensor(folder, case, "taps_round2")))[None])
    for name in ("round1", "round2"):
        wanted = case["anchor_first"][name]
        at = wanted["start"]
        context = drafter.context(fused[:, :at], torch.arange(at)[None])
        # Only the anchor's place is read of the ids.
        ids = F.pad(torch.tensor([[wanted["block_ids"][0]]]), (at, 0))
        hidden = drafter.states(embedding, ids, context, torch.tensor([[at]]), 7)[0, 0]
        near(hidden, tensor(folder, case, f"hidden_anchor_first_{name}"))
        near(drafter.lm_head(hidden), tensor(folder, case, f"base_logits_anchor_first_{name}"))
        drafts = drafter.drafts(hidden, torch.tensor(wanted["block_ids"][0]))
        assert drafts.tolist() == wanted["drafts"]
        logits, confidence = drafter.scored(hidden, torch.tensor([wanted["block_ids"][0], *wanted["drafts"][:-1]]))
        near(logits, tensor(folder, case, f"corrected_logits_anchor_first_{name}"))
        near(confidence, tensor(folder, case, f"confidence_logits_anchor_first_{name}"))


@pytest.mark.parametrize(("config", "suffix"), [("config.json", ""), ("config.norm-before-residual.json", "_norm_before_residual")])
@torch.no_grad()
def test_eagle3_golden(config: str, suffix: str) -> None:
    folder = golden("eagle3-tiny-speculators")
    case = json.loads((folder / "case.json").read_text())
    drafter, target = layout.load(folder, config), evaluate.load(golden("qwen3-tiny-deep"))
    tokens = torch.tensor([case["prefill_tokens"][1:]])
    fused = drafter.fc(tensor(folder, case, "features"))
    near(fused, tensor(folder, case, "fused"))
    near(drafter.unrolled(target.model.embed_tokens(tokens), fused[None], 1)[0][0], tensor(folder, case, f"prefill_out{suffix}"))


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("kind", ["dspark", "eagle3"])
def test_a_saved_drafter_is_read_back(kind: str, normed: bool, tmp_path: Path) -> None:
    drafter = DSpark(SMALL, [1, 2, 4], 3, 8, 40, 4) if kind == "dspark" else Eagle3(SMALL, 40, normed)
    cover(drafter, torch.arange(40) + 5, torch.randn(64, 32))
    layout.save(drafter, [1, 2, 4], 7, tmp_path)
    again = layout.load(tmp_path)
    for name, value in drafter.state_dict().items():
        assert torch.allclose(again.state_dict()[name].float(), value.float(), atol=2e-3), name
    assert getattr(again, "taps", [1, 2, 4]) == [1, 2, 4]
    assert kind == "dspark" or again.midlayer.normed == normed


@pytest.mark.parametrize(("bits", "steps"), [("Q8_0", 250), ("Q4_1", 14)])
@pytest.mark.parametrize("kind", ["dspark", "eagle3"])
def test_a_gguf_drafter_is_read_back(kind: str, bits: str, steps: int, tmp_path: Path) -> None:
    drafter = DSpark(SMALL, [1, 2, 4], 3, 8, 40, 4) if kind == "dspark" else Eagle3(SMALL, 40, normed=True)
    ids = torch.arange(40) + 5
    cover(drafter, ids, torch.randn(64, 32))
    (tmp_path / "drafter.gguf").write_bytes(drafter_file.gguf(drafter, [1, 2, 4], bits))
    metadata, tensors = gguf.read(tmp_path / "drafter.gguf")
    arch = "dflash" if kind == "dspark" else "eagle3"
    assert metadata["general.architecture"] == arch
    assert metadata[f"{arch}.target_layers"] == [2, 3, 5]
    assert tensors["d2t"].tolist() == ids.tolist()
    written = {drafter_file.ggml_name(name): value for name, value in drafter.state_dict().items() if name != "t2d"}
    assert tensors.keys() == written.keys()
    for name, value in written.items():
        if name != "d2t":
            read = tensors[name]
            if kind == "eagle3" and name in ("blk.0.attn_q.weight", "blk.0.attn_k.weight"):
                read = halves(read, 2 if "attn_q" in name else 1)
            assert (read - value).abs().max() <= value.abs().max() / steps, name
    again = DSpark(SMALL, [1, 2, 4], 3, 8, 40, 4) if kind == "dspark" else Eagle3(SMALL, 40, normed=True)
    drafter_file.restore(again, tmp_path / "drafter.gguf")
    for name, value in again.state_dict().items():
        wanted = drafter.state_dict()[name]
        assert (value.float() - wanted.float()).abs().max() <= wanted.float().abs().max() / steps, name
    scale = torch.rand(96) + 0.5
    train.unfold(again, scale)
    assert torch.allclose(train.folded(again, scale).fc.weight, drafter.fc.weight, atol=5 / steps)


def test_a_new_draft_vocabulary_keeps_what_stays() -> None:
    torch.manual_seed(5)
    embedding, drafter = torch.randn(64, 32), DSpark(SMALL, [0], 3, 8, 40, 4)
    drafter.lm_head.weight.requires_grad_(False)
    cover(drafter, torch.arange(40), embedding)
    optimizer = Optimizer(drafter, 0, 1)
    for p in drafter.parameters():
        p.grad = torch.randn_like(p)
    optimizer.step(1.0)
    hidden, previous = torch.randn(3, 32), torch.tensor([1, 2, 60])
    before = drafter.scored(hidden, previous)[0]
    train.choose_again(drafter, optimizer, torch.arange(40) + 10, embedding)
    after = drafter.scored(hidden, previous)[0]
    assert torch.allclose(after[:, :30], before[:, 10:], atol=1e-5)
    assert torch.allclose(after[:, 30:], hidden @ embedding[40:50].T, atol=1e-5)
    assert optimizer.rest.state[drafter.markov_head.markov_w2.weight]["exp_avg"][30:].abs().max() == 0


def test_the_loss_has_its_own_gradient_right() -> None:
    torch.manual_seed(3)
    logits = torch.randn(7, 11, dtype=torch.float32, requires_grad=True)
    p = torch.randn(7, 13).softmax(-1)
    p, outside = p[:, :11], p[:, 11:].sum(-1)
    labels, weights = torch.tensor([3, -1, 0, 10, 5, -1, 2]), torch.rand(7)
    confidence = torch.randn(7, requires_grad=True)
    loss, accepted = dspark_loss(logits, confidence, p, outside, labels, weights)
    loss.backward()
    mine = logits.grad.clone()
    logits.grad = None
    q = logits.softmax(-1)
    distance = (q - p).abs().sum(-1) + outside
    truth = F.cross_entropy(logits, labels.clamp(min=0), reduction="none") * (labels >= 0)
    sure = F.binary_cross_entropy_with_logits(confidence, accepted, reduction="none")
    plain = (weights / weights.sum() * (TRUE * truth + DISTANCE * distance + sure)).sum()
    plain.backward()
    assert torch.allclose(loss, plain, atol=1e-6)
    assert torch.allclose(mine, logits.grad, atol=1e-6)
    assert torch.allclose(accepted, 1 - distance / 2, atol=1e-6)


@torch.no_grad()
def test_lengths_are_those_of_real_rounds() -> None:
    """One text at a time, each block with a context cut before its anchor, gives what the batched count gives."""
    torch.manual_seed(4)
    drafter = DSpark(SMALL, [0], 3, 4, 40, 4).eval()
    embedding = torch.randn(64, 32)
    cover(drafter, torch.arange(40), embedding)
    lengths = [18, 25]
    batch = Batch(
        ids=torch.randint(0, 3, (2, 25)), starts=torch.tensor([4, 9]), ends=torch.tensor([n - 1 for n in lengths]),
        taps=torch.randn(2, 25, 32), states=torch.zeros(2, 25, 32), lse=torch.zeros(2, 25),
    )  # fmt: skip
    drafter.lm_head.weight[3:] = 0
    drafter.lm_head.weight[3:, 0] = -50
    drafter.norm.weight[0] = 0  # only tokens 0, 1, 2 are drafted, so some are right
    drafter.lm_head.weight[:3] *= 3
    drafter.markov_head.markov_w2.weight[3:] = 0
    made = dspark_lengths(drafter, embedding, batch, 4)
    for text, rounds in enumerate(made):
        anchor, wanted = int(batch.starts[text]), []
        while anchor < batch.ends[text]:
            context = drafter.context(drafter.fuse(batch.taps[text : text + 1, :anchor]), torch.arange(anchor)[None])
            ids = batch.ids[text : text + 1]
            hidden = drafter.states(embedding, ids[:, : anchor + 1], context, torch.tensor([[anchor]]), 4)[0, 0]
            drafts = drafter.drafts(hidden, ids[0, anchor]).tolist()
            truth = ids[0, anchor + 1 : batch.ends[text] + 1].tolist()
            right = 0
            while right < min(len(truth), 4) and drafts[right] == truth[right]:
                right += 1
            wanted.append(min(right + 1, len(truth)))
            anchor += wanted[-1]
        assert rounds == wanted
    assert len({length for rounds in made for length in rounds}) > 1


def test_target_golden(smollm2: Target) -> None:
    folder = golden("smollm2")
    case = json.loads((folder / "case.json").read_text())
    ids = torch.tensor([case["prompts"][0]["ids"]])
    taps, hidden = smollm2.read(ids)
    near(smollm2.head(hidden)[0, -1], tensor(folder, case, "logits_first_prompt"))
    layers = tensor(folder, case, "hidden_last_position")
    near(taps[0, -1], torch.cat([layers[layer + 1] for layer in TAPS]))


def test_batched_answers_are_the_golden_ones(smollm2: Target, tmp_path: Path) -> None:
    """Five prompts in eight slots, so that slots refill and idle; states are those of one pass over the whole text."""
    case = json.loads((golden("smollm2") / "case.json").read_text())
    prompts = [prompt["ids"] for prompt in case["prompts"]]

    supply = Finite([generate.Text(str(i), list(ids), 24, greedy=True) for i, ids in enumerate(prompts)])
    generate.decode(smollm2, supply, generate.Writer(tmp_path, 0), (8, 160))
    corpus = Corpus(tmp_path, Random(0))
    assert len(corpus.texts()) == len(prompts)
    for text in corpus.texts():
        batch = corpus.batch([text])
        (chunk, i) = corpus.chunks[text[0]], text[1]
        index, start = int(chunk["kinds"][i]), int(batch.starts)
        wanted = case["prompts"][index]["greedy"][:24]
        wanted = wanted[: wanted.index(END) + 1] if END in wanted else wanted
        assert batch.ids[0, start:].tolist() == wanted
        taps, hidden = smollm2.read(batch.ids)
        assert (batch.taps[0, :-1] - taps[0, :-1]).abs().max() < 1e-3 * taps.std()
        answer = slice(start - 1, int(batch.ends))
        assert torch.allclose(batch.states[0, answer], hidden[0, answer], atol=2e-3)
        assert torch.allclose(batch.lse[0, answer], smollm2.head(hidden[0, answer]).logsumexp(-1), atol=2e-3)

    file, again = tmp_path / "answers.npz", tmp_path / "again"
    again.mkdir()
    texts.keep(tmp_path, file)
    texts.read(smollm2, file, again)
    (stored,), (read,) = corpus.chunks.values(), Corpus(again, Random(0)).chunks.values()
    for at, kind in enumerate(read["kinds"]):
        i = stored["kinds"].index(kind)
        assert read["ids"][at].tolist() == stored["ids"][i].tolist()
        assert (read["starts"][at], read["greedy"][at]) == (stored["starts"][i], stored["greedy"][i])
        for states in ("taps", "hidden", "lse"):
            assert torch.allclose(read[states][at], stored[states][i], atol=2e-3, rtol=1e-3)
    with pytest.raises(SystemExit, match="has more texts"):
        texts.keep(tmp_path / "empty", file)

    wave = gpu.wave(smollm2, prompts, [0.0] * len(prompts), 24, float("inf"))
    assert sorted(prompt + answer for prompt, answer in zip(prompts, wave, strict=True)) == sorted(
        corpus.chunks[name]["ids"][i].tolist() for name, i in corpus.texts()
    )
    kept = gpu.Texts(smollm2, [file])
    batch = kept.batch(kept.usable)
    for row, i in enumerate(kept.usable):
        (at,) = [at for at, kind in enumerate(stored["kinds"]) if kind == kept.kinds[i]]
        answer = slice(int(batch.starts[row]) - 1, int(batch.ends[row]))
        assert batch.ids[row, : batch.ends[row] + 1].tolist() == stored["ids"][at].tolist()
        assert torch.allclose(batch.taps[row, : batch.ends[row]], stored["taps"][at], atol=2e-3, rtol=1e-3)
        assert torch.allclose(batch.states[row, answer], stored["hidden"][at], atol=2e-3, rtol=1e-3)
        assert torch.allclose(batch.lse[row, answer], stored["lse"][at], atol=2e-3)


def test_answers_that_come_during_a_run_are_taken_in(tmp_path: Path) -> None:
    def write(name: str, answers: list[list[int]]) -> None:
        kept = gpu.Kept()
        for answer in answers:
            kept.add("chat", [1, 2], answer, greedy=True)
        kept.write(tmp_path / name)

    write("answers-1-0.npz", [[5, 6, 7, 8]])
    found = gpu.Texts(None, [tmp_path / "absent.npz", tmp_path])
    assert (found.lengths.tolist(), found.answer_tokens()) == ([6], 4)
    write("answers-0-0.npz", [[9, 9, 9], [3]])
    (tmp_path / "answers-0-1.new").write_bytes(b"half a file")
    assert found.refresh()
    assert (sorted(found.lengths.tolist()), found.answer_tokens()) == ([3, 5, 6], 8)
    assert found.flat.tolist() == [1, 2, 9, 9, 9, 1, 2, 3, 1, 2, 5, 6, 7, 8]
    assert found.usable.tolist() == [0, 2]


def test_answers_of_a_wave_end_where_others_do() -> None:
    rng, rows = Random(3), []
    for i in range(60):
        ids = [rng.randrange(3, 40) for _ in range(rng.randrange(1, 150))]
        part = ids[-rng.randrange(1, 34) :]
        ids += [END] if i % 3 == 0 else part * (200 // len(part))
        rows.append((ids + [rng.randrange(3, 40) for _ in range(256)])[:256])
    for row, length in zip(rows, gpu.ends(torch.tensor(rows)).tolist(), strict=True):
        text = generate.Text("", [], 256)
        while not text.over():
            text.ids.append(row[len(text.ids)])
        assert length == len(text.ids)


def test_answers_that_have_ended_leave_a_wave(smollm2: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = tokenizer_of(SHARED / "models/smollm2-135m-instruct")
    asked = ["Hi", "What is the capital of France?", "List the planets.", "Write a story about a fox."]
    prompts = [tokenizer.encode(chat(each), add_special_tokens=False).ids for each in asked]
    left: list[int] = []
    keep = Cache.keep
    monkeypatch.setattr(Cache, "keep", lambda cache, slots: (left.append(len(slots)), keep(cache, slots)))
    together = gpu.wave(smollm2, prompts, [0.0] * 4, 64, float("inf"))
    assert left[-1] < 4 and len({len(answer) for answer in together}) > 1
    assert together == [gpu.wave(smollm2, [prompt], [0.0], 64, float("inf"))[0] for prompt in prompts]


def test_documents_ask_for_summaries_and_for_what_an_article_answers() -> None:
    authors = gpu.Authors.__new__(gpu.Authors)
    authors.rng = Random(1)
    articles = [(f"Question {i}?", f"Article {i}.") for i in range(6)]
    asked = authors.documents(articles, 140)
    kinds = [kind for kind, _, _ in asked]
    assert (kinds.count("retrieval"), kinds.count("summary")) == (60, 80)
    for kind, message, _ in asked:
        *lines, question = message.splitlines()
        if kind == "retrieval":
            assert question.replace("Question", "Article").replace("?", ".") in lines and 1 <= len(lines) <= 4
        else:
            assert message.startswith("Summarize: Article")


def test_evaluation_prompts_are_refused() -> None:
    evaluation = Evaluation(
        iter(["Who played Anna?", "Ten pens cost three dollars each, so how much do seven pens and a book cost?"])
    )
    assert evaluation.holds("who played anna")
    assert evaluation.holds("Please: ten pens cost three dollars each, so how much do seven")
    assert not evaluation.holds("Who played Anna in the first film?")
    assert not evaluation.holds("Ten pens cost three dollars each. How much do seven cost?")
    assert not evaluation.holds("")


def test_a_loop_ends_an_answer() -> None:
    assert generate.loops([1, 2, 3] * 30)
    assert not generate.loops([1, 2, 3] * 20)
    assert not generate.loops([*range(40), *range(40), 9])
