#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// The defaults are those of the interface that calls.
struct OrderOptions {
  std::size_t n_chains;    // independent searches; the best one counts
  std::size_t patience;    // perturbations in a row without gain that end a chain
  std::size_t max_window;  // longest run of variables moved together
  std::uint64_t seed;
  Progress* progress = nullptr;
};

struct OrderResult {
  double score = -std::numeric_limits<double>::infinity();
  std::vector<std::size_t> choices;  // candidate of each variable, or kNoSet
  std::size_t n_perturbations = 0;
  StopReason stopped = StopReason::nothing;
};

// Local search over orders: each variable takes its best candidate among its predecessors, and
// the order moves by insertion of single variables and of windows (Scanagatta et al. 2015, 2017).
// `start` is the order of the first chain, or empty.
OrderResult search_orders(const ParentLists& lists, const std::vector<Var>& start,
                          const OrderOptions& options, std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
