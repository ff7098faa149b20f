#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/base/variable.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// A network as flat arrays. The parents of variable i are
// parents[parent_offsets[i] .. parent_offsets[i + 1]); its conditional probabilities start
// at cpts[cpt_offsets[i]], one row of card[i] entries per parent configuration, the first
// parent varying fastest.
struct FlatNetwork {
  std::span<const std::uint32_t> card;
  std::span<const std::uint64_t> parent_offsets;
  std::span<const Var> parents;
  std::span<const std::uint64_t> cpt_offsets;
  std::span<const double> cpts;

  std::size_t n_vars() const { return card.size(); }
  std::span<const Var> parents_of(std::size_t variable) const {
    const auto first = parent_offsets[variable];
    const auto last = parent_offsets[variable + 1];
    return parents.subspan(first, last - first);
  }
  std::span<const double> cpt_of(std::size_t variable) const {
    const auto first = cpt_offsets[variable];
    const auto last = cpt_offsets[variable + 1];
    return cpts.subspan(first, last - first);
  }
};

// Throws std::invalid_argument when the arrays do not fit together.
void check(const FlatNetwork& network);

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
