#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/variable.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// How many rows show all variables of each set, per cell, the first variable varying fastest; one
// set after the other. Set s is members[first[s]] .. members[first[s + 1]]. Where weights are
// multiples of one power of two, the same for any number of threads. Empty when stopped.
std::vector<double> whole_counts(const Table& table, std::span<const double> weights,
                                 std::span<const std::uint64_t> first, std::span<const Var> members,
                                 std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
