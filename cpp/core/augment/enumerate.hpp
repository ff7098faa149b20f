#pragma once

#include <cstddef>

#include "core/augment/local.hpp"
#include "core/augment/problem.hpp"

namespace bayesmend {

struct EnumerationResult : SearchResult {
  double n_completions = 0.0;  // looked at
  bool is_complete = false;    // all of them
};

// The best pair over all completions, each with its best DAG: what branch and bound saves. Changes
// one cell at a time, so that only the families that see it are scored again.
EnumerationResult enumerate_completions(const AugmentProblem& problem, std::size_t n_threads,
                                        const Stop& stop);

}  // namespace bayesmend
