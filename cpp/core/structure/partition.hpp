#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// So many variables at most.
inline constexpr std::size_t kMostPartitionVars = 256;

struct PartitionOptions {
  std::size_t n_chains;
  std::size_t n_samples;  // DAGs of each chain
  std::size_t n_steps;    // between two of them
  std::size_t burn_in;    // steps before the first
  std::uint64_t seed;
  Progress* progress = nullptr;
};

struct PartitionSamples {
  std::vector<std::size_t> choices;   // candidates by chain, sample and variable
  std::vector<double> scores;         // of the DAGs, by chain and sample
  std::vector<std::uint32_t> layers;  // where each chain ended: the layer of each variable
  std::size_t n_samples = 0;          // of each chain; at least one
  StopReason stopped = StopReason::nothing;
};

// Draws DAGs with probability proportional to the exponential of their scores, by chains over
// ordered partitions of the variables (Kuipers & Moffa 2017): a variable in a layer has all its
// parents in layers before, and at least one in the last of these. Each DAG belongs to one
// partition only, so that nothing favours DAGs with many orders. `start` has the layer of each
// variable in each chain, those of some DAG made of candidates.
PartitionSamples sample_partitions(const ParentLists& lists, std::span<const std::uint32_t> start,
                                   const PartitionOptions& options, std::size_t n_threads,
                                   const Stop& stop);

}  // namespace bayesmend
