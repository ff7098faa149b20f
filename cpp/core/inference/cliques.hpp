#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace bayesmend {

// One table of a clique tree. Its entries run over the positions of `scope`, the first varying
// fastest; the first `n_own` of them are eliminated here, the others are shared with the parent.
struct Clique {
  std::vector<std::uint32_t> scope;
  std::size_t n_own = 0;
  static constexpr auto kRoot = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t parent = kRoot;        // a later clique, unless it is a root
  std::vector<std::uint32_t> factors;  // which of the given factors are multiplied in here
  std::vector<std::uint32_t> children;
  double n_entries = 1.0;      // product of the numbers of states: may exceed any integer type
  double n_own_entries = 1.0;  // of the positions eliminated here
};

// Cliques in an order in which children come before their parents.
struct CliqueTree {
  std::vector<Clique> cliques;
  double n_entries = 0.0;   // of all cliques together
  std::size_t largest = 0;  // which clique has most
};

// Arranges the elimination of positions 0 .. card.size() - 1 from a product of factors with the
// given scopes. The positions of `keep` are eliminated last, all in one clique, the last of the
// trees, with the first of them varying fastest. A product of at most `max_joint` entries is one
// clique, its last position varying fastest.
CliqueTree make_clique_tree(std::span<const std::uint32_t> card,
                            const std::vector<std::vector<std::uint32_t>>& scopes,
                            std::span<const std::uint32_t> keep, double max_joint);

}  // namespace bayesmend
