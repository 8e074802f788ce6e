// Forms: "tests" of this program; "inputs", "outputs", "fn_name" (APPS, TACO, verl); lists with "testtype"
// (LiveCodeBench); "test_list" of assertions (MBPP). Any of them may be JSON inside a text.
#include "verify/code/test_cases.hpp"

#include "text/utf8.hpp"
#include "verify/extraction.hpp"

namespace maxplus {

namespace {

Json opened(const Json& value) {
  if (!value.is_string()) return value;
  Json inner = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
  return inner.is_discarded() ? value : inner;
}

// Text, or lines as a list.
std::optional<std::string> as_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  if (!value.is_array()) return std::nullopt;
  std::string text;
  for (const Json& line : value) {
    const auto one = line.is_array() ? std::nullopt : as_text(line);
    if (!one) return std::nullopt;
    text += *one + '\n';
  }
  return text;
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// One JSON value a line.
std::optional<Json> values_of_lines(const std::string& text) {
  Json values = Json::array();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.empty()) continue;
    values.push_back(Json::parse(line, nullptr, false));
    if (values.back().is_discarded()) return std::nullopt;
  }
  return values;
}

bool add_program_test(const Json& input, const Json& output, CodeTests* tests) {
  const auto in = as_text(input), out = as_text(output);
  if (!in || !out) return false;
  CodeTest test;
  test.input = *in;
  test.output = *out;
  tests->test.push_back(std::move(test));
  return true;
}

bool add_call(const Json& call, const Json& expect, bool may_be_wrapped, CodeTests* tests) {
  CodeTest test;
  test.call = opened(call);
  test.expect = expect;
  test.may_be_wrapped = may_be_wrapped;
  if (!test.call.is_array()) return false;
  tests->test.push_back(std::move(test));
  return true;
}

bool add_listed(const Json& one, CodeTests* tests) {
  if (one.is_string()) return add_assertion(one.get_ref<const std::string&>(), tests);
  const Json* input = member(one, "input");
  const Json* output = member(one, "output");
  const Json* call = member(one, "call");
  const auto expect = one.is_object() ? one.find("expect") : one.end();
  const Json* type = member(one, "testtype");
  if (call != nullptr && expect != one.end()) return !tests->function.empty() && add_call(*call, *expect, false, tests);
  if (input == nullptr || output == nullptr) return false;
  if (type == nullptr || *type != "functional")
    return tests->function.empty() && add_program_test(*input, *output, tests);
  if (!input->is_string() || tests->function.empty()) return false;
  const auto arguments = values_of_lines(input->get_ref<const std::string&>());
  return arguments && add_call(*arguments, opened(*output), false, tests);
}

bool add_columns(const Json& inputs, const Json& outputs, CodeTests* tests) {
  if (!inputs.is_array() || !outputs.is_array() || inputs.size() != outputs.size()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (tests->function.empty() ? !add_program_test(inputs[i], outputs[i], tests)
                                : !add_call(inputs[i], outputs[i], true, tests))
      return false;
  }
  return true;
}

}  // namespace

std::optional<CodeTests> code_tests_of(const Problem& problem) {
  CodeTests tests;
  const Json answer = opened(problem.answer);
  const auto given = [&](const char* key) -> const Json* {
    if (const Json* found = member(answer, key)) return found;
    return member(problem.extra, key);
  };
  for (const char* key : {"function", "fn_name", "func_name", "entry_point"}) {
    const Json* name = given(key);
    if (name != nullptr && name->is_string() && tests.function.empty()) tests.function = name->get<std::string>();
  }
  const Json* inputs = given("inputs");
  const Json* outputs = given("outputs");
  const Json* listed = given("tests");
  if (listed == nullptr) listed = given("test_list");
  if (listed == nullptr && answer.is_array()) listed = &answer;
  if (inputs != nullptr && outputs != nullptr) {
    if (!add_columns(opened(*inputs), opened(*outputs), &tests)) return std::nullopt;
  } else if (listed != nullptr) {
    const Json list = opened(*listed);
    if (!list.is_array()) {
      const Json *in = member(list, "inputs"), *out = member(list, "outputs");
      if (in == nullptr || out == nullptr) return std::nullopt;
      if (const Json* name = member(list, "fn_name"); name != nullptr && name->is_string())
        tests.function = name->get<std::string>();
      if (!add_columns(*in, *out, &tests)) return std::nullopt;
    } else {
      for (const Json& one : list) {
        if (!add_listed(one, &tests)) return std::nullopt;
      }
    }
  }
  if (tests.test.empty()) return std::nullopt;
  return tests;
}

}  // namespace maxplus
