"""Writes strings, their ids and rendered chats as Python sees them, for transformers-js.mjs to compare.

python checks/reference_ids.py ../public/models/target OUT.json      (from training/)
"""

import json
import sys
from itertools import islice
from pathlib import Path
from random import Random

from transformers import AutoTokenizer

sys.path.insert(0, str(Path(__file__).parent.parent))
from bundled.task import problems

HARD = [
    "",
    " ",
    "\n",
    "\n\n",
    "\n\n\n",
    " \n\n ",
    "a\n\nb\n\n\n\nc",
    "\r\n\r\n",
    "\ttab",
    "don't stop",
    "x=1;y=[2,3]",
    "1234567890",
    "٣٤٥ ०१२ 𝟙𝟚 ²½ Ⅷ",
    "naïve café",
    "日本語のテキスト",
    "한국어",
    "😀👩‍👩‍👧‍👦 🇫🇷",
    "e\u0301 vs é",
    "\u00a0nbsp\u2003em\u3000ideographic",
    "a\u200bb\ufeffc",
    "<user>hi<assistant>there<eos>",
    "< user >",
    "<pad><bos><eos><user><assistant><mask>",
    "two  spaces   three",
    "trailing ",
]


def strings() -> list[str]:
    rng = Random(11)
    made = list(HARD)
    for problem in islice(problems(12, held_out=True), 100):
        made += [problem.question, problem.answer]
    for _ in range(300):
        wide = [rng.randrange(32, 127), rng.randrange(1, 0x600), rng.randrange(1, 0xD800), rng.randrange(0xE000, 0x110000)]
        made.append("".join(chr(rng.choice([*wide, 10, 32, 49])) for _ in range(rng.randint(1, 40))))
    return made


def chats() -> list[list[dict]]:
    user, reply, system = ({"role": r, "content": c} for r, c in (("user", "Q 1?"), ("assistant", "A 2."), ("system", "Be short.")))
    return [[user], [user, reply], [user, reply, user], [system, user], [system, user, reply, user]]


def main() -> None:
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
    rows = []
    for text in strings():
        ids = tokenizer.encode(text, add_special_tokens=False)
        back = tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        assert back == text, text
        rows.append({"text": text, "ids": ids})
    rendered = []
    for chat in chats():
        ask = chat[-1]["role"] == "user"
        text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=ask)
        ids = tokenizer.encode(text, add_special_tokens=False)
        rendered.append({"chat": chat, "ask": ask, "text": text, "ids": ids})
    Path(sys.argv[2]).write_text(json.dumps({"rows": rows, "chats": rendered}))
    print(f"{len(rows)} strings and {len(rendered)} chats; Python round-trips them all")


if __name__ == "__main__":
    main()
