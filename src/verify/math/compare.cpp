// Comparison of values. Everything that is not shown to be the same is different.
#include "verify/math/compare.hpp"

#include <algorithm>

#include "verify/math/approximation.hpp"

namespace maxplus::math {

namespace {

bool is_collection(const Value& v) {
  return v.kind == ValueKind::set || (v.kind == ValueKind::list && v.text != "chain");
}

bool is_inequality(const Value& v) {
  return v.kind == ValueKind::relation && (v.text == "<" || v.text == ">" || v.text == "<=" || v.text == ">=");
}

// Only 2 and 5 below: a decimal says it all.
bool terminates(const mpq_class& value) {
  mpz_class rest = value.get_den();
  const mpz_class two = 2, five = 5;
  mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), two.get_mpz_t());
  mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), five.get_mpz_t());
  return rest == 1;
}

std::vector<const Value*> pointers(const std::vector<Value>& items) {
  std::vector<const Value*> all;
  for (const Value& item : items) all.push_back(&item);
  return all;
}

// x = 1 or x = 2 as 1, 2; nothing if the labels differ.
std::optional<std::vector<const Value*>> without_label(const std::vector<const Value*>& items) {
  std::vector<const Value*> all;
  for (const Value* item : items) {
    if (item->kind != ValueKind::relation || item->label.empty() || item->text != "=" || item->label != items[0]->label)
      return std::nullopt;
    all.push_back(&item->item[1]);
  }
  return all;
}

}  // namespace

bool Comparison::same(const Value& gold, const Value& answer) {
  work_.spend(20);
  if (!gold.unit.empty() && !answer.unit.empty() && gold.unit != answer.unit) return false;
  if (gold.kind == ValueKind::relation && answer.kind == ValueKind::relation) return same_relation(gold, answer);
  const Value* sides[] = {&gold, &answer};
  for (const int k : {0, 1}) {
    const Value &relation = *sides[k], &other = *sides[1 - k];
    if (relation.kind != ValueKind::relation || relation.label.empty()) continue;
    if (relation.text == "in" && relation.item[1].kind == ValueKind::scalar) return false;
    return k == 0 ? same(relation.item[1], other) : same(other, relation.item[1]);
  }
  if (is_collection(gold) && is_collection(answer)) return same_collection(gold, answer);
  for (const int k : {0, 1}) {
    const bool ranges = sides[k]->kind == ValueKind::ordered || sides[k]->kind == ValueKind::unite;
    if (!ranges || sides[1 - k]->kind == ValueKind::ordered || sides[1 - k]->kind == ValueKind::unite) continue;
    if (const auto intervals = as_intervals(*sides[1 - k])) return same(*sides[k], *intervals);
  }
  // A column stands for a tuple.
  const auto column = [](const Value& v) { return v.kind == ValueKind::matrix && v.columns == 1; };
  if ((column(gold) && answer.kind == ValueKind::ordered && answer.text == "()") ||
      (column(answer) && gold.kind == ValueKind::ordered && gold.text == "()"))
    return same_items(gold.item, answer.item);
  if (gold.kind != answer.kind) return false;
  switch (gold.kind) {
    case ValueKind::scalar: return same_scalar(gold, answer);
    case ValueKind::words:
    case ValueKind::numeral: return gold.text == answer.text;
    case ValueKind::ordered: return gold.text == answer.text && same_items(gold.item, answer.item);
    case ValueKind::ratio:
    case ValueKind::without: return same_items(gold.item, answer.item);
    case ValueKind::matrix: return gold.columns == answer.columns && same_items(gold.item, answer.item);
    case ValueKind::unite:
    case ValueKind::meet:
    case ValueKind::list: return gold.text == answer.text && same_multiset(pointers(gold.item), pointers(answer.item));
    default: return false;
  }
}

bool Comparison::same_scalar(const Value& gold, const Value& answer) {
  if (field_.equal(gold.scalar, answer.scalar)) return true;
  if (has_infinity(gold.scalar) || has_infinity(answer.scalar)) return false;
  if (answer.cut && !gold.cut && is_cut_from(answer, gold.scalar)) return true;
  if (gold.cut && !answer.cut && is_cut_from(gold, answer.scalar)) return true;
  if (tolerance_.relative <= 0) return false;
  const auto g = bounds_of(gold.scalar, work_), a = bounds_of(answer.scalar, work_);
  if (!g || !a) return false;
  const mpq_class size = g->low > 0 ? g->low : g->high < 0 ? mpq_class(-g->high) : mpq_class(0);
  const mpq_class allowed = size * tolerance_.relative;
  return a->high - g->low <= allowed && g->high - a->low <= allowed;
}

// Less than one unit of the last place away from a number that no decimal can write in full.
bool Comparison::is_cut_from(const Value& cut, const Scalar& exact) {
  if (tolerance_.cut_digits == 0 || cut.cut->digits < tolerance_.cut_digits) return false;
  if (const auto value = field_.rational(exact); value && terminates(*value)) return false;
  const auto bounds = bounds_of(exact, work_);
  if (!bounds) return false;
  return bounds->high - cut.cut->value < cut.cut->last_place && cut.cut->value - bounds->low < cut.cut->last_place;
}

