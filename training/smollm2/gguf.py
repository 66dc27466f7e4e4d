"""Reads a GGUF file's tensors as f32: F32, F16, Q8_0 and Q4_1, which SmolLM2's file holds; I64 stays as it is.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

import struct
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
STRING, ARRAY = 8, 9
BLOCK = 32
F32, F16, Q4_1, Q8_0, I64 = 0, 1, 3, 8, 27
BYTES = {F32: 4 * BLOCK, F16: 2 * BLOCK, Q4_1: 20, Q8_0: 34, I64: 8 * BLOCK}  # of 32 weights


class Reader:
    def __init__(self, data: memoryview) -> None:
        self.data, self.at = data, 0

    def one(self, form: str):
        (value,) = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return value

    def string(self) -> str:
        length = self.one("<Q")
        self.at += length
        return bytes(self.data[self.at - length : self.at]).decode()

    def value(self, kind: int):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, count = self.one("<I"), self.one("<Q")
            return [self.value(inner) for _ in range(count)]
        return self.one(SCALARS[kind])


def half(raw: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(raw).view(np.float16).astype(np.float32)


def decode(kind: int, raw: np.ndarray) -> np.ndarray:
    """The weights of whole blocks, flat."""
    if kind == F32:
        return raw.view(np.float32)
    if kind == I64:
        return raw.view(np.int64)
    if kind == F16:
        return raw.view(np.float16).astype(np.float32)
    blocks = raw.reshape(-1, BYTES[kind])
    scale = half(blocks[:, :2])
    if kind == Q8_0:
        return (blocks[:, 2:].view(np.int8) * scale).ravel()
    packed = blocks[:, 4:]
    return (np.concatenate((packed & 15, packed >> 4), axis=1) * scale + half(blocks[:, 2:4])).ravel()


def read(path: Path) -> tuple[dict, dict[str, Tensor]]:
    """The metadata and every tensor in f32."""
    data = np.memmap(path, dtype=np.uint8, mode="r")
    reader = Reader(memoryview(data))
    if reader.one("<I") != 0x46554747:
        raise ValueError(f"{path} is no GGUF file")
    reader.one("<I")
    tensors, fields = reader.one("<Q"), reader.one("<Q")
    metadata = {}
    for _ in range(fields):
        key = reader.string()
        metadata[key] = reader.value(reader.one("<I"))
    infos = []
    for _ in range(tensors):
        name = reader.string()
        shape = [reader.one("<Q") for _ in range(reader.one("<I"))][::-1]
        infos.append((name, shape, reader.one("<I"), reader.one("<Q")))
    alignment = metadata.get("general.alignment", 32)
    start = -(-reader.at // alignment) * alignment
    made = {}
    for name, shape, kind, offset in infos:
        if kind not in BYTES:
            raise ValueError(f"{path}: tensor {name} has type {kind}; only F32, F16, Q4_1, Q8_0 and I64 are read")
        size = int(np.prod(shape)) * BYTES[kind] // BLOCK
        raw = np.array(data[start + offset : start + offset + size])
        made[name] = torch.from_numpy(decode(kind, raw).reshape(shape).copy())
    return metadata, made
