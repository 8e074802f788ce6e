// Tables of spellings.
#include "verify/math/spelling.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "text/utf8.hpp"
#include "verify/characters.hpp"

namespace maxplus::math {

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr Pair kSigns[] = {
    {"−", "-"},
    {"–", "-"},
    {"‐", "-"},
    {"‑", "-"},
    {"×", "\\times "},
    {"·", "\\cdot "},
    {"⋅", "\\cdot "},
    {"∙", "\\cdot "},
    {"÷", "\\div "},
    {"⁄", "/"},
    {"∕", "/"},
    {"π", "\\pi "},
    {"√", "sqrt "},
    {"∞", "\\infty "},
    {"≤", "\\le "},
    {"≥", "\\ge "},
    {"⩽", "\\le "},
    {"⩾", "\\ge "},
    {"≠", "\\ne "},
    {"∪", "\\cup "},
    {"∩", "\\cap "},
    {"∈", "\\in "},
    {"∅", "\\emptyset "},
    {"±", "\\pm "},
    {"∓", "\\mp "},
    {"°", "^\\circ "},
    {"²", "^{2}"},
    {"³", "^{3}"},
    {"⁴", "^{4}"},
    {"ℝ", "\\mathbb{R}"},
    {"ℤ", "\\mathbb{Z}"},
    {"ℚ", "\\mathbb{Q}"},
    {"ℕ", "\\mathbb{N}"},
    {"ℂ", "\\mathbb{C}"},
    {"∖", "\\setminus "},
    {"α", "\\alpha "},
    {"β", "\\beta "},
    {"γ", "\\gamma "},
    {"δ", "\\delta "},
    {"θ", "\\theta "},
    {"λ", "\\lambda "},
    {"μ", "\\mu "},
    {"φ", "\\phi "},
    {"ω", "\\omega "},
    {"σ", "\\sigma "},
    {"ρ", "\\rho "},
    {"ε", "\\epsilon "},
    {"τ", "\\tau "},
    {"\xc2\xa0", " "},
    {"\xe2\x80\x89", "\\,"},
    {"\xe2\x80\xaf", "\\,"},
    {"⟨", "\\langle "},
    {"⟩", "\\rangle "},
    {"€", "\\$"},
    {"£", "\\$"},
    {"½", "\\frac{1}{2}"},
    {"¼", "\\frac{1}{4}"},
    {"¾", "\\frac{3}{4}"},
    {"′", "'"},
    {"’", "'"},
};

struct Row {
  std::string_view name;
  Spelling spelling;
};

constexpr Spelling::Kind kBlank = Spelling::Kind::blank, kSign = Spelling::Kind::sign,
                         kCommand = Spelling::Kind::command, kSymbol = Spelling::Kind::symbol;

constexpr Row kCommands[] = {
    {"left", {kBlank, ""}},
    {"right", {kBlank, ""}},
    {"big", {kBlank, ""}},
    {"Big", {kBlank, ""}},
    {"bigl", {kBlank, ""}},
    {"bigr", {kBlank, ""}},
    {"Bigl", {kBlank, ""}},
    {"Bigr", {kBlank, ""}},
    {"bigg", {kBlank, ""}},
    {"Bigg", {kBlank, ""}},
    {"quad", {kBlank, ""}},
    {"qquad", {kBlank, ""}},
    {"displaystyle", {kBlank, ""}},
    {"textstyle", {kBlank, ""}},
    {"limits", {kBlank, ""}},
    {"thinspace", {kBlank, ""}},
    {"underline", {kBlank, ""}},
    {"boxed", {kBlank, ""}},
    {"fbox", {kBlank, ""}},
    {"nolimits", {kBlank, ""}},
    {"times", {kSign, "*"}},
    {"cdot", {kSign, "*"}},
    {"ast", {kSign, "*"}},
    {"div", {kSign, "/"}},
    {"le", {kSign, "<="}},
    {"leq", {kSign, "<="}},
    {"leqslant", {kSign, "<="}},
    {"ge", {kSign, ">="}},
    {"geq", {kSign, ">="}},
    {"geqslant", {kSign, ">="}},
    {"lt", {kSign, "<"}},
    {"gt", {kSign, ">"}},
    {"ne", {kSign, "!="}},
    {"neq", {kSign, "!="}},
    {"lvert", {kSign, "|"}},
    {"rvert", {kSign, "|"}},
    {"vert", {kSign, "|"}},
    {"colon", {kSign, ":"}},
    {"lbrace", {kSign, "\\{"}},
    {"rbrace", {kSign, "\\}"}},
    {"lbrack", {kSign, "["}},
    {"rbrack", {kSign, "]"}},
    {"in", {kSign, "in"}},
    {"cup", {kSign, "cup"}},
    {"cap", {kSign, "cap"}},
    {"setminus", {kSign, "setminus"}},
    {"backslash", {kSign, "setminus"}},
    {"pm", {kSign, "pm"}},
    {"mp", {kSign, "mp"}},
    {"langle", {kSign, "<("}},
    {"rangle", {kSign, ")>"}},
    {"lfloor", {kSign, "lfloor"}},
    {"rfloor", {kSign, "rfloor"}},
    {"lceil", {kSign, "lceil"}},
    {"rceil", {kSign, "rceil"}},
    {"frac", {kCommand, "frac"}},
    {"dfrac", {kCommand, "frac"}},
    {"tfrac", {kCommand, "frac"}},
    {"cfrac", {kCommand, "frac"}},
    {"sqrt", {kCommand, "sqrt"}},
    {"binom", {kCommand, "binom"}},
    {"dbinom", {kCommand, "binom"}},
    {"tbinom", {kCommand, "binom"}},
    {"pi", {kCommand, "pi"}},
    {"infty", {kCommand, "infty"}},
    {"emptyset", {kCommand, "emptyset"}},
    {"varnothing", {kCommand, "emptyset"}},
    {"circ", {kCommand, "circ"}},
    {"degree", {kCommand, "degree"}},
    {"overline", {kCommand, "overline"}},
    {"vec", {kCommand, "vec"}},
    {"hat", {kCommand, "hat"}},
    {"bar", {kCommand, "bar"}},
    {"angle", {kCommand, "angle"}},
    {"triangle", {kCommand, "angle"}},
    {"alpha", {kSymbol, "α"}},
    {"beta", {kSymbol, "β"}},
    {"gamma", {kSymbol, "γ"}},
    {"delta", {kSymbol, "δ"}},
    {"theta", {kSymbol, "θ"}},
    {"vartheta", {kSymbol, "θ"}},
    {"lambda", {kSymbol, "λ"}},
    {"mu", {kSymbol, "μ"}},
    {"phi", {kSymbol, "φ"}},
    {"varphi", {kSymbol, "φ"}},
    {"omega", {kSymbol, "ω"}},
    {"sigma", {kSymbol, "σ"}},
    {"rho", {kSymbol, "ρ"}},
    {"epsilon", {kSymbol, "ε"}},
    {"varepsilon", {kSymbol, "ε"}},
    {"tau", {kSymbol, "τ"}},
    {"eta", {kSymbol, "η"}},
    {"zeta", {kSymbol, "ζ"}},
    {"kappa", {kSymbol, "κ"}},
    {"nu", {kSymbol, "ν"}},
    {"xi", {kSymbol, "ξ"}},
    {"psi", {kSymbol, "ψ"}},
    {"chi", {kSymbol, "χ"}},
    {"Gamma", {kSymbol, "Γ"}},
    {"Delta", {kSymbol, "Δ"}},
    {"Theta", {kSymbol, "Θ"}},
    {"Lambda", {kSymbol, "Λ"}},
    {"Sigma", {kSymbol, "Σ"}},
    {"Phi", {kSymbol, "Φ"}},
    {"Psi", {kSymbol, "Ψ"}},
    {"Omega", {kSymbol, "Ω"}},
    {"ell", {kSymbol, "ℓ"}},
    {"hbar", {kSymbol, "ħ"}},
};

constexpr std::string_view kFunctions[] = {"sin",    "cos",    "tan",  "cot",  "sec",  "csc", "arcsin",
                                           "arccos", "arctan", "sinh", "cosh", "tanh", "log", "ln",
                                           "lg",     "exp",    "gcd",  "lcm",  "max",  "min"};

constexpr Pair kUnits[] = {
    {"mm", "mm"},         {"millimeter", "mm"}, {"millimetre", "mm"}, {"cm", "cm"},         {"centimeter", "cm"},
    {"centimetre", "cm"}, {"m", "m"},           {"meter", "m"},       {"metre", "m"},       {"km", "km"},
    {"kilometer", "km"},  {"kilometre", "km"},  {"inch", "in"},       {"inche", "in"},      {"in", "in"},
    {"ft", "ft"},         {"feet", "ft"},       {"foot", "ft"},       {"yd", "yd"},         {"yard", "yd"},
    {"mi", "mi"},         {"mile", "mi"},       {"mg", "mg"},         {"milligram", "mg"},  {"g", "g"},
    {"gram", "g"},        {"kg", "kg"},         {"kilogram", "kg"},   {"lb", "lb"},         {"pound", "lb"},
    {"ml", "ml"},         {"mL", "ml"},         {"milliliter", "ml"}, {"l", "l"},           {"L", "l"},
    {"liter", "l"},       {"litre", "l"},       {"sec", "s"},         {"second", "s"},      {"s", "s"},
    {"min", "min"},       {"minute", "min"},    {"h", "h"},           {"hr", "h"},          {"hour", "h"},
    {"day", "day"},       {"week", "week"},     {"month", "month"},   {"year", "year"},     {"yr", "year"},
    {"mph", "mi/h"},      {"kph", "km/h"},      {"kmh", "km/h"},      {"dollar", "dollar"}, {"usd", "dollar"},
    {"cent", "cent"},     {"degree", "°"},      {"deg", "°"},         {"unit", ""},         {"hz", "hz"},
    {"kj", "kj"},         {"kw", "kw"},         {"rad", "rad"},       {"radian", "rad"},
};

constexpr std::string_view kNoUnits[] = {"or",
                                         "and",
                                         "not",
                                         "no",
                                         "if",
                                         "is",
                                         "are",
                                         "base",
                                         "mod",
                                         "modulo",
                                         "thousand",
                                         "million",
                                         "billion",
                                         "trillion",
                                         "hundred",
                                         "dozen",
                                         "half",
                                         "halves",
                                         "third",
                                         "thirds",
                                         "quarter",
                                         "quarters",
                                         "tenth",
                                         "tenths",
                                         "score",
                                         "percent",
                                         "per-cent",
                                         "times",
                                         "plus",
                                         "minus",
                                         "over",
                                         "divided",
                                         "squared",
                                         "cubed",
                                         "factorial",
                                         "than",
                                         "more",
                                         "less",
                                         "least",
                                         "most",
                                         "approximately",
                                         "about",
                                         "to",
                                         "through",
                                         "but",
                                         "wrong",
                                         "false",
                                         "none",
                                         "nothing",
                                         "pairs",
                                         "gross",
                                         "except",
                                         "negative",
                                         "points-off",
                                         "th",
                                         "st",
                                         "nd",
                                         "rd",
                                         "hundredth",
                                         "hundredths",
                                         "thousandth",
                                         "thousandths",
                                         "ten",
                                         "twenty",
                                         "k",
                                         "i",
                                         "e",
                                         "pi",
                                         "x",
                                         "y",
                                         "z",
                                         "n",
                                         "where",
                                         "for",
                                         "otherwise",
                                         "when",
                                         "pair"};

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower_case);
  return result;
}

