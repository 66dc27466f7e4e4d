"""The bundled target as GGUF: every number where a reader expects it; and, where llama.cpp is installed
(`pip install llama-cpp-python==0.3.16`, minutes of compiling), the same tokens for every text."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from bundled.gguf import ARRAY, BOOL, FLOAT32, INT32, STRING, UINT32, export, ggml_name

TARGET = Path(__file__).parents[2] / "public/models/target"


@pytest.fixture(scope="module")
def file() -> bytes:
    return export(TARGET)


class Reader:
    """Reads a GGUF file from its beginning, as the format says."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, shape: str):
        values = struct.unpack_from(f"<{shape}", self.data, self.at)
        self.at += struct.calcsize(f"<{shape}")
        return values[0] if len(values) == 1 else values

    def string(self) -> str:
        return self.take(f"{self.take('Q')}s").decode()

    def value(self, kind: int):
        if kind == ARRAY:
            kind, length = self.take("IQ")
            return [self.value(kind) for _ in range(length)]
        return self.string() if kind == STRING else self.take({UINT32: "I", INT32: "i", FLOAT32: "f", BOOL: "?"}[kind])

    def tensor(self):
        name = self.string()
        sizes = [self.take("Q") for _ in range(self.take("I"))]
        return name, sizes, *self.take("IQ")


def test_the_file_holds_what_the_folder_holds(file: bytes) -> None:
    reader = Reader(file)
    assert reader.take("4s") == b"GGUF"
    version, tensors, fields = reader.take("IQQ")
    assert version == 3
    metadata = {reader.string(): reader.value(reader.take("I")) for _ in range(fields)}
    config = json.loads((TARGET / "config.json").read_text())
    assert metadata["qwen3.embedding_length"] == config["hidden_size"]
    assert metadata["qwen3.attention.key_length"] == config["head_dim"]
    assert metadata["tokenizer.ggml.tokens"][config["eos_token_id"]] == "<eos>"
    assert metadata["tokenizer.ggml.token_type"].count(3) == 6
    assert len(metadata["tokenizer.ggml.tokens"]) == config["vocab_size"]

    infos = {name: rest for name, *rest in (reader.tensor() for _ in range(tensors))}
    start = -(-reader.at // 32) * 32
    source = load_file(TARGET / "model.safetensors")
    assert set(infos) == {ggml_name(name) for name in source}
    for name, tensor in source.items():
        sizes, kind, offset = infos[ggml_name(name)]
        assert sizes == list(reversed(tensor.shape))
        assert offset % 32 == 0
        there = np.frombuffer(file, np.float16 if kind else np.float32, tensor.size, start + offset)
        np.testing.assert_array_equal(there.reshape(tensor.shape), tensor, err_msg=name)


def test_a_vocabulary_with_gaps_is_refused(tmp_path: Path) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text((TARGET / name).read_text())
    files = json.loads((tmp_path / "tokenizer.json").read_text())
    files["model"]["vocab"].popitem()
    (tmp_path / "tokenizer.json").write_text(json.dumps(files))
    with pytest.raises(ValueError, match="511 tokens"):
        export(tmp_path)


def test_llama_cpp_reads_the_same_tokens(file: bytes, tmp_path: Path) -> None:
    llama = pytest.importorskip("llama_cpp", reason="NOT CHECKED against llama.cpp: llama-cpp-python is not installed")
    from tokenizers import Tokenizer

    ours = Tokenizer.from_file(str(TARGET / "tokenizer.json"))
    path = tmp_path / "target.gguf"
    path.write_bytes(file)
    theirs = llama.Llama(str(path), vocab_only=True, verbose=False)
    held_out = (Path(__file__).parents[1] / "data/heldout.jsonl").read_text().splitlines()
    problems = [json.loads(line) for line in held_out]
    texts = [f"<bos><user>{p['question']}<assistant>{p['answer']}<eos>" for p in problems]
    odd = ["a\n\n\nb", "x  y   z", "(one) [two] {3}", "it's 1,234.50 — naïve\tπ\r\n", "..end", "\n\n", " lead", "trail \n"]
    for text in [*texts, *odd]:
        assert theirs.tokenize(text.encode(), add_bos=False, special=True) == ours.encode(text, add_special_tokens=False).ids, text
