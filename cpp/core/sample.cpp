#include "core/sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/philox.hpp"

namespace bayesmend {
namespace {

// Small enough that the buffers of a block stay in the first cache level, and even, since
// one call of the generator serves two rows.
constexpr std::size_t kBlock = 1024;
constexpr std::int32_t kFewStates = 8;
constexpr double kNever = 2.0;  // above every draw

struct Block {
  std::array<std::uint32_t, kBlock> config;
  std::array<double, kBlock> draw;
};

// Sets config[r] to the parent configuration of row first + r. `cells` holds one variable
// after the other, n_rows each.
void find_configs(const FlatNetwork& network, std::size_t variable, const std::uint8_t* cells,
                  std::size_t n_rows, std::size_t first, std::size_t size, std::uint32_t* config) {
  std::fill_n(config, size, 0u);
  std::uint32_t stride = 1;
  for (const std::int32_t parent : network.parents_of(variable)) {
    const std::uint8_t* codes = cells + static_cast<std::size_t>(parent) * n_rows + first;
    for (std::size_t row = 0; row < size; ++row) config[row] += stride * codes[row];
    stride *= static_cast<std::uint32_t>(network.card[static_cast<std::size_t>(parent)]);
  }
}

// Upper ends of the states in [0, 1), card - 1 per configuration. States after the last
// possible one begin at kNever, so that a state of probability zero is never drawn.
std::vector<double> find_thresholds(std::span<const double> cpt, std::size_t card) {
  const std::size_t n_configs = cpt.size() / card;
  std::vector<double> thresholds(n_configs * (card - 1));
  for (std::size_t config = 0; config < n_configs; ++config) {
    const double* row = cpt.data() + config * card;
    double* ends = thresholds.data() + config * (card - 1);
    std::size_t last = card - 1;
    while (last > 0 && row[last] == 0.0) --last;
    double sum = 0.0;
    for (std::size_t state = 0; state + 1 < card; ++state) {
      sum += row[state];
      ends[state] = state < last ? sum : kNever;
    }
  }
  return thresholds;
}

// 53 random bits for each of the rows first .. first + size of a variable.
void fill_draws(std::uint64_t seed, std::size_t variable, std::size_t first, std::size_t size,
                double* draw) {
  const std::array key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  const auto column = static_cast<std::uint32_t>(variable);
  for (std::size_t pair = 0; 2 * pair < size; ++pair) {
    const std::uint64_t index = first / 2 + pair;
    const auto bits = philox(
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), column, 0u},
        key);
    draw[2 * pair] = to_unit(bits[0], bits[1]);
    draw[2 * pair + 1] = to_unit(bits[2], bits[3]);
  }
}

// A binary search without branches: draws are random, so a branch would be mispredicted at
// every other step.
std::size_t count_at_or_below(const double* sorted, std::size_t size, double value) {
  const double* first = sorted;
  while (size > 1) {
    const std::size_t half = size / 2;
    first += first[half - 1] <= value ? half : 0;
    size -= half;
  }
  return static_cast<std::size_t>(first - sorted) + (*first <= value ? 1 : 0);
}

// The state of a draw is the number of thresholds at or below it.
void draw_states(std::span<const double> thresholds, std::int32_t card, const Block& block,
                 std::size_t size, std::uint8_t* codes) {
  const auto width = static_cast<std::size_t>(card - 1);
  const double* ends = thresholds.data();
  if (width == 0) {
    std::fill_n(codes, size, std::uint8_t{0});
  } else if (width == 1) {
    for (std::size_t row = 0; row < size; ++row) {
      codes[row] = static_cast<std::uint8_t>(ends[block.config[row]] <= block.draw[row]);
    }
  } else if (card <= kFewStates) {
    for (std::size_t row = 0; row < size; ++row) {
      const double* own = ends + block.config[row] * width;
      unsigned state = 0;
      for (std::size_t k = 0; k < width; ++k) state += own[k] <= block.draw[row];
      codes[row] = static_cast<std::uint8_t>(state);
    }
  } else {
    for (std::size_t row = 0; row < size; ++row) {
      const double* own = ends + block.config[row] * width;
      codes[row] = static_cast<std::uint8_t>(count_at_or_below(own, width, block.draw[row]));
    }
  }
}

