"""The drafters: golden outputs of the authors' code, and the packed passes against the step-by-step loops."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from shared import golden

from bundled import evaluate, vocabulary
from bundled.model import SIZES, LanguageModel, Sizes
from drafters import load, measure
from drafters.answers import read
from drafters.decode import EagleCache, Verifier, block_drafts, dflash_run, draft_tree, eagle_run
from drafters.dflash import DFlash, before, block_logits
from drafters.eagle import Eagle3
from drafters.losses import SOFTENING, d_pace
from drafters.train import widen

SMALL = {"width": 32, "heads": 2, "kv_heads": 1, "head_dim": 16, "ffn": 48, "vocabulary": 64}


def tensor(folder: Path, case: dict, name: str) -> torch.Tensor:
    entry = case["files"][name]
    return torch.from_numpy(np.fromfile(folder / entry["file"], "<f4").reshape(entry["shape"]).copy())


def near(actual: torch.Tensor, expected: torch.Tensor) -> None:
    error = (actual - expected).abs().max() / expected.std()
    assert error < 1e-4, f"off by {error:.2e} standard deviations"


@pytest.mark.parametrize("name", ["dflash-tiny", "dflash-tiny-good"])
@torch.no_grad()
def test_dflash_golden(name: str) -> None:
    folder = golden(name)
    case = json.loads((folder / "case.json").read_text())
    target, drafter = evaluate.load(golden("qwen3-tiny-deep")), load.dflash(folder)
    prefix, first = case["prefix"], case["round1"]
    verifier = Verifier(target)
    states, _ = verifier.feed(prefix)
    verifier.keep(list(range(len(prefix))))
    near(drafter.tapped(states)[0], tensor(folder, case, "taps"))
    fused = drafter.fuse(drafter.tapped(states))
    near(fused[0], tensor(folder, case, "fused"))
    context = drafter.context(fused, torch.arange(len(prefix))[None])
    for block, wanted in ((8, "draft_logits_round1"), (4, "draft_logits_block4")):
        made = block_drafts(drafter, target, context, first["block_ids"][0], len(prefix), block)
        near(made, tensor(folder, case, wanted))
    for run in case["runs"]:
        made = dflash_run(target, drafter, prefix, run["block_size"], len(run["tokens"]), None)
        assert made.tokens == run["tokens"]
        assert made.drafts == run["drafts"]
        assert made.lengths == run["acceptance_lengths"]


@pytest.mark.parametrize("name", ["eagle3-tiny", "eagle3-tiny-good"])
@torch.no_grad()
def test_eagle3_golden(name: str) -> None:
    folder = golden(name)
    case = json.loads((folder / "case.json").read_text())
    target, drafter = evaluate.load(golden("qwen3-tiny-deep")), load.eagle3(folder)
    prefix = case["prefix"]
    verifier = Verifier(target)
    states, chosen = verifier.feed(prefix)
    near(drafter.features(states)[0], tensor(folder, case, "features"))
    fused = drafter.fc(drafter.features(states))
    near(fused[0], tensor(folder, case, "fused"))
    rows = EagleCache(target, drafter)
    outs = rows.extend([*prefix[1:], chosen[-1]], fused)
    near(outs[0], tensor(folder, case, "prefill_out"))
    wanted = case["tree_draft"]
    tree = draft_tree(rows, outs[:, -1:], chosen[-1], wanted["width"], wanted["levels"], len(wanted["tokens"]) - 1)
    assert tree.tokens == wanted["tokens"]
    assert tree.parents == wanted["parents"]
    assert tree.depths == wanted["depth"]
    assert np.allclose(tree.scores, wanted["cumulative_logprob"], atol=1e-4)
    chain = tensor(folder, case, "chain_logits")
    out, tokens = outs[:, -1:], case["chain"]["drafts"]
    for step, position in enumerate(case["chain"]["positions"]):
        near(drafter.logits(out)[0, 0], chain[step])
        own = torch.ones(1, step + 1, dtype=torch.bool)
        out = rows.step([tokens[step]], out, torch.tensor([position + 1]), own, rows.rows)
    for run in case["runs"]:
        depth = run["draft_depth"]
        made = eagle_run(target, drafter, prefix, (1, depth, depth), len(run["tokens"]), None)
        assert (made.tokens, made.drafts, made.lengths) == (run["tokens"], run["drafts"], run["acceptance_lengths"])


@pytest.fixture
def target() -> LanguageModel:
    torch.manual_seed(3)
    model = LanguageModel(Sizes(layers=6, **SMALL))
    model.model.embed_tokens.weight.data.normal_()
    return model.eval()


@torch.no_grad()
def test_packed_blocks_equal_single_blocks(target: LanguageModel) -> None:
    """Each block of a packed pass gives what it gives alone, from a cache cut before its anchor."""
    torch.manual_seed(4)
    drafter = DFlash(Sizes(layers=2, **SMALL), [1, 3, 5], 5, 8).eval()
    ids = torch.randint(6, 64, (2, 40))
    states = target.states(ids)
    rows = torch.arange(40)[None].expand(2, -1)
    context = drafter.context(drafter.fuse(drafter.tapped(states)), rows)
    anchors = torch.tensor([[12, 30, 13, 39], [5, 20, 21, 38]])
    packed = block_logits(drafter, target, ids, context, anchors, 6)
    for text in range(2):
        for index, anchor in enumerate(anchors[text].tolist()):
            before = [(k[text : text + 1, :, :anchor], v[text : text + 1, :, :anchor]) for k, v in context]
            alone = block_drafts(drafter, target, before, int(ids[text, anchor]), anchor, 6)
            assert torch.allclose(packed[text, index], alone, atol=1e-4)


def test_a_block_sees_the_rows_before_its_anchor() -> None:
    assert before(torch.tensor([[2, 3]]), 4)[0].int().tolist() == [[1, 1, 0, 0], [1, 1, 1, 0]]


@torch.no_grad()
def test_widening_changes_nothing(target: LanguageModel) -> None:
    narrow = DFlash(Sizes(layers=2, **SMALL), [1, 3, 5], 5, 8).eval()
    wide = DFlash(Sizes(layers=2, **{**SMALL, "ffn": 80}), [1, 3, 5], 5, 8).eval()
    widen(narrow, wide)
    ids = torch.randint(6, 64, (1, 30))
    states = target.states(ids)

    def logits(drafter: DFlash) -> torch.Tensor:
        context = drafter.context(drafter.fuse(drafter.tapped(states)), torch.arange(30)[None])
        return block_logits(drafter, target, ids, context, torch.tensor([[12, 20]]), 8)

    assert torch.allclose(logits(narrow), logits(wide), atol=1e-5)


@torch.no_grad()
def test_unrolled_chains_equal_single_chains(target: LanguageModel) -> None:
    """Every chain inside the training-time test gives what it gives when its rows are drafted one by one."""
    torch.manual_seed(5)
    drafter = Eagle3(Sizes(layers=1, **SMALL), 64).eval()
    drafter.cover(torch.arange(64))
    ids = torch.randint(6, 64, (1, 24))
    fused = drafter.fc(drafter.features(target.states(ids)))
    made = drafter.unrolled(target.model.embed_tokens(ids.roll(-1, dims=1)), fused, 5)
    for root in (3, 10, 17):
        rows = EagleCache(target, drafter)
        out = rows.extend(ids[0, 1 : root + 2].tolist(), fused[:, : root + 1])[:, -1:]
        for step in range(5):
            assert torch.allclose(made[step][0, root + step], out[0, 0], atol=1e-4)
            own = torch.ones(1, step + 1, dtype=torch.bool)
            token = int(ids[0, root + step + 2])
            out = rows.step([token], out, torch.tensor([root + step + 1]), own, rows.rows)


def test_d_pace_is_the_derivative_of_the_expected_length() -> None:
    q = torch.rand(3, 7, dtype=torch.float64)
    valid = torch.ones_like(q)
    valid[1, 4:] = 0
    soft = (((1 - SOFTENING) * q + SOFTENING).log()).requires_grad_()
    (soft.exp().cumprod(-1) * valid).sum().backward()
    assert torch.allclose(d_pace(q, valid), soft.grad)


MODELS = Path(__file__).parent.parent.parent / "public" / "models"


@pytest.fixture(scope="module")
def texts() -> tuple[LanguageModel, list[list[int]], list[int]]:
    target, tokenizer = evaluate.load(MODELS / "target"), vocabulary.load(MODELS / "target")
    prompts = [vocabulary.prompt_ids(tokenizer, p["question"]) for p in evaluate.held_out(4)]
    answers = evaluate.greedy_ids(target, prompts)
    return target, [[*p, *a, vocabulary.EOS] for p, a in zip(prompts, answers, strict=True)], [len(p) for p in prompts]


@pytest.mark.parametrize("block", [1, 6, 16])
def test_dflash_lengths_need_no_verification(texts, block: int) -> None:
    """The bundled drafter: what `measure` counts is what the real loop commits, and its tokens are the target's."""
    target, whole, prompts = texts
    drafter = load.dflash(MODELS / "dflash")
    made = measure.dflash_lengths(target, drafter, measure.whole(target, whole, prompts), block)
    for text, start, lengths in zip(whole, prompts, made, strict=True):
        run = dflash_run(target, drafter, text[:start], block, 400, vocabulary.EOS)
        assert run.tokens == text[start:]
        assert run.lengths == lengths


def test_eagle3_lengths_need_no_verification(texts) -> None:
    target, whole, prompts = texts
    drafter = load.eagle3(MODELS / "eagle3")
    made = measure.eagle_lengths(target, drafter, measure.whole(target, whole, prompts), 5)
    for text, start, lengths in zip(whole, prompts, made, strict=True):
        chain = eagle_run(target, drafter, text[:start], (1, 5, 5), 400, vocabulary.EOS)
        tree = eagle_run(target, drafter, text[:start], (4, 5, 15), 400, vocabulary.EOS)
        assert chain.tokens == tree.tokens == text[start:]
        assert chain.lengths == lengths


def test_a_row_ends_where_the_target_disagrees() -> None:
    torch.manual_seed(6)
    target = LanguageModel(SIZES["draft"]).eval()
    batch = read(target, [[1, 3, 9, 4, 20, 21, 22, 2]], [4], torch.float32)
    own = target.head(target.hidden(torch.tensor([[1, 3, 9, 4]])))[0, -1].argmax().item()
    assert own != 20
    assert batch.starts.tolist() == batch.ends.tolist() == [4]
    assert batch.ids[0, 4].item() == own
