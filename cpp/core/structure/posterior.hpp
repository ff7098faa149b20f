#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

// What all DAGs made of given families say together, each weighted by the exponential of its score.
struct DagAverage {
  double log_total = 0.0;          // of the weights; minus infinity where no DAG has any
  std::vector<double> families;    // probability of each candidate
  std::vector<double> arcs;        // of parent -> child: arcs[parent * n_vars + child]
  std::vector<double> paths;       // the same, of a directed path
  std::vector<std::size_t> draws;  // candidates of DAGs drawn, draw by draw, variable by variable
  StopReason stopped = StopReason::nothing;  // then the rest is missing
};

struct DagAverageOptions {
  std::size_t n_draws;
  std::uint64_t seed;
};

// Bytes that average_dags() takes for its tables.
double dag_average_memory(std::size_t n_vars, std::size_t n_threads);

// Sums over all DAGs, not over orders: a DAG counts once however many orders it agrees with. By
// inclusion and exclusion over the sets of sinks, in time 3^n (Tian & He 2009), and the derivatives
// of that sum for all families at once. DAGs are drawn layer by layer from their roots (Talvitie,
// Vuoristo & Koivisto 2019).
//
// The terms alternate in sign, but little is lost by that: a rounding error made at a subset S
// counts with the weight of the DAGs in which no arc enters S from the rest.
DagAverage average_dags(const ParentLists& lists, const DagAverageOptions& options,
                        std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
