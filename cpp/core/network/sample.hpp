#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/network/flat.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// Draws rows; the cell of a variable in a row depends on the network, the seed, the
// variable and the row only. `order` lists every variable after its parents. The result
// holds one variable after the other. Empty when stopped.
std::vector<std::uint8_t> sample(const FlatNetwork& network, std::span<const Var> order,
                                 std::size_t n_rows, std::uint64_t seed, std::size_t n_threads,
                                 const Stop& stop);

// Log-probability of each row of a complete table. Empty when stopped.
std::vector<double> log_likelihood(const FlatNetwork& network, const Table& table,
                                   std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
