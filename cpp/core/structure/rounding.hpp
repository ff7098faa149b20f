#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/stop.hpp"
#include "core/structure/parentlists.hpp"

namespace bayesmend {

struct RoundingLimits {
  std::size_t kicks;  // perturbations of the local optimum, each followed by a local search
  std::uint64_t seed;
};

struct Selection {
  std::vector<std::size_t> chosen;  // the candidate of each variable, or kNoSet: none fits
  std::vector<Var> order;           // parents before children
};

// An acyclic selection near the weights (one per candidate, as from a linear programme):
// an order in which most of the weight fits, improved by moving one variable at a time to
// its best place until no move gains, then kicked and improved again. Apart from search_orders():
// called for every relaxation, it must be over in milliseconds, and prices a place of a variable
// without moving it, where that search swaps neighbours to move whole windows.
Selection order_from_lp(const ParentLists& families, std::span<const double> weights,
                        const RoundingLimits& limits, const Stop& stop);

}  // namespace bayesmend
