#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/augment/local.hpp"
#include "core/augment/problem.hpp"
#include "core/base/parallel.hpp"

namespace bayesmend {

struct ExactOptions {
  double gap = 1e-6;               // stop when the bound is this close to the score
  std::size_t max_nodes = 0;       // 0: no limit
  double max_bytes = 2e9;          // of open nodes
  std::size_t root_steps = 40;     // price updates at the root
  std::size_t node_steps = 3;      // and at every other node
  std::size_t max_entries = 4096;  // of one block of a family's table
  std::size_t n_threads = 1;
  Progress* progress = nullptr;
};

enum class Ending : std::uint8_t { proven, time, nodes, memory };

struct ExactResult {
  Pair best;
  double bound = 0.0;
  double root_bound = 0.0;  // without prices
  double priced_root_bound = 0.0;
  std::size_t n_nodes = 0;
  std::size_t n_families = 0, n_alive = 0;  // before and after elimination at the root
  Ending ending = Ending::proven;
};

// Branch and bound over the missing cells, from a good pair `start`.
//
// A node fixes some cells. Its bound lets every family choose the other cells for itself, at prices
// that make them agree, and takes the best DAG under these scores; families whose best DAG does not
// reach the incumbent are dropped for the whole subtree.
ExactResult solve_exactly(const AugmentProblem& problem, const Pair& start,
                          const ExactOptions& options, const Stop& stop,
                          std::vector<TraceEntry>* trace);

}  // namespace bayesmend
