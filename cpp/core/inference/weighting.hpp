#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/network/flat.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// Likelihood weighting (Fung and Chang 1990; Shachter and Peot 1990): missing cells are drawn
// given their parents, and a draw counts with the probability of the cells observed. Draws
// depend on the seed, the row, the number of the draw and the variable only, and are added up
// in a fixed order: the result is the same for any number of threads.
struct Weighted {
  // Variable by variable, within it the rows where it is missing in ascending order, card
  // probabilities each; only wanted variables. NaN where no draw agrees with the evidence.
  std::vector<double> probabilities;
  std::vector<double> errors;  // standard errors of the probabilities
  // Of the variables asked about together, the last varying fastest; their standard errors.
  std::vector<double> joint, joint_errors;
  // Per row. The log-probability is -inf and the effective number of draws 0 where no draw
  // agrees with the evidence.
  std::vector<double> log_evidence;
  std::vector<double> effective;
};

// `order` lists every variable after its parents. `is_wanted` holds one flag per variable, or
// nothing when every missing cell is wanted. `together`, only with a single row, lists wanted
// variables, missing there, whose joint distribution is asked for. Empty when stopped.
Weighted weigh(const FlatNetwork& network, std::span<const Var> order, const Table& table,
               std::span<const std::uint8_t> is_wanted, std::span<const Var> together,
               std::size_t n_samples, std::uint64_t seed, std::size_t n_threads, const Stop& stop);

struct WeightedDraws {
  std::vector<std::uint8_t> cells;  // n_draws times n_vars * n_rows; missing where none agrees
  // Per row, as in Weighted.
  std::vector<double> log_evidence;
  std::vector<double> effective;
};

// Completed tables: per row, n_draws of n_samples draws are picked by their weights.
WeightedDraws weighted_draws(const FlatNetwork& network, std::span<const Var> order,
                             const Table& table, std::size_t n_samples, std::size_t n_draws,
                             std::uint64_t seed, std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