void require(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace

void check(const FlatNetwork& network) {
  const std::size_t n_vars = network.n_vars();
  require(network.parent_offsets.size() == n_vars + 1,
          "parent_offsets must have n_vars + 1 entries");
  require(network.cpt_offsets.size() == n_vars + 1, "cpt_offsets must have n_vars + 1 entries");
  require(network.parent_offsets.front() == 0 && network.cpt_offsets.front() == 0,
          "offsets must begin with 0");
  require(network.parent_offsets.back() == static_cast<std::int64_t>(network.parents.size()),
          "parent_offsets must end with the number of parents");
  require(network.cpt_offsets.back() == static_cast<std::int64_t>(network.cpts.size()),
          "cpt_offsets must end with the number of probabilities");
  require(std::is_sorted(network.parent_offsets.begin(), network.parent_offsets.end()) &&
              std::is_sorted(network.cpt_offsets.begin(), network.cpt_offsets.end()),
          "offsets must not decrease");
  for (const std::int32_t card : network.card) {
    require(card >= 1 && card < kMissing, "card must be in 1..254");
  }
  for (std::size_t variable = 0; variable < n_vars; ++variable) {
    std::uint64_t n_configs = 1;
    for (const std::int32_t parent : network.parents_of(variable)) {
      require(parent >= 0 && static_cast<std::size_t>(parent) < n_vars, "parent out of range");
      n_configs *= static_cast<std::uint64_t>(network.card[static_cast<std::size_t>(parent)]);
      require(n_configs <= std::numeric_limits<std::uint32_t>::max(),
              "more than 2^32 parent configurations");
    }
    require(network.cpt_of(variable).size() ==
                n_configs * static_cast<std::uint64_t>(network.card[variable]),
            "a table has the wrong size");
  }
}

std::vector<std::uint8_t> sample(const FlatNetwork& network, std::span<const std::int32_t> order,
                                 std::size_t n_rows, std::uint64_t seed, std::size_t n_threads,
                                 const Stop& stop) {
  check(network);
  const std::size_t n_vars = network.n_vars();
  require(order.size() == n_vars, "order must list every variable");
  std::vector<bool> is_drawn(n_vars, false);
  for (const std::int32_t entry : order) {
    const auto variable = static_cast<std::size_t>(entry);
    require(variable < n_vars && !is_drawn[variable], "order must list every variable once");
    for (const std::int32_t parent : network.parents_of(variable)) {
      require(is_drawn[static_cast<std::size_t>(parent)], "order must list parents first");
    }
    is_drawn[variable] = true;
  }
  std::vector<std::vector<double>> thresholds(n_vars);
  for (std::size_t variable = 0; variable < n_vars; ++variable) {
    thresholds[variable] =
        find_thresholds(network.cpt_of(variable), static_cast<std::size_t>(network.card[variable]));
  }
  std::vector<std::uint8_t> cells(n_vars * n_rows);
  const bool is_complete = parallel_for(
      (n_rows + kBlock - 1) / kBlock, n_threads, stop, [&](std::size_t task, std::size_t) {
        Block block;
        const std::size_t first = task * kBlock;
        const std::size_t size = std::min(kBlock, n_rows - first);
        for (const std::int32_t entry : order) {
          const auto variable = static_cast<std::size_t>(entry);
          find_configs(network, variable, cells.data(), n_rows, first, size, block.config.data());
          fill_draws(seed, variable, first, size, block.draw.data());
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
          const auto card = static_cast<std::size_t>(network.card[variable]);
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
