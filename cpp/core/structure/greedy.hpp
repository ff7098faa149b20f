#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/score/score.hpp"
#include "core/structure/candidates.hpp"

namespace bayesmend {

// The defaults are those of the interface that calls.
struct GreedyOptions {
  std::size_t tabu_length;  // changes during which an arc stays as it was left
  std::size_t tabu_moves;   // changes in a row without a new best that end a climb
  std::size_t restarts;     // climbs from a perturbed best DAG in a row that gain nothing
  double near;              // how far below the best other DAGs are of interest
  std::size_t n_promising;  // parents told for each parent set met: those that would gain the most
  std::size_t max_remembered;  // numbers: gains of parent sets that were met
  std::uint64_t seed;
  Progress* progress = nullptr;
};

struct FoundDag {
  double score = 0.0;
  std::vector<std::vector<Var>> parents;
};

struct GreedyResult {
  double score = 0.0;
  std::vector<std::vector<Var>> parents;
  std::vector<FoundDag> others;  // where other climbs ended that is near the best; best first
  std::vector<std::vector<Var>> promising;  // per child, of all parent sets met; ascending
  std::size_t n_changes = 0, n_restarts = 0;
  StopReason stopped = StopReason::nothing;
};

// Hill climbing on the data by adding, deleting and reversing arcs, with a tabu list and restarts.
// Starts from `start` (parents per variable), which must keep the rules.
GreedyResult climb_greedily(const FamilyScorer& scorer, const ParentRules& rules,
                            const std::vector<std::vector<Var>>& start,
                            const GreedyOptions& options, std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
