#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// Exact structure learning by dynamic programming over subsets of the variables: the best DAG on
// a subset has a sink, whose parents come from the rest (Silander & Myllymaki 2006).
class SubsetProgram {
 public:
  static constexpr std::size_t kMaxVars = 30;
  // Bytes that the tables of `n_vars` variables take; `through` adds the backward pass.
  static double memory(std::size_t n_vars, bool through);

  // Fills the tables; false when stopped.
  bool run(const ParentLists& lists, std::size_t n_threads, const Stop& stop);

  // Score of the best DAG; minus infinity when no choice of candidates is acyclic.
  double score() const { return forward_.back(); }
  // Candidate of each variable in the best DAG; call only when the score is finite.
  std::vector<std::int64_t> choices() const;
  // For each candidate, the score of the best DAG that uses it; empty when stopped.
  std::vector<double> best_through(std::size_t n_threads, const Stop& stop);

 private:
  double best_parents(std::size_t variable, std::uint32_t others) const;
  bool pass_forward(std::size_t n_threads, const Stop& stop);
  bool pass_backward(std::size_t n_threads, const Stop& stop);

  ParentLists lists_;
  std::size_t n_vars_ = 0;
  std::vector<std::vector<double>> best_parents_;  // per variable, by subset of the others
  std::vector<double> forward_;                    // best DAG on a subset
  std::vector<double> backward_;  // best families of the rest when the subset comes first
};

}  // namespace bayesmend
