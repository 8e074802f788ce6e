#!/usr/bin/env python3
"""One random network of SmolLM2-135M's shape for all programs: published folder (f32 and bf16), GGUF (the same), tokens.

    make_model.py FOLDER [--layers N]

Writes FOLDER/{f32,bf16}/ (config.json, model.safetensors), FOLDER/{f32,bf16}.gguf and FOLDER/tokens.json. The bf16 weights are
the f32 ones rounded to the nearest; f32 is what ours and PyTorch's training read in both precisions.
"""
import argparse
import json
import os

import gguf
import numpy as np
import torch
from safetensors.torch import save_file

WIDTH, HEADS, KV_HEADS, FFN, VOCABULARY, THETA, EPSILON, CONTEXT = 576, 9, 3, 1536, 49152, 100000.0, 1e-5, 2048
HEAD = WIDTH // HEADS


def weights(layers):
    random = torch.Generator().manual_seed(1)

    def matrix(rows, columns, deviation):
        return torch.randn(rows, columns, generator=random) * deviation

    made = {"model.embed_tokens.weight": matrix(VOCABULARY, WIDTH, 0.04), "model.norm.weight": torch.ones(WIDTH)}
    into, out = WIDTH ** -0.5, (2 * layers) ** -0.5
    for layer in range(layers):
        name = f"model.layers.{layer}."
        made[name + "input_layernorm.weight"] = torch.ones(WIDTH)
        made[name + "post_attention_layernorm.weight"] = torch.ones(WIDTH)
        made[name + "self_attn.q_proj.weight"] = matrix(WIDTH, WIDTH, into)
        made[name + "self_attn.k_proj.weight"] = matrix(KV_HEADS * HEAD, WIDTH, into)
        made[name + "self_attn.v_proj.weight"] = matrix(KV_HEADS * HEAD, WIDTH, into)
        made[name + "self_attn.o_proj.weight"] = matrix(WIDTH, WIDTH, into * out)
        made[name + "mlp.gate_proj.weight"] = matrix(FFN, WIDTH, into)
        made[name + "mlp.up_proj.weight"] = matrix(FFN, WIDTH, into)
        made[name + "mlp.down_proj.weight"] = matrix(WIDTH, FFN, FFN ** -0.5 * out)
    return made


def write_folder(folder, tensors, layers, dtype):
    os.makedirs(folder, exist_ok=True)
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": WIDTH,
              "intermediate_size": FFN, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "head_dim": HEAD,
              "num_hidden_layers": layers, "vocab_size": VOCABULARY, "rms_norm_eps": EPSILON, "rope_theta": THETA,
              "max_position_embeddings": CONTEXT, "tie_word_embeddings": True, "attention_bias": False, "mlp_bias": False,
              "bos_token_id": 1, "eos_token_id": 2, "torch_dtype": {"f32": "float32", "bf16": "bfloat16"}[dtype]}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1)
    kind = {"f32": torch.float32, "bf16": torch.bfloat16}[dtype]
    save_file({name: tensor.to(kind).contiguous() for name, tensor in tensors.items()},
              os.path.join(folder, "model.safetensors"), metadata={"format": "pt"})


def turned(matrix, heads):
    """Rows in the order of llama.cpp, whose rotary embedding pairs neighbours."""
    return matrix.reshape(heads, 2, HEAD // 2, -1).transpose(1, 2).reshape(matrix.shape)


def write_gguf(path, tensors, layers, dtype):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_rope_freq_base(THETA)
    writer.add_rope_dimension_count(HEAD)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("no_vocab")
    writer.add_file_type(gguf.LlamaFileType.ALL_F32 if dtype == "f32" else gguf.LlamaFileType.MOSTLY_BF16)
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
             "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
             "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    for name, tensor in tensors.items():
        if "q_proj" in name or "k_proj" in name:
            tensor = turned(tensor, HEADS if "q_proj" in name else KV_HEADS)
        if name.startswith("model.layers."):
            layer, rest = name[len("model.layers."):].split(".", 1)
            new_name = f"blk.{layer}.{names[rest[:-len('.weight')]]}.weight"
        else:
            new_name = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}[name]
        if dtype == "f32" or tensor.dim() == 1:
            writer.add_tensor(new_name, tensor.numpy())
        else:
            data = gguf.quants.quantize(tensor.to(torch.bfloat16).float().numpy(), gguf.GGMLQuantizationType.BF16)
            writer.add_tensor(new_name, data, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--layers", type=int, default=30)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    tensors = weights(options.layers)
    for dtype in ("f32", "bf16"):
        write_folder(os.path.join(options.folder, dtype), tensors, options.layers, dtype)
        write_gguf(os.path.join(options.folder, dtype + ".gguf"), tensors, options.layers, dtype)
    random = np.random.default_rng(2)
    tokens = {"prompts": random.integers(3, VOCABULARY, (32, 128)).tolist(), "training": random.integers(3, VOCABULARY, (4, 1025)).tolist()}
    with open(os.path.join(options.folder, "tokens.json"), "w", encoding="utf-8") as file:
        json.dump(tokens, file)


main()