std::string one_unit(std::string_view word) {
  const auto known = [](std::string_view name) -> const Pair* {
    const auto* const found =
        std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Pair& p) { return p.first == name; });
    return found == std::end(kUnits) ? nullptr : found;
  };
  if (const Pair* pair = known(word)) return std::string(pair->second);
  std::string name = in_lower_case(word);
  if (const Pair* pair = name.size() > 1 ? known(name) : nullptr) return std::string(pair->second);
  if (name.size() > 2 && name.back() == 's') {
    name.pop_back();
    if (const Pair* pair = known(name)) return std::string(pair->second);
  }
  return name;
}

}  // namespace

std::string with_latex_signs(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      result += text[i++];
      continue;
    }
    const auto* const found = std::find_if(std::begin(kSigns), std::end(kSigns),
                                           [&](const Pair& p) { return text.substr(i).starts_with(p.first); });
    if (found == std::end(kSigns)) {
      result += text[i++];
    } else {
      result += found->second;
      i += found->first.size();
    }
  }
  return result;
}

std::optional<Spelling> spelling_of(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Row& row) { return row.name == name; });
  if (found != std::end(kCommands)) return found->spelling;
  const auto* const function = std::find(std::begin(kFunctions), std::end(kFunctions), name);
  if (function != std::end(kFunctions)) return Spelling{kCommand, *function};
  return std::nullopt;
}

