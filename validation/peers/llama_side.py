#!/usr/bin/env python3
"""llama.cpp's side of the comparison: its low-level decode with a key-value stream a sequence, requests as in bench_server.

    llama_side.py MODEL_GGUF TOKENS_JSON THREADS

Its new tokens are given, not drawn (logits are computed, nothing is done with them): that favours llama.cpp.
"""
import ctypes
import json
import resource
import sys
import time

import llama_cpp as llama
import numpy as np


def processor_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Side:
    def __init__(self, path, tokens, threads):
        llama.llama_log_set(SILENT, ctypes.c_void_p(0))
        llama.llama_backend_init()
        self.model = llama.llama_model_load_from_file(path.encode(), llama.llama_model_default_params())
        if not self.model:
            sys.exit("llama.cpp does not read " + path)
        self.tokens, self.threads, self.contexts = tokens, threads, {}

    def context(self, rows, length):
        """Kept: a new one would measure the first touch of its memory."""
        if (rows, length) not in self.contexts:
            for old in self.contexts.values():
                llama.llama_free(old)
            self.contexts.clear()
            params = llama.llama_context_default_params()
            params.n_ctx = rows * ((length + 255) // 256 * 256)
            params.n_batch, params.n_ubatch, params.n_seq_max = 4096, 512, rows
            params.kv_unified = False
            params.n_threads = params.n_threads_batch = self.threads
            context = llama.llama_init_from_model(self.model, params)
            if not context:
                sys.exit("llama.cpp makes no context")
            self.contexts[(rows, length)] = context
        context = self.contexts[(rows, length)]
        llama.llama_memory_clear(llama.llama_get_memory(context), True)
        return context

    @staticmethod
    def decode(context, batch, entries):
        """entries: (token, position, sequence, wants logits)"""
        batch.n_tokens = len(entries)
        for i, (token, position, sequence, wanted) in enumerate(entries):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, position, 1, sequence, wanted
        if llama.llama_decode(context, batch) != 0:
            sys.exit("llama_decode failed")
        llama.llama_synchronize(context)

    def run_decode(self, rows, new_tokens):
        prompts = self.tokens["prompts"][:rows]
        length = len(prompts[0])
        context = self.context(rows, length + new_tokens)
        batch = llama.llama_batch_init(4096, 0, 1)
        before, start = processor_s(), time.monotonic()
        self.decode(context, batch, [(token, p, s, p == length - 1) for s in range(rows) for p, token in enumerate(prompts[s])])
        middle = time.monotonic()
        for step in range(new_tokens - 1):
            self.decode(context, batch, [(prompts[s][step], length + step, s, True) for s in range(rows)])
        end = time.monotonic()
        llama.llama_batch_free(batch)
        return {"seconds": end - middle, "tokens": rows * (new_tokens - 1), "processor_s": processor_s() - before,
                "prefill": {"seconds": middle - start, "tokens": rows * length}}

    def run_log_prob(self, count):
        tokens = self.tokens["training"][0][:count]
        context = self.context(1, count)
        batch = llama.llama_batch_init(4096, 0, 1)
        self.decode(context, batch, [(token, p, 0, True) for p, token in enumerate(tokens)])
        llama.llama_batch_free(batch)
        vocabulary = llama.llama_vocab_n_tokens(llama.llama_model_get_vocab(self.model))
        found = [0.0]
        for p in range(count - 1):
            logits = np.ctypeslib.as_array(llama.llama_get_logits_ith(context, p), shape=(vocabulary,)).astype(np.float64)
            top = logits.max()
            found.append(float(logits[tokens[p + 1]] - top - np.log(np.exp(logits - top).sum())))
        return {"log_prob": found}

    def answer(self, request):
        if request["case"] == "decode":
            return self.run_decode(request["rows"], request["new_tokens"])
        if request["case"] == "log_prob":
            return self.run_log_prob(request["tokens"])
        return {"error": "unknown case " + request["case"]}


@llama.llama_log_callback
def SILENT(level, text, data):
    del level, text, data


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        side = Side(sys.argv[1], json.load(file), int(sys.argv[3]))
    print(json.dumps({"name": "llama.cpp", "version": "llama-cpp-python " + llama.__version__,
                      "settings": llama.llama_print_system_info().decode()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(side.answer(json.loads(line))), flush=True)


main()
