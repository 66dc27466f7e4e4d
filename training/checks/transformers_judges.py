"""Loads the bundled router with `Qwen3ForTokenClassification`, the reward model's body with `Qwen3Model`: the same scores as here.

python checks/transformers_judges.py ../public/models [COUNT]      (from training/)
"""

import sys
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import Qwen3ForTokenClassification, Qwen3Model

sys.path.insert(0, str(Path(__file__).parent.parent))
from bundled import vocabulary
from routers import steps
from routers.judge import Judge


def load(folder: Path, classes: int) -> Judge:
    judge = Judge(classes)
    judge.load_state_dict({name: value.float() for name, value in load_file(folder / "model.safetensors").items()})
    return judge.eval()


@torch.no_grad()
def main() -> None:
    models, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20
    texts = [one.prompt + one.reference[0] for one in steps.held_out(vocabulary.load(models / "target"), count)]
    options = {"dtype": torch.float32, "output_loading_info": True}
    router, told = Qwen3ForTokenClassification.from_pretrained(models / "router", **options)
    body, told_prm = Qwen3Model.from_pretrained(models / "prm", **options)
    own_router, own_prm = load(models / "router", 2), load(models / "prm", 0)
    worst = [0.0, 0.0]
    for text in texts:
        ids = torch.tensor([text])
        reward = own_prm.judge(body(ids).last_hidden_state)
        pairs = [(router(ids).logits, own_router.judge(own_router.hidden(ids))), (reward, own_prm.judge(own_prm.hidden(ids)))]
        worst = [max(w, ((a - b).abs().max() / b.std()).item()) for w, (a, b) in zip(worst, pairs, strict=True)]
    for name, report in (("router", told), ("prm", told_prm)):
        print(name, {key: sorted(value) for key, value in report.items() if value})
    print(f"{count} texts: largest difference in standard deviations: router {worst[0]:.1e}, prm {worst[1]:.1e}")
    raise SystemExit(max(worst) > 1e-3)


if __name__ == "__main__":
    main()
