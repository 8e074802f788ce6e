#pragma once
// The task of the quickstart: three numbers in fixed order and a target; put + - * into the two gaps so that the value,
// computed from left to right, is the target.
//
// An expression is legal if every value on the way lies in 0..max_value. All (a, b, c, t) with a legal expression are
// problems; a shuffle of our own splits them. A demonstration tries expressions one after the other and says of each
// whether it hits.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "data/task.hpp"

namespace maxplus {

struct OperatorsProblem {
  std::array<int, 3> number{};
  int target = 0;
};

// An operator is '+', '-' or '*'.
struct OperatorPair {
  char first = '+', second = '+';
};

// The cyclic order in which demonstrations try: ** *+ *- +* ++ +- -* -+ --
inline constexpr std::array<OperatorPair, 9> kOperatorPairs = {
    {{'*', '*'}, {'*', '+'}, {'*', '-'}, {'+', '*'}, {'+', '+'}, {'+', '-'}, {'-', '*'}, {'-', '+'}, {'-', '-'}}};

// The values after the first and the second operator, or nothing if one of them leaves 0..max_value.
std::optional<std::array<int, 2>> legal_values(const std::array<int, 3>& number, OperatorPair pair, int max_value);

// Indices into kOperatorPairs, in order.
std::vector<int> legal_pairs(const std::array<int, 3>& number, int max_value);

std::shared_ptr<const Task> make_operators_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
