"""Models as transformers opens them, and the golden sequences they are asked for."""
import torch
import transformers
from safetensors import safe_open

from shared import answers, of_ids

LIBRARIES = f"transformers {transformers.__version__}, torch {torch.__version__}"
VERSIONS = f"{LIBRARIES}; f32 on the host"
transformers.utils.logging.disable_progress_bar()


def opened(folder, kind=transformers.AutoModelForCausalLM, number=torch.float32, **settings):
    return kind.from_pretrained(folder, dtype=number, attn_implementation="eager", **settings).eval()


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].float()


def golden_sequences(path):
    """(tokens, logits) of each."""
    with safe_open(path, "pt") as file:
        return [(file.get_tensor(f"tokens.{i}").tolist(), file.get_tensor(f"logits.{i}")) for i in range(3)]


def worst_log_prob(model, path, folder, sequences):
    """Largest difference between those of a model of transformers and those that `maxplus logprob` gives for the model at `path`."""
    worst = 0.0
    for ids, line in zip(sequences, answers("logprob", path, folder, of_ids(sequences)), strict=True):
        log_probs = torch.log_softmax(logits(model, ids).double(), -1)
        worst = max(worst, max(abs(float(log_probs[t - 1, ids[t]]) - line["log_prob"][t]) for t in range(1, len(ids))))
    return worst
