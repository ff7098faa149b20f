#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/augment/local.hpp"
#include "core/augment/problem.hpp"
#include "core/augment/record.hpp"
#include "core/base/parallel.hpp"
#include "core/base/state.hpp"

namespace bayesmend {

struct ExactOptions {
  std::size_t locality = 1;   // of the local search for the first pair
  double gap = 1e-6;          // stop when the bound is this close to the score
  std::size_t max_nodes = 0;  // 0: no limit
  double max_work = 0.0;      // 0: no limit; see ExactResult::work
  double max_bytes = 2e9;     // of open nodes
  std::size_t n_threads = 1;
  double max_record_bytes = 0.0;  // of what is kept for a proof; 0: none is wanted
  // Bounds by the relaxation of the cluster inequalities, for any number of variables, instead of
  // the dynamic programme over their subsets. What it finds has no proof that is kept.
  bool is_relaxed = false;
  // Settled by measurement: price updates at the root, twice as many where the best DAG is relaxed,
  // and at every other node, and entries of one block of a family's table, four times as many
  // there; what sees more is bounded block by block.
  std::size_t root_steps = 60;
  std::size_t node_steps = 6;
  std::size_t max_entries = 64;
  // After so many nodes that fix cells it is tried whether it is better to fix arcs, too.
  std::size_t race_nodes = 256;
  std::size_t block_entries() const { return is_relaxed ? 4 * max_entries : max_entries; }
};

struct ExactResult : SearchResult {
  double start_score = 0.0;         // of the first pair
  bool start_is_certified = false;  // no change of up to `locality` cells is better
  double bound = 0.0;
  double root_bound = 0.0;  // without prices
  double priced_root_bound = 0.0;
  std::size_t n_nodes = 0;
  // What the branch and bound has done, in entries of tables read or written: about the same time
  // each, and the same number for any threads and any machine.
  double work = 0.0;
  std::size_t n_families = 0, n_alive = 0;  // before and after elimination at the root
  // Of the root of a relaxed search: families that may be part of something better, and prices.
  std::vector<std::uint32_t> root_families;
  std::vector<double> root_prices;  // by child, cell and value
  // That nothing scores above `proven`, where that was asked for; empty where it would have taken
  // more bytes than allowed.
  std::vector<ProofNode> proof;
  double proven = 0.0;
  double record_bytes = 0.0;
};

// Branch and bound over the missing cells, from the best pair that a local search finds.
//
// A node fixes some cells. Its bound lets every family choose the other cells for itself, at prices
// that make them agree, and takes the best DAG under these scores; families whose best DAG does not
// reach the incumbent are dropped for the whole subtree. A node may also say which variables are
// parents of which: where the best DAG is relaxed, too, or where that proves more. With a keeper it
// goes on from what that has, or throws std::invalid_argument.
ExactResult solve_exactly(const AugmentProblem& problem,
                          const std::vector<AugmentProblem::Completion>& starts,
                          const ExactOptions& options, const Stop& stop,
                          Progress* progress = nullptr, Keeper* keeper = nullptr);

}  // namespace bayesmend