bool Comparison::same_items(const std::vector<Value>& gold, const std::vector<Value>& answer) {
  return gold.size() == answer.size() && std::equal(gold.begin(), gold.end(), answer.begin(),
                                                    [this](const Value& g, const Value& a) { return same(g, a); });
}

bool Comparison::same_multiset(const std::vector<const Value*>& gold, const std::vector<const Value*>& answer) {
  if (gold.size() != answer.size()) return false;
  std::vector<bool> used(answer.size(), false);
  for (const Value* g : gold) {
    bool found = false;
    for (std::size_t i = 0; i < answer.size() && !found; ++i) {
      // Among several, x = 1 is not 1: that would leave out which one is x.
      const bool alike = (g->kind == ValueKind::relation) == (answer[i]->kind == ValueKind::relation);
      if (used[i] || !alike || !same(*g, *answer[i])) continue;
      used[i] = found = true;
    }
    if (!found) return false;
  }
  return true;
}

std::vector<const Value*> Comparison::distinct(const std::vector<const Value*>& items) {
  std::vector<const Value*> all;
  for (const Value* item : items) {
    if (std::none_of(all.begin(), all.end(), [&](const Value* other) { return same(*other, *item); }))
      all.push_back(item);
  }
  return all;
}

bool Comparison::same_collection(const Value& gold, const Value& answer) {
  std::vector<const Value*> g = pointers(gold.item), a = pointers(answer.item);
  const auto g_bare = without_label(g), a_bare = without_label(a);
  if (g_bare && !a_bare) g = *g_bare;
  if (a_bare && !g_bare) a = *a_bare;
  if (gold.kind == ValueKind::list && answer.kind == ValueKind::list) return same_multiset(g, a);
  return same_multiset(distinct(g), distinct(a));
}

bool Comparison::same_relation(const Value& gold, const Value& answer) {
  const auto scalars = [](const Value& v) {
    return std::all_of(v.item.begin(), v.item.end(),
                       [](const Value& side) { return side.kind == ValueKind::scalar && !has_infinity(side.scalar); });
  };
  if (!scalars(gold) || !scalars(answer)) return gold.text == answer.text && same_items(gold.item, answer.item);
  for (const int k : {0, 1}) {
    const std::string &g = gold.item[k].unit, &a = answer.item[k].unit;
    if (!g.empty() && !a.empty() && g != a) return false;
  }
  const auto difference = [this](const Value& v) { return field_.add(v.item[0].scalar, v.item[1].scalar, -1); };
  const auto factor = field_.ratio(difference(gold), difference(answer));
  if (!factor) return false;
  if (!is_inequality(gold) || !is_inequality(answer)) return gold.text == answer.text;
  const auto strict = [](const Value& v) { return v.text.size() == 1; };
  const auto greater = [](const Value& v) { return v.text[0] == '>'; };
  return strict(gold) == strict(answer) && (greater(gold) == greater(answer)) == (*factor > 0);
}

// x < 3 as (-∞, 3).
std::optional<Value> Comparison::as_interval(const Value& v) {
  if (!is_inequality(v) || v.item[0].kind != ValueKind::scalar || v.item[1].kind != ValueKind::scalar)
    return std::nullopt;
  const bool left = v.item[0].scalar.above.size() == 1 && !is_number(v.item[0].scalar);
  const Value &name = v.item[left ? 0 : 1], &bound = v.item[left ? 1 : 0];
  if (name.scalar.above.size() != 1 || !is_constant(name.scalar.below)) return std::nullopt;
  const auto& [m, c] = *name.scalar.above.begin();
  if (c != 1 || m.size() != 1 || m.begin()->first[0] != 's' || m.begin()->second != 1 || !is_number(bound.scalar))
    return std::nullopt;
  const bool above = (v.text[0] == '>') == left, closed = v.text.size() == 2;
  Value infinity, interval;
  infinity.scalar = field_.multiply(field_.number(above ? 1 : -1), field_.atom("s∞"));
  interval.kind = ValueKind::ordered;
  interval.label = m.begin()->first;
  if (above) {
    interval.text = closed ? "[)" : "()";
    interval.item = {bound, infinity};
  } else {
    interval.text = closed ? "(]" : "()";
    interval.item = {infinity, bound};
  }
  return interval;
}

// Also 0 < x < 5 as (0, 5), and x < 1 or x > 5 as a union.
std::optional<Value> Comparison::as_intervals(const Value& v) {
  if (v.kind == ValueKind::relation) return as_interval(v);
  if (v.kind != ValueKind::list || v.item.size() != 2) return std::nullopt;
  auto first = as_interval(v.item[0]), second = as_interval(v.item[1]);
  if (!first || !second || first->label != second->label) return std::nullopt;
  if (v.text == "chain") {
    if (has_infinity(second->item[1].scalar)) std::swap(first, second);
    if (!has_infinity(first->item[1].scalar) || !has_infinity(second->item[0].scalar)) return std::nullopt;
    Value both = *first;
    both.item[1] = second->item[1];
    both.text = {first->text[0], second->text[1]};
    return both;
  }
  Value both;
  both.kind = ValueKind::unite;
  both.item = {*first, *second};
  return both;
}

}  // namespace maxplus::math
