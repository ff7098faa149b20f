#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/variable.hpp"

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

// Both throw std::invalid_argument: when the arrays do not fit together, and when `order` does not
// list every variable once, after its parents.
void check(const FlatNetwork& network);
void check_order(const FlatNetwork& network, std::span<const Var> order);

}  // namespace bayesmend
