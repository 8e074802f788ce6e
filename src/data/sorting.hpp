#pragma once
// The task `sorting`: whole numbers into ascending order, "sort 5 3 9:". A demonstration inserts one number after the
// other. Lists of the same numbers in another order are on the same side.

#include <memory>

#include "data/task.hpp"

namespace maxplus {

std::shared_ptr<const Task> make_sorting_task(KeyReader& keys, std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace maxplus
