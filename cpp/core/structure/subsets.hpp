#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// Takes bit `gap` out of a mask that lacks it, so that the others are numbered without a gap.
inline std::uint32_t squeeze(std::uint32_t mask, std::size_t gap) {
  const std::uint32_t low = (std::uint32_t{1} << gap) - 1;
  return (mask & low) | ((mask >> 1) & ~low);
}

// The best DAG of given families by dynamic programming over subsets of the variables: the best DAG
// on a subset has a sink, whose parents come from the rest (Silander & Myllymaki 2006). Tables are
// made on first use and stay allocated, for families that change from call to call.
class SubsetProgram {
 public:
  explicit SubsetProgram(std::size_t n_vars, std::size_t n_threads = 1);

  // Bytes that the tables of `n_vars` variables take; `through` adds the backward pass.
  static double memory(std::size_t n_vars, bool through);

  std::size_t n_vars() const { return n_vars_; }
  // Forgets all families; to be called before the first offer() and after each solve().
  void clear();
  // Offers a family: `parents` is a mask over all variables.
  void offer(std::size_t child, std::uint32_t parents, double score);
  // In place of both: offers all candidates. False when stopped.
  bool offer_all(const ParentLists& lists, const Stop& stop);

  // Best total over all DAGs of offered families; minus infinity when there is none, plus infinity
  // (a bound that says nothing) when stopped.
  double solve(const Stop& stop);
  // After solve(): for each variable, which others may be its parents in the best DAG found.
  std::vector<std::uint32_t> predecessors() const;
  // After solve(): prepares around(); false when stopped.
  bool pass_backward(const Stop& stop);
  // Best total of all other variables when `child` has these parents, by mask of the others.
  void around(std::size_t child, std::vector<double>& target, const Stop& stop = {}) const;

  // Calls work(variable, thread) for every variable; false when stopped.
  template <class Work>
  bool for_variables(const Stop& stop, Work&& work) const;

 private:
  template <class Work>
  bool for_subsets(bool ascending, const Stop& stop, Work&& work) const;
  double* best_of(std::size_t child) const { return best_.get() + child * half_; }
  void fill_forward(std::uint32_t block);

  std::size_t n_vars_, half_, n_threads_;
  std::unique_ptr<double[]> best_;  // per child, by mask of the others
  std::vector<double> forward_;     // best DAG on a subset
  std::vector<double> backward_;    // best families of the rest when the subset comes first
};

struct SubsetSolution {
  double score = 0.0;                // minus infinity when no choice of candidates is acyclic
  std::vector<std::size_t> choices;  // candidate of each variable; empty when there is none
  std::vector<double> best_through;  // for each candidate, the score of the best DAG that uses it
  StopReason stopped = StopReason::nothing;  // then the rest may be missing
};

// The best choice of one candidate per variable; `through`: and the best through each candidate.
SubsetSolution solve_subsets(const ParentLists& lists, bool through, std::size_t n_threads,
                             const Stop& stop);

}  // namespace bayesmend
