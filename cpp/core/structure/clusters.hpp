#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/stop.hpp"
#include "core/base/variable.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// Rows of integers of unequal length.
struct Ragged {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> items;

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> row(std::size_t index) const {
    const auto first = offsets[index];
    return {items.data() + first, offsets[index + 1] - first};
  }
  void close() { offsets.push_back(items.size()); }
};

// The defaults are those of the interface that calls.
struct SeparationLimits {
  std::size_t max_clusters;
  std::size_t steps;        // of the search from one variable
  std::size_t final_steps;  // of the same when no search has found a cluster
  double min_violation;
  bool must_find;  // the time counts only once a cluster has been found
};

// Clusters C (sets of variables), and for each the inequality "some variable of C has no parent in
// C", in whichever of its two forms has fewer terms.
struct ClusterCuts {
  Ragged clusters;
  Ragged candidates;                 // the terms of the inequality
  std::vector<std::uint8_t> misses;  // 1: sum of the terms >= 1; 0: sum <= |cluster| - 1
};

// Clusters whose inequality,
//   sum over i in C of the weight of the candidates of i that miss C >= 1,
// is violated by the weights (one per candidate). Most violated first, each one minimal:
// without any of its members it would be less violated.
ClusterCuts violated_clusters(const ParentLists& families, std::span<const double> weights,
                              const SeparationLimits& limits, const Stop& stop);

}  // namespace bayesmend
