#pragma once
// M2PO: Zheng et al., "Prosperity before collapse", 2025, arXiv 2510.01161. x = -M r A, r against the policy that drew
// the token; M leaves out the tokens with the largest squared log-ratio until the mean over the rest of the step is
// within m2_threshold (0.04). Tokens left out stay in the denominators.
//
// Which tokens these are is decided before the step's first gradient from the proximal policy's log-probabilities (one
// forward an iteration); the paper decides anew at every update.

#include <span>

#include "rl/algorithms/recipe.hpp"
#include "rl/algorithms/token_objective.hpp"

namespace maxplus {

struct Experience;

TokenTerm plain_ratio_term(const TokenPoint& point);

// The largest square that may stay so that the mean of all that stay is at most `threshold`; equal squares stay or go
// together. 0 where even that is too much, infinity for none.
double largest_square_within(std::vector<double> squares, double threshold);
// Of the trainable tokens of a step, which know their proximal log-probability.
double largest_square_within(std::span<const Experience* const> step, double threshold);

Recipe m2po_recipe();

}  // namespace maxplus
