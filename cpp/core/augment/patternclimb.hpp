#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/augment/problem.hpp"

namespace bayesmend {

// What each cell would cost in its best other state, the DAG and all other cells as they are.
struct Margins {
  std::vector<double> losses;            // of the score; infinity for a variable with one state
  std::vector<std::uint8_t> runners_up;  // the best other states
};

// Improves a completion for a given DAG, pattern by pattern.
class PatternClimber {
 public:
  PatternClimber(const AugmentProblem& problem, const Stop& stop);

  // Moves patterns, in all their holes together where these have few joint states, until none
  // can be improved; true on any gain. `chosen` holds one family per variable.
  bool improve(std::span<const std::uint32_t> chosen, AugmentProblem::Completion& completion);
  // For each cell, what it costs that one row of its pattern takes another state there.
  Margins margins(std::span<const std::uint32_t> chosen,
                  const AugmentProblem::Completion& completion);

 private:
  void load(std::span<const std::uint32_t> chosen);
  double improve_pattern(std::size_t pattern);
  double improve_cells(std::size_t pattern, std::span<const std::uint32_t> cells,
                       std::size_t n_states);
  // Takes rows of the pattern out of the tables, scores putting them back in every joint state of
  // `cells`, and leaves them out.
  void take_out(std::span<const std::uint32_t> cells, std::size_t n_states, std::uint32_t n_rows);
  void add_terms(std::span<const std::uint32_t> cells, std::uint32_t n_rows);
  void put_back(std::size_t pattern, std::uint32_t n_rows);
  std::uint32_t weight_of(std::size_t pattern) const;

  const AugmentProblem& problem_;
  const Stop& stop_;
  std::vector<std::uint32_t> chosen_;
  AugmentProblem::Completion completion_;
  // Counts of the chosen families under completion_, whole and per parent configuration.
  std::vector<std::vector<std::uint32_t>> counts_, configs_;
  // The items of the chosen families by pattern: (variable, item).
  struct Seen {
    Var variable;
    std::uint32_t item;
  };
  std::vector<std::vector<Seen>> seen_;
  std::vector<double> gains_;
};

}  // namespace bayesmend
