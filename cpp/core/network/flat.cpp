#include "core/network/flat.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/base/require.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

void check(const FlatNetwork& network) {
  const std::size_t n_vars = network.n_vars();
  require(network.parent_offsets.size() == n_vars + 1,
          "parent_offsets must have n_vars + 1 entries");
  require(network.cpt_offsets.size() == n_vars + 1, "cpt_offsets must have n_vars + 1 entries");
  require(network.parent_offsets.front() == 0 && network.cpt_offsets.front() == 0,
          "offsets must begin with 0");
  require(network.parent_offsets.back() == network.parents.size(),
          "parent_offsets must end with the number of parents");
  require(network.cpt_offsets.back() == network.cpts.size(),
          "cpt_offsets must end with the number of probabilities");
  require(std::is_sorted(network.parent_offsets.begin(), network.parent_offsets.end()) &&
              std::is_sorted(network.cpt_offsets.begin(), network.cpt_offsets.end()),
          "offsets must not decrease");
  for (const std::uint32_t card : network.card) {
    require(card >= 1 && card < kMissing, "card must be in 1..254");
  }
  for (std::size_t variable = 0; variable < n_vars; ++variable) {
    std::size_t n_configs = 1;
    for (const Var parent : network.parents_of(variable)) {
      require(parent < n_vars, "parent out of range");
      n_configs *= network.card[parent];
      require(n_configs <= std::numeric_limits<std::uint32_t>::max(),
              "more than 2^32 parent configurations");
    }
    require(network.cpt_of(variable).size() == n_configs * network.card[variable],
            "a table has the wrong size");
  }
}

void check_order(const FlatNetwork& network, std::span<const Var> order) {
  const std::size_t n_vars = network.n_vars();
  require(order.size() == n_vars, "order must list every variable");
  std::vector<bool> is_listed(n_vars, false);
  for (const Var variable : order) {
    require(variable < n_vars && !is_listed[variable], "order must list every variable once");
    for (const Var parent : network.parents_of(variable)) {
      require(is_listed[parent], "order must list parents first");
    }
    is_listed[variable] = true;
  }
}

}  // namespace bayesmend
