#include "deck/data_keys.hpp"

namespace maxplus {

namespace {

// The names of data/preset.cpp, a folder that knows this one.
const std::vector<std::string>& preset_names() {
  static const std::vector<std::string> names = {"verl", "trl", "openrlhf", "gsm8k", "countdown", "reasoning_gym"};
  return names;
}

void list_data_keys(DataTable& t, KeyVisitor& v) {
  v.key(&t.train, KeyFacts("train", "problems to train on, a JSON object a line").path(PathKind::input).absent("task"));
  v.key(&t.eval,
        KeyFacts("eval", "held-out problems, likewise").path(PathKind::input).absent("the task's").may_change());
  v.key(&t.task, KeyFacts("task", "a built-in task instead of files; it has keys of its own, written in this table")
                     .absent("train"));
  v.key(&t.preset,
        KeyFacts(
            "preset",
            "the fields of another trainer's or collection's files, of train, eval and all sources; a key below that "
            "is given counts instead of the preset's")
            .one_of(preset_names())
            .absent("the keys below"));
  v.key(&t.prompt_key,
        KeyFacts("prompt_key", "the field of a problem that holds the prompt; outer.inner is the way to a nested one")
            .absent("prompt, or the preset's"));
  v.key(&t.answer_key, KeyFacts("answer_key", "the field that holds the answer").absent("answer, or the preset's"));
  v.key(&t.id_key, KeyFacts("id_key", "the field that holds the id, if any").absent("id, or the preset's"));
  v.key(&t.verifier_key, KeyFacts("verifier_key", "the field that names the problem's verifier, if any")
                             .absent("verifier, or the preset's"));
  v.key(&t.difficulty_key, KeyFacts("difficulty_key", "the field with the number that a curriculum sorts by, if any")
                               .absent("difficulty, or the preset's"));
  v.key(&t.on_bad_line, KeyFacts("on_bad_line", "a line that cannot be used: stop (exit 65), or skip and count")
                            .one_of({"stop", "skip"}));
  v.key(&t.on_contaminated,
        KeyFacts("on_contaminated",
                 "problems of files that are trained on and held out, the same words in both: warn, drop them from "
                 "training, or stop (exit 65)")
            .one_of({"warn", "drop", "stop"}));
  v.key(&t.order,
        KeyFacts("order", "order of the problems in an epoch; curriculum: by their difficulty, easy ones first")
            .one_of({"shuffled", "file", "curriculum"}));
  v.key(&t.curriculum_window,
        KeyFacts("curriculum_window", "of a curriculum: so many problems of neighbouring difficulty are shuffled")
            .from(1, 1'000'000'000));
}

void list_source_keys(DataSource& t, KeyVisitor& v) {
  v.key(&t.name, KeyFacts("name", "in metrics and records").absent("the task's, or the file's without its ending"));
  v.key(&t.train, KeyFacts("train", "problems, a JSON object a line").path(PathKind::input).absent("task"));
  v.key(&t.task, KeyFacts("task", "a built-in task, whose own keys stand beside it").absent("train"));
  v.key(&t.weight,
        KeyFacts("weight", "of every 1000 problems in a row a source gives its weight's share").above(0, 1e9));
  v.key(&t.preset, KeyFacts("preset", "the fields of this file").one_of(preset_names()).absent("[data]'s"));
  v.key(&t.verifier, KeyFacts("verifier", "the judge of its problems, where they name none")
                         .absent("the task's; of a file [reward]'s, else the preset's"));
}

}  // namespace

void visit_data(DataTable& data, DeckVisitor& visitor) {
  visitor.table({"data", "problems: files, a built-in task, or several of both"},
                [&data](KeyVisitor& keys) { list_data_keys(data, keys); },
                {&data.task_keys, [&data] { return !data.task.empty(); }, "the task"});
  data.source.resize(visitor.entries("data.source", data.source.size()));
  for (std::size_t i = 0; i < data.source.size(); ++i) {
    DataSource& source = data.source[i];
    visitor.table(
        {"data.source[" + std::to_string(i) + "]", "one of several sources, mixed by weight; written [[data.source]]"},
        [&source](KeyVisitor& keys) { list_source_keys(source, keys); },
        {&source.task_keys, [&source] { return !source.task.empty(); }, "the task"});
  }
}

}  // namespace maxplus