bool is_function(std::string_view name) {
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

std::string unit_name(std::string_view words) {
  std::string name;
  bool square = false, cube = false, per = false;
  std::string spaced;
  for (const char c : words) spaced += c == '/' ? std::string(" / ") : std::string(1, c);
  for (const std::string_view word : split_words(spaced)) {
    const std::string small = in_lower_case(word);
    if (small == "square" || small == "sq" || small == "sq.") {
      square = true;
    } else if (small == "cubic") {
      cube = true;
    } else if (small == "per" || small == "/") {
      per = true;
    } else {
      std::string_view plain = word;
      while (!plain.empty() && (plain.back() == '.' || plain.back() == ',')) plain.remove_suffix(1);
      if (!name.empty()) name += per ? "/" : " ";
      name += one_unit(plain);
      if (square) name += "^2";
      if (cube) name += "^3";
      square = cube = per = false;
    }
  }
  return name;
}

bool is_bare_unit(std::string_view letters) {
  if (letters.size() < 2) return false;
  const std::string small = in_lower_case(letters);
  return std::any_of(std::begin(kUnits), std::end(kUnits), [&](const Pair& p) {
    return p.first.size() > 1 && (p.first == small || (small.size() > 3 && std::string(p.first) + 's' == small));
  });
}

bool may_be_unit(std::string_view words) {
  const std::vector<std::string_view> list = split_words(words);
  if (list.empty() || list.size() > 4) return false;
  for (const std::string_view word : list) {
    std::string plain = in_lower_case(word);
    while (!plain.empty() && (plain.back() == '.' || plain.back() == ',')) plain.pop_back();
    for (const char c : plain) {
      if (!is_letter(c) && c != '-' && c != '.' && c != '/' && static_cast<unsigned char>(c) < 0x80) return false;
    }
    if (std::find(std::begin(kNoUnits), std::end(kNoUnits), plain) != std::end(kNoUnits)) return false;
  }
  return true;
}

std::string normal_words(std::string_view words) {
  std::string text;
  for (const std::string_view word : split_words(words)) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  constexpr std::string_view kEnds = ".,;:!?\"'`*";
  for (bool again = true; again && !text.empty();) {
    again = false;
    if (kEnds.find(text.back()) != std::string_view::npos) {
      text.pop_back();
      again = true;
    } else if (kEnds.find(text.front()) != std::string_view::npos) {
      text.erase(0, 1);
      again = true;
    } else if (text.size() > 1 && text.front() == '(' && text.back() == ')') {
      text = text.substr(1, text.size() - 2);
      again = true;
    }
  }
  return text.size() > 3 || text == "Yes" || text == "No" ? in_lower_case(text) : text;
}

}  // namespace maxplus::math
