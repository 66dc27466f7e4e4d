"""The tokenizer: byte-level BPE, 512 entries, digits single, a blank line always one token.

    python -m bundled.vocabulary OUT_DIR      (from training/; writes tokenizer.json and tokenizer_config.json)

Splitting is by one regular expression, not by the `Digits` pre-tokenizer: transformers.js reads that one
as ASCII digits only, and then disagrees with Python on every other script.
"""

import argparse
import json
from itertools import islice
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .task import problems

SPECIALS = ["<pad>", "<bos>", "<eos>", "<user>", "<assistant>", "<mask>"]
PAD, BOS, EOS, USER, ASSISTANT, MASK = range(6)
SIZE = 512
# A blank line; one digit; a word with its space; other signs with theirs; one white space.
PATTERN = r"\n\n|\p{N}| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s"

# A system message has no token of its own: it opens the first user turn, followed by a blank line.
CHAT_TEMPLATE = (
    "{{ '<bos>' }}"
    "{% set ns = namespace(system='') %}"
    "{% for message in messages %}"
    "{% if message['role'] == 'system' %}"
    "{% set ns.system = ns.system + message['content'] + '\n\n' %}"
    "{% elif message['role'] == 'user' %}"
    "{{ '<user>' + ns.system + message['content'] }}"
    "{% set ns.system = '' %}"
    "{% elif message['role'] == 'assistant' %}"
    "{{ '<assistant>' + message['content'] + '<eos>' }}"
    "{% else %}"
    "{{ raise_exception('unknown role ' + message['role']) }}"
    "{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)

CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_max_length": 1024,
    "bos_token": "<bos>",
    "eos_token": "<eos>",
    "pad_token": "<pad>",
    "mask_token": "<mask>",
    "additional_special_tokens": ["<user>", "<assistant>"],
    "add_bos_token": False,
    "add_eos_token": False,
    "clean_up_tokenization_spaces": False,
    "chat_template": CHAT_TEMPLATE,
}


def train(samples: int = 30_000, seed: int = 7) -> Tokenizer:
    """Learns the merges on training problems."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = (f"{p.question}\n\n{p.answer}" for p in islice(problems(seed, held_out=False), samples))
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def write(folder: Path, tokenizer: Tokenizer) -> None:
    """Writes the two files that Hugging Face loaders read."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")


def load(folder: Path) -> Tokenizer:
    return Tokenizer.from_file(str(folder / "tokenizer.json"))


def prompt_ids(tokenizer: Tokenizer, question: str) -> list[int]:
    """The ids that a single question's chat prompt has."""
    return [BOS, USER, *tokenizer.encode(question).ids, ASSISTANT]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    write(folder, train())
