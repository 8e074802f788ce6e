#!/usr/bin/env python3
"""How long does a model of half a gigabyte take to start, beside the time in which the disk gives its bytes, and how much memory?

    python3 validation/models/load.py [FOLDER]

FOLDER (default: a temporary one) gets random weights of 134 million parameters in f32, and a third of the size in a copy as bf16 over
several files. Its pages are dropped from the system's cache before each cold measurement where this is allowed.

Expectations, written before the run:
- `logprob` on one token ends at most 2 s after the time that reading the file takes
- the largest resident memory is that of the network (weights, and weights packed for products) plus at most the largest tensor and 100 MiB

Writes load.md beside this file.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROGRAM = os.environ.get("MAXPLUS") or os.path.join(ROOT, "build", "maxplus")
WIDTH, FFN, LAYERS, HEADS, KV_HEADS, VOCABULARY = 576, 1536, 30, 9, 3, 49152
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": WIDTH, "intermediate_size": FFN,
          "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "hidden_act": "silu",
          "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "tie_word_embeddings": True, "rope_theta": 100000.0, "torch_dtype": "float32"}
PIECE = 1 << 24


def shapes():
    head = WIDTH // HEADS
    yield "model.embed_tokens.weight", (VOCABULARY, WIDTH)
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        yield prefix + "input_layernorm.weight", (WIDTH,)
        yield prefix + "self_attn.q_proj.weight", (HEADS * head, WIDTH)
        yield prefix + "self_attn.k_proj.weight", (KV_HEADS * head, WIDTH)
        yield prefix + "self_attn.v_proj.weight", (KV_HEADS * head, WIDTH)
        yield prefix + "self_attn.o_proj.weight", (WIDTH, HEADS * head)
        yield prefix + "post_attention_layernorm.weight", (WIDTH,)
        yield prefix + "mlp.gate_proj.weight", (FFN, WIDTH)
        yield prefix + "mlp.up_proj.weight", (FFN, WIDTH)
        yield prefix + "mlp.down_proj.weight", (WIDTH, FFN)
    yield "model.norm.weight", (WIDTH,)


def size_of(shape):
    count = 1
    for extent in shape:
        count *= extent
    return count


def write_file(path, tensors, dtype):
    """Random bits of small numbers: the sign, a fixed small exponent, random fractions."""
    width = 4 if dtype == "F32" else 2
    header, at = {}, 0
    for name, shape in tensors:
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [at, at + width * size_of(shape)]}
        at += width * size_of(shape)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        while at > 0:
            piece = bytearray(os.urandom(min(PIECE, at)))
            piece[width - 1::width] = bytes([0x3C]) * len(piece[width - 1::width])
            file.write(piece)
            at -= len(piece)
        file.flush()
        os.fsync(file.fileno())


def make_models(folder):
    plain, split = os.path.join(folder, "plain"), os.path.join(folder, "split")
    for path in (plain, split):
        os.makedirs(path)
        with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
    tensors = list(shapes())
    write_file(os.path.join(plain, "model.safetensors"), tensors, "F32")
    index = {}
    for part in range(3):
        name = f"model-{part + 1:05}-of-00003.safetensors"
        write_file(os.path.join(split, name), tensors[part::3], "BF16")
        index.update({tensor: name for tensor, _ in tensors[part::3]})
    with open(os.path.join(split, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump({"metadata": {}, "weight_map": index}, file)
    return plain, split


def drop_cache(folder):
    for name in os.listdir(folder):
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def reading_time(folder):
    begin, total = time.time(), 0
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb", buffering=0) as file:
            while piece := file.read(PIECE):
                total += len(piece)
    return time.time() - begin, total


def start_time(folder, lines):
    """Seconds and the largest resident memory in MiB of `logprob` on one token."""
    command = [PROGRAM, "logprob", folder, lines]
    begin = time.time()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ, OMP_NUM_THREADS="1"))
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.time() - begin
    if status != 0:
        sys.exit(process.stderr.read().decode())
    return seconds, usage.ru_maxrss / 1024


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="maxplus-load-")
    rows, good = [], True
    try:
        models = make_models(folder)
        lines = os.path.join(folder, "one.jsonl")
        with open(lines, "w", encoding="utf-8") as file:
            file.write('{"ids": [1, 2]}\n')
        weights = 4 * sum(size_of(shape) for _, shape in shapes()) / 2**20
        largest = 4 * max(size_of(shape) for _, shape in shapes()) / 2**20
        for name, model in zip(("one file, f32", "three files, bf16"), models):
            for cache in ("cold", "warm"):
                readings, starts, memory = [], [], 0
                for _ in range(3):
                    if cache == "cold":
                        drop_cache(model)
                    readings.append(reading_time(model)[0])
                    if cache == "cold":
                        drop_cache(model)
                    seconds, resident = start_time(model, lines)
                    starts.append(seconds)
                    memory = max(memory, resident)
                read, start = sorted(readings)[1], sorted(starts)[1]
                fine = start - read <= 2 and memory <= 2 * weights + largest + 100
                good = good and fine
                rows.append(f"| {name} | {cache} | {read:.2f} | {start:.2f} | {start - read:.2f} | {memory:.0f} | "
                            f"{'as expected' if fine else '**not as expected**'} |")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    text = "# Starting with a model of half a gigabyte\n\nExpectations stand in `load.py`; written by it.\n\n"
    text += f"{version}; {weights:.0f} MiB of f32 weights, the largest tensor {largest:.0f} MiB; medians of three.\n\n"
    text += "| model | cache | reading, s | `logprob`, s | beyond, s | resident, MiB | |\n|---|---|---|---|---|---|---|\n" + "\n".join(rows) + "\n"
    print(text)
    with open(os.path.join(HERE, "load.md"), "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(0 if good else 1)


main()
