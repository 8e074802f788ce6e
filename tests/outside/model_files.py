"""Files of models through `inspect` and `convert`: malformed ones end with 65 and one line that names the file; models survive every
conversion with the same weights, log-probabilities and tokenizer."""
import json
import os
import shutil
import struct
from concurrent.futures import ThreadPoolExecutor

from program import Folder, Report, read, run

DATA = os.path.join(os.path.dirname(__file__), "..", "data")
MALFORMED = os.path.join(DATA, "malformed")
TINY_GGUF = os.path.join(DATA, "gguf", "tiny_llama.f32.gguf")
LIMIT_S = 20


def expected_codes(item):
    if item["expect"].startswith("accept"):
        return {0}
    return {0, 65} if item["expect"].startswith("refuse, or") else {65}


def malformed(report):
    with open(os.path.join(MALFORMED, "list.json"), encoding="utf-8") as file:
        items = json.load(file)
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda item: run(["inspect", os.path.join(MALFORMED, item["file"])], limit=LIMIT_S), items))
    for item, answer in zip(items, answers):
        ok = answer.returncode in expected_codes(item)
        if ok and answer.returncode == 65:
            first = answer.stderr.splitlines()
            ok = item["file"] in first[0] and first[0].startswith("maxplus: error: ")
            ok = ok and sum(line.startswith("maxplus: error: ") for line in first) == 1
        report.check(f"malformed: {item['file']}: {item['wrong']}", ok, f"exit {answer.returncode}: {answer.stderr[:600]}")
    report.check("malformed: all files of the list", len(items) == 66, len(items))


def inspected(path):
    answer = run(["inspect", path, "--json"], limit=LIMIT_S)
    return json.loads(answer.stdout) if answer.returncode == 0 else {"weights_hash": answer.stderr}


def log_prob(model, lines):
    return run(["logprob", model, lines], limit=LIMIT_S).stdout


def conversions(report, folder):
    """GGUF to folder to checkpoint to safetensors to folder."""
    lines = folder.file("ids.jsonl", json.dumps({"ids": [5, 17, 300, 2, 2, 41, 318]}) + "\n")
    text = folder.file("text.jsonl", json.dumps({"text": "for (int i = 0; i < 10; ++i)<|im_end|>"}) + "\n")
    chain = [TINY_GGUF, folder / "first", folder / "second.h5", folder / "third.safetensors", folder / "fourth"]
    hashes, scores, tokens = [], [], []
    for source, target in zip(chain, chain[1:]):
        answer = run(["convert", source, target], limit=LIMIT_S)
        if not report.check(f"convert: {os.path.basename(source)} to {os.path.basename(target)}", answer.returncode == 0, answer.stderr):
            return
    for path in chain:
        hashes.append(inspected(path).get("weights_hash"))
        scores.append(log_prob(path, lines))
        tokens.append(run(["tokenize", path, text], limit=LIMIT_S).stdout)
    report.check("convert: the weights keep their hash", len(set(hashes)) == 1 and hashes[0], hashes)
    report.check("convert: log-probabilities keep their bits", len(set(scores)) == 1 and scores[0], scores)
    report.check("convert: the tokenizer gives the same ids", len(set(tokens)) == 1 and tokens[0], tokens)
    with open(folder / "first/tokenizer_config.json", encoding="utf-8") as file:
        has_template = os.path.exists(folder / "first/chat_template.jinja") or "chat_template" in json.load(file)
    report.check("convert: the chat template travels along", has_template)
    for name in sorted(os.listdir(folder / "first")):
        if name != "model.safetensors":
            same = os.path.exists(folder / f"fourth/{name}") and read(folder / f"first/{name}") == read(folder / f"fourth/{name}")
            report.check(f"convert: {name} comes through checkpoint and safetensors word by word", same)
    answer = run(["convert", TINY_GGUF, folder / "first"], limit=LIMIT_S)
    report.check("convert: a folder that is not empty is refused", answer.returncode == 73, answer.stderr)
    answer = run(["convert", folder / "nothing", folder / "new"], limit=LIMIT_S)
    report.check("convert: a model that is missing", answer.returncode == 66 and not os.path.exists(folder / "new"), answer.stderr)


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, (dtype, shape, payload) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(payload)]}
        data += payload
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(path):
    whole = read(path)
    length = struct.unpack("<Q", whole[:8])[0]
    header, data = json.loads(whole[8:8 + length]), whole[8 + length:]
    header.pop("__metadata__", None)
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])]) for name, entry in header.items()}


def shards(report, folder):
    """A folder whose weights are cut over three files is the same model; a broken index is told."""
    run(["convert", TINY_GGUF, folder / "whole"], limit=LIMIT_S)
    shutil.copytree(folder / "whole", folder / "cut")
    tensors = read_safetensors(folder / "cut/model.safetensors")
    os.remove(folder / "cut/model.safetensors")
    place = {name: f"model-0000{1 + i % 3}-of-00003.safetensors" for i, name in enumerate(tensors)}
    for file in sorted(set(place.values())):
        write_safetensors(folder / f"cut/{file}", {name: tensors[name] for name in tensors if place[name] == file})
    index = {"metadata": {"total_size": 1}, "weight_map": place}
    folder.file("cut/model.safetensors.index.json", json.dumps(index))
    whole, cut = inspected(folder / "whole"), inspected(folder / "cut")
    by_name = [sorted(found.get("tensors", []), key=lambda t: t["name"]) for found in (whole, cut)]
    report.check("shards: the same tensors and hash", by_name[0] == by_name[1] and whole["weights_hash"] == cut["weights_hash"], cut)
    moved = dict(place, **{"model.norm.weight": "model-00009-of-00003.safetensors"})
    for name, text, code in [("no JSON", "{", 65), ("no map", "{}", 65), ("a path", json.dumps({"weight_map": {"a": "../a"}}), 65),
                             ("a missing file", json.dumps({"weight_map": moved}), 66)]:
        folder.file("cut/model.safetensors.index.json", text)
        answer = run(["inspect", folder / "cut"], limit=LIMIT_S)
        report.check(f"shards: index with {name}", answer.returncode == code and answer.stderr.startswith("maxplus: error: "), answer.stderr)


def main():
    report = Report()
    malformed(report)
    with Folder() as folder:
        conversions(report, folder)
        shards(report, folder)
    report.finish()


main()
