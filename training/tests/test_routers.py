"""Step data, packed rows, judges, their ONNX file and the simulation of routing."""

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from bundled import evaluate, vocabulary
from bundled.model import greedy
from bundled.task import HARD
from routers import onnx_file, steps
from routers.curves import EVERY, NONE, area, least
from routers.decode import BREAK, confirm_steps, write_steps
from routers.export import export
from routers.head import HEADS, read, scored
from routers.judge import Judge, auc, from_judge, from_language_model, load_judge, shorter
from routers.likelihood import doubts
from routers.prm import rewards
from routers.router import Recipe, gains, label, labelled, predict, spearman, tokens_of
from routers.rows import NOTES, Judged, Row, collate, pack
from routers.simulate import Contexts, Scores, annotated, rules, simulate

MODELS = Path(__file__).parent.parent.parent / "public" / "models"


@pytest.fixture(scope="module")
def tokenizer():
    return vocabulary.load(MODELS / "target")


@pytest.fixture(scope="module")
def records(tokenizer) -> list[steps.Record]:
    """Eight training problems with every candidate; the draft errs in some."""
    torch.set_num_threads(1)
    made = steps.fresh(tokenizer, 8, seed=5)
    steps.fill(MODELS, made, seed=5, samples=2)
    return made


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Far from trained, but with a head that tells texts apart."""
    torch.manual_seed(3)
    made = from_language_model(MODELS / "mid").eval()
    torch.nn.init.normal_(made.top.weight, std=0.3)
    return made


def test_notes_and_break_are_the_tokenizers(tokenizer) -> None:
    assert tokenizer.encode("Model 0: ").ids == NOTES["d"]
    assert tokenizer.encode("Model 1: ").ids == NOTES["t"]
    assert tokenizer.encode("a\n\nb").ids[1] == BREAK


def test_reference_steps_are_the_answer(tokenizer) -> None:
    for problem in evaluate.held_out(50):
        one = steps.record(tokenizer, problem["question"], problem["answer"])
        assert [*tokenizer.encode(problem["answer"]).ids, vocabulary.EOS] == [*chain.from_iterable(one.reference)]
        assert len(one.reference) == problem["steps"] + 1


def test_steps_equal_plain_decoding(tokenizer) -> None:
    draft = evaluate.load(MODELS / "draft")
    prompts = [vocabulary.prompt_ids(tokenizer, p["question"]) for p in evaluate.held_out(30)]
    whole = greedy(draft, prompts, vocabulary.EOS, vocabulary.PAD)
    for written, answer in zip(write_steps(draft, prompts, batch=7), whole, strict=True):
        first = answer.index(BREAK) + 1 if BREAK in answer else len(answer)
        assert written.ids == answer[:first]
        assert max(written.logprobs) <= 0
    for guess in ([], [BREAK]):
        assert [s.ids for s in write_steps(draft, prompts)] == confirm_steps(draft, prompts, [guess or a[:9] for a in whole])


def test_candidates_are_what_each_model_writes(records) -> None:
    draft, target = evaluate.load(MODELS / "draft"), evaluate.load(MODELS / "target")
    for one in records:
        before = [one.before(number) for number in range(len(one.kept))]
        assert [c.draft[0] for c in one.contexts] == [w.ids for w in write_steps(draft, before)]
        assert [c.target[0] for c in one.contexts] == [w.ids for w in write_steps(target, before)]
        assert all(len(c.target) == 3 for c in one.contexts)
        assert one.ended


def test_on_harder_problems_the_targets_own_step_is_kept(tokenizer) -> None:
    target, made = evaluate.load(MODELS / "target"), steps.fresh(tokenizer, 12, 8, HARD)
    steps.fill(MODELS, made, seed=8, samples=0, level="hard")
    kept = [(one, number) for one in made for number, by in enumerate(one.by) if by == "t"]
    said = write_steps(target, [one.before(number) for one, number in kept])
    assert [one.kept[number] for one, number in kept] == [w.ids for w in said]
    assert not all(one.right(number, one.kept[number]) for one, number in kept)


def test_a_step_too_many_is_wrong(records) -> None:
    one = records[0]
    assert one.right(0, one.reference[0])
    assert not one.right(1, one.reference[0])
    assert not one.right(len(one.reference), one.reference[-1])


def test_files_round_trip(records, tmp_path) -> None:
    steps.save(records, tmp_path / "steps.jsonl")
    assert steps.load(tmp_path / "steps.jsonl") == records


def test_one_packed_pass_equals_each_text_alone(records, judge) -> None:
    for one, judged in rewards(judge, records):
        for j, value in judged:
            context = one.contexts[j.number]
            candidates = {"kept": [one.kept[j.number]], "greedy": context.draft[:1], "sampled": context.draft[1:]}
            texts = [one.before(j.number) + step for step in candidates.get(j.kind, context.target)]
            alone = [judge.judge(judge.hidden(torch.tensor([text])))[0, -1, 0].sigmoid().item() for text in texts]
            assert min(abs(value - other) for other in alone) < 1e-4


@pytest.mark.parametrize("name", HEADS)
def test_a_head_judges_a_packed_step_as_it_judges_the_text_alone(records, name) -> None:
    draft, rows = evaluate.load(MODELS / "draft"), labelled(records, gains(records, None), False)
    torch.manual_seed(4)
    head = HEADS[name](read(draft, collate(rows[:1])).shape[-1])
    torch.nn.init.normal_(head.top.weight)
    for j, value in scored(draft, rows, head):
        context = records[j.group].contexts[j.number]
        step = context.draft[j.kind == "sampled"]
        text = records[j.group].before(j.number) + step
        row = Row(text, [*range(len(text))], [], [], trunk=len(text))
        row.judged = [Judged(len(text) - 1, j.number, j.kind, j.right, len(step))]
        [(_, alone)] = scored(draft, [row], head)
        assert abs(alone - value) < 1e-3
        said = read(draft, collate([row]))[0, len(text) - len(step) : len(text), -1]
        assert np.allclose(said, np.maximum(context.logprobs[j.kind == "sampled"], -12), atol=1e-3)


def test_annotated_rows_read_what_a_run_reads(records, judge) -> None:
    router = from_judge(judge.state_dict(), 2).eval()
    problems = [r for r in records if "t" in r.by and "d" in r.by]
    assert problems
    scores = Scores(router)
    for one in problems:
        for j, p in predict(router, labelled([one], gains([one], None), True)):
            run = type("Run", (), {"problem": one, "kept": one.kept[: j.number], "by": one.by[: j.number]})()
            text = annotated(run, one.contexts[j.number].draft[j.kind == "sampled"])
            scores.ensure({text})
            assert abs(scores.known[text] - p) < 1e-4


def test_labels_of_rows(records) -> None:
    """Where the language model's loss applies, the label is the reference's next token."""
    for one in records:
        row = pack(one)
        batch = collate([row])
        assert batch.mask.shape[-1] == batch.ids.shape[-1]
        reference = [*one.prompt, *chain.from_iterable(one.reference)]
        for index, (position, wanted) in enumerate(zip(row.positions, row.lm, strict=True)):
            if wanted >= 0:
                assert reference[position + 1] == wanted
                assert row.ids[index] == reference[position]
        assert all(row.so_far[j.index] == int(j.right) for j in row.judged)


def test_gains_and_labels(records) -> None:
    for one, gained in zip(records, gains(records, None), strict=True):
        for (number, kind), gain in gained.items():
            context = one.contexts[number]
            right = [one.right(number, step) for step in context.target]
            assert gain == pytest.approx(sum(right) / 3 - one.right(number, context.draft[kind == "sampled"]))
    assert [label(g, Recipe(classes=4)) for g in (-1, 0, 0.2, 0.5, 1)] == [0, 0, 1, 2, 3]
    assert [label(g, Recipe(margin=0.3)) for g in (0, 0.2, 0.4)] == [0, 0, 1]


def test_every_token_from_the_first_wrong_one_on_has_its_steps_label(records) -> None:
    rows = labelled(records, gains(records, None), annotated=False)
    batch = collate(rows)
    labels = tokens_of(batch, batch.judged, Recipe())
    mixed = 0
    for r, j in batch.judged:
        context = records[r].contexts[j.number]
        step = context.draft[j.kind == "sampled"]
        assert rows[r].ids[j.index - j.length + 1 : j.index + 1] == step
        reference = records[r].reference[j.number] if j.number < len(records[r].reference) else []
        same = next((i for i, (a, b) in enumerate(zip(step, reference, strict=False)) if a != b), min(len(step), len(reference)))
        told = [labels[r, i] for i in range(j.index - j.length + 1, j.index + 1)]
        assert told == [0] * same + [int(j.gain > 0)] * (len(step) - same)
        mixed += len(set(told)) > 1
    assert mixed > 0


def test_a_router_begins_as_its_reward_model(records, judge) -> None:
    router = from_judge(judge.state_dict(), 2).eval()
    reward = {(j.group, j.number): v for i, (_, js) in enumerate(rewards(judge, records)) for j, v in js if j.kind == "greedy"}
    found = predict(router, labelled(records, gains(records, None), False))
    for j, p in found:
        if j.kind == "greedy":
            assert p == pytest.approx(1 - reward[j.group, j.number], abs=1e-4)


def test_a_router_of_any_width_begins_as_a_language_model(tmp_path) -> None:
    """The added layer does nothing yet; from_judge finds the sizes in the weights."""
    draft = evaluate.load(MODELS / "draft")
    router = from_judge(from_language_model(MODELS / "draft", 2).state_dict(), 2).eval()
    assert router.sizes == replace(draft.sizes, layers=draft.sizes.layers + 1)
    ids = torch.tensor([[1, 3, 50, 84, 73, 4]])
    assert torch.equal(router.head(router.hidden(ids)), draft.head(draft.hidden(ids)))


def test_the_draft_doubts_its_steps_as_it_wrote_them(records) -> None:
    for j, doubt in doubts(evaluate.load(MODELS / "draft"), labelled(records, gains(records, None), False)):
        if j.kind == "greedy":
            assert doubt == pytest.approx(-min(records[j.group].contexts[j.number].logprobs[0]), abs=1e-3)


def test_a_judge_is_read_back_from_its_export(judge, tmp_path) -> None:
    """From the folder and from a training checkpoint: the same, but for the rounding to f16. One of two layers."""
    router = from_judge(shorter(judge.state_dict(), [0, 4]), 2)
    kept = [router.state_dict()[f"model.layers.{i}.mlp.up_proj.weight"] for i in range(2)]
    assert all(torch.equal(mine, judge.model.layers[i].mlp.up_proj.weight) for mine, i in zip(kept, (0, 4), strict=True))
    export(router, {"annotated": True}, MODELS / "target", tmp_path / "router", {})
    torch.save({"model": router.state_dict(), "recipe": {"annotated": True, "classes": 2}}, tmp_path / "router.pt")
    for path, round_trip in (
        (tmp_path / "router", lambda value: value.half().float()),
        (tmp_path / "router.pt", lambda value: value),
    ):
        read, recipe = load_judge(path)
        assert (read.classes, read.sizes.layers) == (2, 2)
        assert recipe["annotated"]
        for name, value in router.state_dict().items():
            assert torch.equal(read.state_dict()[name], round_trip(value))
    assert load_judge(MODELS / "prm")[0].classes == 0


def test_statistics() -> None:
    assert auc(np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1])) == pytest.approx(0.75)
    assert auc(np.array([1.0, 1.0]), np.array([0, 1])) == 0.5
    assert spearman(np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 40, 30])) == pytest.approx(0.8)
    line = [{"escalated": x, "accuracy": y} for x, y in ((0, 0.2), (0.5, 0.6), (1, 0.6))]
    assert least(line, 0.4, "escalated") == pytest.approx(0.25)
    assert least(line, 0.7, "escalated") is None
    assert area(line) == pytest.approx(0.5, abs=1e-3)


def test_onnx_file_is_the_rounded_judge(judge, records, tmp_path) -> None:
    """The file equals the judge whose matrices are rounded as the file's are; padding on the left changes nothing."""
    router = from_judge(judge.state_dict(), 2).eval()
    onnx_file.export(router, tmp_path / "model.onnx")
    for name, value in router.state_dict().items():
        if value.ndim == 2 and name != "score.weight":
            whole, scale = onnx_file.whole_numbers(value.numpy(), 0)
            value.copy_(torch.from_numpy(whole * scale))
    plain = onnxruntime.SessionOptions()  # its optimizer would fuse matrices into kernels that round further
    plain.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx", plain)
    text = records[0].before(2)
    wanted = router.judge(router.hidden(torch.tensor([text])))[0].detach().numpy()
    for padding in (0, 5):
        ids = np.array([[vocabulary.PAD] * padding + text])
        mask = (np.arange(ids.shape[1]) >= padding).astype(np.int64)[None]
        (logits,) = session.run(None, {"input_ids": ids, "attention_mask": mask})
        assert np.abs(logits[0, padding:] - wanted).max() < 1e-3 * wanted.std()


