#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/score/score.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// Which parents a child may, must and at most may have.
struct ParentRules {
  std::span<const std::uint8_t> allowed;   // n_vars * n_vars: allowed[child * n_vars + parent]
  std::span<const std::uint8_t> required;  // the same shape
  std::span<const std::uint32_t> limit;    // largest number of parents, per child
};

// Every set within the rules that beats each of its subsets. Empty lists when stopped.
OwnedParentLists all_candidates(const FamilyScorer& scorer, const ParentRules& rules,
                                std::size_t n_threads, const Stop& stop);

// The most promising sets first, by the score that two sets of parents would have together if
// their contributions added up (Scanagatta et al. 2015), until `max_sets` families of each child
// are scored or the time of the child is over. Deterministic without a time limit. `seeds`
// holds one known good set per child, within the rules; it and its subsets come first.
OwnedParentLists promising_candidates(const FamilyScorer& scorer, const ParentRules& rules,
                                      const std::vector<std::vector<Var>>& seeds,
                                      std::size_t max_sets, double seconds_per_child,
                                      std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
