#include "run/run_state.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"

namespace maxplus {

nlohmann::json RunState::to_json() const {
  nlohmann::json json;
  RunState copy = *this;
  auto write = [&json](const char* name, const auto& value) { json[name] = value; };
  copy.visit(write);
  return json;
}

RunState RunState::from_json(const nlohmann::json& json) {
  RunState state;
  auto read = [&json](const char* name, auto& value) {
    const auto found = json.find(name);
    constexpr std::string_view kNewer[] = {"critic_optimizer_step", "kl_coefficient", "long_problems"};
    const bool newer = std::find(std::begin(kNewer), std::end(kNewer), name) != std::end(kNewer);
    if (found == json.end() && newer) return;
    if (found == json.end()) {
      throw Error(ExitCode::data, Fault{"", fmt::format("checkpoint has no '{}' in its state", name),
                                        "a checkpoint of this version", ""});
    }
    value = found->get<std::decay_t<decltype(value)>>();
  };
  state.visit(read);
  return state;
}

}  // namespace maxplus