def test_lower_thresholds_escalate_the_steps_of_higher_ones_too(records) -> None:
    """Chance belongs to the step, not to the threshold."""
    random, *_ = rules(None, None, "prompt")
    contexts = Contexts(MODELS / "draft", MODELS / "target")
    few, many = simulate(contexts, [steps.Record(r.prompt, r.reference) for r in records], [(random, 0.7), (random, 0.2)])
    assert sum(run.by.count("t") for run in few) > 0
    for one, other in zip(few, many, strict=True):
        assert all(b == "t" for a, b in zip(one.by, other.by, strict=False) if a == "t")


def test_simulated_ends_are_the_models_own_answers(tokenizer, tmp_path) -> None:
    problems = steps.held_out(tokenizer, 24)
    told = evaluate.held_out(24)
    contexts = Contexts(MODELS / "draft", MODELS / "target", tmp_path / "contexts.jsonl")
    random, least_probable, wrong, truth = rules(None, None, "prompt")
    runs = simulate(contexts, problems, [(random, NONE), (random, EVERY), (truth, 0.0), (least_probable, 0.1), (wrong, 0.0)])
    for name, mine in (("draft", runs[0]), ("target", runs[1])):
        model = contexts.draft if name == "draft" else contexts.target
        texts = evaluate.answers(model, tokenizer, told)
        assert [run.solved for run in mine] == [
            t.endswith(f"The answer is {p['result']}.") for t, p in zip(texts, told, strict=True)
        ]
    assert sum(run.solved for run in runs[2]) >= sum(run.solved for run in runs[1]) - 1
    assert all(run.useless == 0 for run in runs[2])
    assert sum(run.by.count("t") for run in runs[2]) <= sum(run.by.count("t") for run in runs[4])
    assert Contexts(MODELS / "draft", MODELS / "target", tmp_path / "contexts.jsonl").known == contexts.known
