"""Loads an export with `Qwen3ForCausalLM` and compares its greedy text with this folder's own model.

python checks/transformers_greedy.py ../public/models/target [COUNT]      (from training/)
"""

import sys
from pathlib import Path

import torch
from transformers import AutoTokenizer, Qwen3ForCausalLM

sys.path.insert(0, str(Path(__file__).parent.parent))
from bundled import evaluate, vocabulary


def main() -> None:
    folder, count = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 24
    problems = evaluate.held_out(count)
    theirs, report = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    own = evaluate.answers(evaluate.load(folder), vocabulary.load(folder), problems)
    same = 0
    for problem, mine in zip(problems, own, strict=True):
        chat = [{"role": "user", "content": problem["question"]}]
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        prompt = tokenizer(text, add_special_tokens=False, return_tensors="pt")
        made = theirs.generate(**prompt, max_new_tokens=260)[0, prompt["input_ids"].shape[1] :]
        same += tokenizer.decode(made, skip_special_tokens=True) == mine
    print({key: sorted(value) for key, value in report.items() if value})
    print(f"{folder.name}: {same} of {count} greedy texts equal")
    raise SystemExit(same != count)


if __name__ == "__main__":
    main()
