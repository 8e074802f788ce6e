// Tensor names and layouts of GGUF against published ones.
//
// What differs besides names: rows of q and k of llama are interleaved within a head (pairs 2i, 2i + 1 are turned
// together, where published rows turn i and i + D/2), and gemma's norms are stored with 1 added.
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/gguf_dequantize.hpp"
#include "model/gguf_model.hpp"

namespace maxplus {

namespace {

enum class Layout { plain, interleaved_queries, interleaved_keys, norm_plus_one };

struct NamePair {
  std::string_view stored, published;
};
constexpr std::array<NamePair, 3> kOutside{{{"token_embd.weight", "model.embed_tokens.weight"},
                                            {"output_norm.weight", "model.norm.weight"},
                                            {"output.weight", "lm_head.weight"}}};
// Within "blk.N." and "model.layers.N."; ".weight" or ".bias" follows.
constexpr std::array<NamePair, 13> kInside{{{"attn_norm", "input_layernorm"},
                                            {"attn_q", "self_attn.q_proj"},
                                            {"attn_k", "self_attn.k_proj"},
                                            {"attn_v", "self_attn.v_proj"},
                                            {"attn_output", "self_attn.o_proj"},
                                            {"attn_q_norm", "self_attn.q_norm"},
                                            {"attn_k_norm", "self_attn.k_norm"},
                                            {"ffn_gate", "mlp.gate_proj"},
                                            {"ffn_up", "mlp.up_proj"},
                                            {"ffn_down", "mlp.down_proj"},
                                            {"ffn_norm", "post_attention_layernorm"},
                                            {"post_attention_norm", "post_attention_layernorm"},
                                            {"post_ffw_norm", "post_feedforward_layernorm"}}};
constexpr std::string_view kRotaryFactors = "rope_freqs.weight", kBlock = "blk.";

// The published name, or the stored one where there is none: it is then told as unknown.
std::string published_name(std::string_view stored, bool four_norms) {
  for (const NamePair& pair : kOutside) {
    if (pair.stored == stored) return std::string(pair.published);
  }
  if (!stored.starts_with(kBlock)) return std::string(stored);
  const std::string_view rest = stored.substr(kBlock.size());
  const std::size_t first = rest.find('.'), last = rest.rfind('.');
  if (first == std::string_view::npos || last <= first) return std::string(stored);
  const std::string_view inner = rest.substr(first + 1, last - first - 1);
  for (const NamePair& pair : kInside) {
    if (pair.stored != inner) continue;
    // With four norms a layer, the one before the feed-forward part has a name of its own.
    const std::string_view published = four_norms && inner == "ffn_norm" ? "pre_feedforward_layernorm" : pair.published;
    return fmt::format("model.layers.{}.{}{}", rest.substr(0, first), published, rest.substr(last));
  }
  return std::string(stored);
}

Layout layout_of(std::string_view stored, const std::string& architecture) {
  const bool is_query = stored.find(".attn_q.") != std::string_view::npos;
  const bool is_key = stored.find(".attn_k.") != std::string_view::npos;
  if (architecture == "llama" && is_query) return Layout::interleaved_queries;
  if (architecture == "llama" && is_key) return Layout::interleaved_keys;
  if (architecture == "gemma2" && stored.ends_with("norm.weight")) return Layout::norm_plus_one;
  return Layout::plain;
}

class GgufWeights : public WeightSource {
 public:
  GgufWeights(std::shared_ptr<const GgufFile> file, const ModelConfig& config) : file_(std::move(file)) {
    const std::string architecture(file_->text("general.architecture").value_or(""));
    for (std::size_t i = 0; i < file_->tensor_count(); ++i) {
      const GgufTensor tensor = file_->tensor(i);
      if (tensor.name == kRotaryFactors) continue;
      tensors_.push_back({published_name(tensor.name, architecture == "gemma2"), std::string(tensor.type->name),
                          tensor.extents_slowest_first(), file_->where()});
      const Layout layout = layout_of(tensor.name, architecture);
      const std::int64_t heads = layout == Layout::interleaved_queries ? config.heads : config.kv_heads;
      stored_.push_back({tensor, layout, heads});
    }
  }

  const std::string& where() const override { return file_->where(); }
  const std::vector<Tensor>& tensors() const override { return tensors_; }
  std::string readable_types() const override { return types_readable_as_f32(); }
  bool is_readable(std::size_t tensor) const override { return readable_as_f32(*stored_[tensor].tensor.type); }
  void read(std::size_t index, std::span<float> out) const override {
    const auto& [tensor, layout, heads] = stored_[index];
    MAXPLUS_REQUIRE(static_cast<std::int64_t>(out.size()) == tensor.elements(), "one place an element");
    file_->mapping().will_read(tensor.data);
    if (layout == Layout::interleaved_queries || layout == Layout::interleaved_keys) {
      read_interleaved(tensor, heads, out);
    } else {
      dequantize(*tensor.type, tensor.data, out);
      if (layout == Layout::norm_plus_one) {
        for (float& value : out) value -= 1.0f;
      }
    }
    file_->mapping().has_read(tensor.data);
  }
  bool are_equal(std::size_t a, std::size_t b) const override {
    const GgufTensor &left = stored_[a].tensor, &right = stored_[b].tensor;
    return left.type == right.type && left.data.size() == right.data.size() &&
           std::memcmp(left.data.data(), right.data.data(), left.data.size()) == 0;
  }

 private:
  struct Stored {
    GgufTensor tensor;
    Layout layout;
    std::int64_t heads;
  };

  // Stored row 2i + p of a head is published row i + p D/2. A bias is a column: its "rows" are elements.
  static void read_interleaved(const GgufTensor& tensor, std::int64_t heads, std::span<float> out) {
    const bool is_bias = tensor.rank == 1;
    const std::int64_t rows = is_bias ? tensor.elements() : tensor.rows();
    const std::int64_t columns = tensor.elements() / rows, head_width = rows / heads;
    std::vector<float> bias(is_bias ? out.size() : 0);
    if (is_bias) dequantize(*tensor.type, tensor.data, bias);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t head = row / head_width, within = row % head_width;
      const std::int64_t to = head * head_width + within / 2 + within % 2 * (head_width / 2);
      if (is_bias) {
        out[static_cast<std::size_t>(to)] = bias[static_cast<std::size_t>(row)];
      } else {
        dequantize(*tensor.type, tensor.row(row),
                   out.subspan(static_cast<std::size_t>(to * columns), static_cast<std::size_t>(columns)));
      }
    }
  }

  std::shared_ptr<const GgufFile> file_;
  std::vector<Tensor> tensors_;
  std::vector<Stored> stored_;
};

}  // namespace

std::unique_ptr<WeightSource> open_gguf_weights(std::shared_ptr<const GgufFile> file, const ModelConfig& config) {
  return std::make_unique<GgufWeights>(std::move(file), config);
}

}  // namespace maxplus
