#include "core/network/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/require.hpp"
#include "core/network/drawing.hpp"

namespace bayesmend {

std::vector<std::uint8_t> sample(const FlatNetwork& network, std::span<const Var> order,
                                 std::size_t n_rows, std::uint64_t seed, std::size_t n_threads,
                                 const Stop& stop) {
  check(network);
  const std::size_t n_vars = network.n_vars();
  check_order(network, order);
  std::vector<std::vector<double>> thresholds(n_vars);
  for (std::size_t variable = 0; variable < n_vars; ++variable) {
    thresholds[variable] = find_thresholds(network.cpt_of(variable), network.card[variable]);
  }
  require(n_vars == 0 || n_rows <= (std::size_t{1} << 48) / n_vars, "too many rows.");
  std::vector<std::uint8_t> cells(n_vars * n_rows);
  const bool is_complete = parallel_for(
      (n_rows + kBlock - 1) / kBlock, n_threads, stop, [&](std::size_t task, std::size_t) {
        Block block;
        const std::size_t first = task * kBlock;
        const std::size_t size = std::min(kBlock, n_rows - first);
        for (const Var variable : order) {
          find_configs(network, variable, cells.data(), n_rows, first, size, block.config.data());
          fill_draws(seed, kSampleStream, variable, first / 2, size, block.draw.data());
          draw_states(thresholds[variable], network.card[variable], block, size,
                      cells.data() + variable * n_rows + first);
        }
      });
  if (!is_complete) cells.clear();
  return cells;
}

std::vector<double> log_likelihood(const FlatNetwork& network, const Table& table,
                                   std::size_t n_threads, const Stop& stop) {
  check(network);
  const std::size_t n_vars = network.n_vars();
  require(table.n_vars == n_vars && table.cells.size() == n_vars * table.n_rows,
          "the table must have a column per variable");
  for (std::size_t variable = 0; variable < n_vars; ++variable) {
    const auto card = static_cast<std::uint8_t>(network.card[variable]);
    const auto column = table.column(variable);
    // A maximum, unlike a search for the first bad code, is vectorised.
    std::uint8_t highest = 0;
    for (const std::uint8_t code : column) highest = std::max(highest, code);
    require(column.empty() || highest < card, "a code is missing or out of range");
  }
  std::vector<double> logs(network.cpts.size());
  std::transform(network.cpts.begin(), network.cpts.end(), logs.begin(),
                 [](double p) { return std::log(p); });
  std::vector<double> result(table.n_rows, 0.0);
  const bool is_complete = parallel_for(
      (table.n_rows + kBlock - 1) / kBlock, n_threads, stop, [&](std::size_t task, std::size_t) {
        std::array<std::uint32_t, kBlock> config;
        const std::size_t first = task * kBlock;
        const std::size_t size = std::min(kBlock, table.n_rows - first);
        for (std::size_t variable = 0; variable < n_vars; ++variable) {
          find_configs(network, variable, table.cells.data(), table.n_rows, first, size,
                       config.data());
          const double* log_cpt = logs.data() + network.cpt_offsets[variable];
          const std::size_t card = network.card[variable];
          const std::uint8_t* codes = table.cells.data() + variable * table.n_rows + first;
          for (std::size_t row = 0; row < size; ++row) {
            result[first + row] += log_cpt[config[row] * card + codes[row]];
          }
        }
      });
  if (!is_complete) result.clear();
  return result;
}

}  // namespace bayesmend
