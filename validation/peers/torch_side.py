#!/usr/bin/env python3
"""PyTorch's side of the comparison: transformers' generate and an eager training step, requests as in bench_server.

    torch_side.py MODEL_FOLDER TOKENS_JSON f32|bf16 THREADS

Generation runs in the weights' own precision, training with f32 weights, in bf16 under autocast. Start it with
OMP_WAIT_POLICY=passive: threads that spin slow it several times.
"""
import json
import resource
import sys
import time

import torch
import transformers


def processor_s():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Clock(transformers.StoppingCriteria):
    """Notes when each token is there, and stops nothing."""

    def __init__(self):
        self.at = []

    def __call__(self, input_ids, scores, **kwargs):
        self.at.append(time.monotonic())
        return torch.zeros(input_ids.shape[0], dtype=torch.bool)


class Side:
    def __init__(self, folder, tokens, dtype):
        self.folder, self.tokens, self.dtype = folder, tokens, dtype
        self.generator = self.trained = self.optimizer = None

    def load(self, dtype):
        return transformers.AutoModelForCausalLM.from_pretrained(self.folder, dtype=dtype, attn_implementation="sdpa")

    def generating(self):
        if self.generator is None:
            self.generator = self.load(torch.bfloat16 if self.dtype == "bf16" else torch.float32).eval()
        return self.generator

    def run_decode(self, rows, new_tokens):
        model = self.generating()
        prompts = torch.tensor(self.tokens["prompts"][:rows])
        clock = Clock()
        before, start = processor_s(), time.monotonic()
        with torch.inference_mode():
            model.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=new_tokens, min_new_tokens=new_tokens,
                           do_sample=False, use_cache=True, pad_token_id=0,
                           stopping_criteria=transformers.StoppingCriteriaList([clock]))
        return {"seconds": clock.at[-1] - clock.at[0], "tokens": rows * (new_tokens - 1), "processor_s": processor_s() - before,
                "prefill": {"seconds": clock.at[0] - start, "tokens": prompts.numel()}}

    def run_training(self, sequences, length):
        if self.trained is None:
            self.trained = self.load(torch.float32).train()
            self.optimizer = torch.optim.AdamW(self.trained.parameters(), lr=1e-5, betas=(0.9, 0.95), weight_decay=0.0, fused=True)
        tokens = torch.tensor([row[:length + 1] for row in self.tokens["training"][:sequences]])
        before, start = processor_s(), time.monotonic()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.dtype == "bf16"):
            logits = self.trained(tokens[:, :-1], use_cache=False).logits
            loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return {"seconds": time.monotonic() - start, "tokens": sequences * length, "processor_s": processor_s() - before, "loss": loss.item()}

    def run_log_prob(self, count):
        tokens = torch.tensor([self.tokens["training"][0][:count]])
        with torch.inference_mode():
            logits = self.generating()(tokens).logits.double()
        of_tokens = torch.log_softmax(logits[0, :-1], -1).gather(1, tokens[0, 1:, None])[:, 0]
        return {"log_prob": [0.0] + of_tokens.tolist()}

    def answer(self, request):
        if request["case"] == "decode":
            return self.run_decode(request["rows"], request["new_tokens"])
        if request["case"] == "training":
            return self.run_training(request["sequences"], request["tokens"])
        if request["case"] == "log_prob":
            return self.run_log_prob(request["tokens"])
        return {"error": "unknown case " + request["case"]}


def main():
    torch.set_num_threads(int(sys.argv[4]))
    torch.manual_seed(1)
    transformers.logging.set_verbosity_error()
    with open(sys.argv[2], encoding="utf-8") as file:
        side = Side(sys.argv[1], json.load(file), sys.argv[3])
    print(json.dumps({"name": "PyTorch", "version": f"torch {torch.__version__}, transformers {transformers.__version__}",
                      "settings": f"{torch.get_num_threads()} threads, {torch.backends.cpu.get_cpu_capability()}, sdpa"}), flush=True)
    for line in sys.stdin:
        print(json.dumps(side.answer(json.loads(line))), flush=True)


main()
