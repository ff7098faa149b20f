#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/inference/holes.hpp"

namespace bayesmend {

// What a network says about the holes of a table. Results are empty when `stop` ended the work.

// Log-probability of what is observed in each row; minus infinity where it is impossible.
std::vector<double> log_evidence(const Holes& holes, std::span<const double> cpts,
                                 std::size_t n_threads, const Stop& stop);

struct Explanation {
  std::vector<std::uint8_t> cells;  // the completed table, one variable after the other
  std::size_t n_vars = 0;
  std::vector<double> log_probability;  // of each completed row
};
// The most probable completion of each row; rows that are impossible keep their holes.
Explanation explain(const Holes& holes, std::span<const double> cpts, std::size_t n_threads,
                    const Stop& stop);

// Distributions of the holes that are asked for: variable by variable, rows ascending, one
// probability per state. Zeros where the row is impossible.
std::vector<double> marginals(const Holes& holes, std::span<const double> cpts,
                              std::size_t n_threads, const Stop& stop);

// Completions drawn from the posterior: draw by draw, each one variable after the other. A draw of
// a row depends on the seed, the row and the number of the draw only. Impossible rows keep holes.
std::vector<std::uint8_t> draw_completions(const Holes& holes, std::span<const double> cpts,
                                           std::size_t n_draws, std::uint64_t seed,
                                           std::size_t n_threads, const Stop& stop);

// The joint distribution of some variables given the first row of a table, the first variable
// varying fastest; observed ones take their value with probability 1. Zeros when impossible.
std::vector<double> joint_distribution(const Holes& holes, std::span<const double> cpts,
                                       std::span<const Var> variables);

// What joint_distribution needs.
TableSize joint_size(const Holes& holes, std::span<const Var> variables);

}  // namespace bayesmend
