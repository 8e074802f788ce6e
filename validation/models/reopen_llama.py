#!/usr/bin/env python3
"""Does a model written here pass llama.cpp's own converter, and does llama.cpp then compute and tokenise the same?

    PYTHON validation/models/reopen_llama.py CONVERTER MODEL...

CONVERTER is llama.cpp's convert_hf_to_gguf.py (it travels in the source package of llama-cpp-python, which validation/peers/install.sh
unpacks); PYTHON has llama_cpp, gguf, torch and transformers. Each MODEL (GGUF file, folder or checkpoint with a tokenizer that llama.cpp
knows) is written as a folder, converted to GGUF in f32, and opened in llama.cpp and here.

Expectations, written before the run:
- log-probabilities of the converted file, read here, against those of MODEL: equal, since all values are f32
- log-probabilities of llama.cpp (keys and values in f32, no flash attention) against ours: 4e-4
- tokens of all texts equal

Writes reopen_llama.md beside this file.
"""
import ctypes
import os
import sys
import tempfile

import llama_cpp as llama
import numpy as np

from shared import answers, conclude, maxplus, of_ids, output_of, small

TEXTS = ["The quick brown fox jumps over the lazy dog. It was the best of times, it was the worst of times.",
         "  12 apples,\n\n34 pears; naïve Zürich 你好", "def f(x):\n\treturn x**2  # squares\n\n\nprint(f(1234567))",
         "<|im_start|>user\nWhat is 17 * 23?<|im_end|>\n<|im_start|>assistant\n"]
TOLERANCE = 4e-4


@llama.llama_log_callback
def silent(level, text, data):
    del level, text, data


class Opened:
    def __init__(self, path):
        llama.llama_log_set(silent, ctypes.c_void_p(0))
        llama.llama_backend_init()
        self.model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        if not self.model:
            sys.exit("llama.cpp does not read " + path)
        self.vocabulary = llama.llama_model_get_vocab(self.model)

    def tokens(self, text):
        data = text.encode()
        ids = (llama.llama_token * (len(data) + 8))()
        count = llama.llama_tokenize(self.vocabulary, data, len(data), ids, len(ids), False, True)
        return list(ids[:count])

    def log_probs(self, ids):
        params = llama.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = 512, 512, 512
        params.type_k = params.type_v = llama.GGML_TYPE_F32
        params.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_DISABLED
        context = llama.llama_init_from_model(self.model, params)
        batch = llama.llama_batch_init(512, 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, i, 1, 0, True
        if llama.llama_decode(context, batch) != 0:
            sys.exit("llama_decode failed")
        size, found = llama.llama_vocab_n_tokens(self.vocabulary), []
        for i in range(len(ids) - 1):
            logits = np.ctypeslib.as_array(llama.llama_get_logits_ith(context, i), shape=(size,)).astype(np.float64)
            found.append(float(logits[ids[i + 1]] - logits.max() - np.log(np.exp(logits - logits.max()).sum())))
        llama.llama_batch_free(batch)
        llama.llama_free(context)
        return found


def compared(converter, model, folder):
    written, converted = os.path.join(folder, "written"), os.path.join(folder, "converted.gguf")
    maxplus("convert", model, written)
    output_of(sys.executable, converter, written, "--outtype", "f32", "--outfile", converted)
    texts = [{"text": text} for text in TEXTS]
    ids = [line["ids"] for line in answers("tokenize", written, folder, texts)]
    ours = [line["log_prob"][1:] for line in answers("logprob", model, folder, of_ids(ids))]
    back = [line["log_prob"][1:] for line in answers("logprob", converted, folder, of_ids(ids))]
    opened = Opened(converted)
    theirs = [opened.log_probs(sequence) for sequence in ids]
    gap = lambda one, other: max(abs(a - b) for x, y in zip(one, other) for a, b in zip(x, y))
    same = sum(opened.tokens(text) == sequence for text, sequence in zip(TEXTS, ids))
    tokens_back = [line["ids"] for line in answers("tokenize", converted, folder, texts)] == ids
    return gap(ours, back), gap(ours, theirs), same, tokens_back


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rows = []
    for model in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            back, gap, same, tokens_back = compared(sys.argv[1], model, folder)
        rows.append((os.path.basename(model.rstrip("/")), small(back), small(gap), f"{same} of {len(TEXTS)}", "all" if tokens_back else "**not all**",
                     back == 0 and gap <= TOLERANCE and same == len(TEXTS) and tokens_back))
    conclude(__file__, "Models written here, through llama.cpp's own converter", f"llama-cpp-python {llama.__version__}; f32",
             ["model", "converted, read here - model", "llama.cpp - ours", "texts with equal tokens: llama.cpp", "here, from the converted file"], rows)


main()
