#pragma once

#include <cstddef>

#include "core/augment/problem.hpp"
#include "core/base/stop.hpp"

namespace bayesmend {

// Drops the families that under no completion score more than one with a part of their parents
// under any: some best pair has none of them. Stopped before, it drops those it has seen.
void drop_dominated(AugmentProblem& problem, std::size_t max_entries, std::size_t n_threads,
                    const Stop& stop);

}  // namespace bayesmend
