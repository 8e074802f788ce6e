#pragma once
// Losses of whole answers: of pairs of which one was preferred, and of single answers that were marked.
//
// Notation: s the sum over an answer's trainable tokens of lp - ref (simpo, orpo: of lp), n their number, c and r the
// chosen and the rejected answer of a pair, d = s_c - s_r, sigma the logistic function, z the reference point.
//
//   dpo    -(1 - e) log sigma(beta d) - e log sigma(-beta d)               Rafailov et al. 2023, arXiv 2305.18290
//   ipo    (d - 1 / (2 beta))^2, each s a sum, or divided by its n         Azar et al. 2023, arXiv 2310.12036
//   simpo  -log sigma(beta (s_c / n_c - s_r / n_r) - margin)               Meng et al. 2024, arXiv 2405.14734
//   orpo   -s_c / n_c - lambda log sigma(o_c - o_r),                       Hong et al. 2024, arXiv 2403.07691
//          o = log(p / (1 - p)) with p = exp(s / n)
//   kto    good: w_good (1 - sigma(beta (s - z))),                         Ethayarajh et al. 2024, arXiv 2402.01306
//          bad: w_bad (1 - sigma(beta (z - s)))
//   score  -(1 - e) log sigma(x) - e log sigma(-x), x = s_c - s_r - margin, s a score of the whole answer instead of
//          log-probabilities                                   Bradley and Terry 1952; Ouyang et al. 2022, arXiv
//          2203.02155

#include <cstdint>
#include <string>

namespace maxplus {

enum class PreferenceLoss : std::uint8_t { dpo, ipo, simpo, orpo, kto, score };

struct PreferenceRule {
  PreferenceLoss loss = PreferenceLoss::dpo;
  double beta = 0.1;                       // of orpo: lambda
  double label_smoothing = 0;              // e: the share of pairs that are taken to be the wrong way round
  double margin = 0;                       // of simpo and score
  bool mean_over_tokens = true;            // of ipo
  double good_weight = 1, bad_weight = 1;  // of kto

  bool of_scores() const { return loss == PreferenceLoss::score; }
  bool needs_reference() const { return loss != PreferenceLoss::simpo && loss != PreferenceLoss::orpo && !of_scores(); }
  bool of_pairs() const { return loss != PreferenceLoss::kto; }
  std::string describe() const;
};

// s and n of an answer (of a score: s alone); without trainable tokens it has 0 of both, and a mean over them of 0.
struct AnswerSum {
  double sum = 0;
  std::int64_t tokens = 0;
};

struct PairLoss {
  double value = 0;
  double by_chosen = 0, by_rejected = 0;  // derivatives by s
  double margin = 0;  // what the rule compares, chosen less rejected: above 0 the pair is the right way round
};

// What the rule compares of an answer.
double worth_of(const AnswerSum& answer, const PreferenceRule& rule);
PairLoss pair_loss(const AnswerSum& chosen, const AnswerSum& rejected, const PreferenceRule& rule);

struct MarkedLoss {
  double value = 0;
  double slope = 0;  // by s
};

MarkedLoss marked_loss(const AnswerSum& answer, bool good, double reference_point, const PreferenceRule& rule);

}  // namespace maxplus
