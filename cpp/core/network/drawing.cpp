#include "core/network/drawing.hpp"

#include <algorithm>

#include "core/base/philox.hpp"

namespace bayesmend {
namespace {

constexpr std::uint32_t kFewStates = 8;
constexpr double kNever = 2.0;  // above every draw

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

}  // namespace

void find_configs(const FlatNetwork& network, std::size_t variable, const std::uint8_t* cells,
                  std::size_t n_rows, std::size_t first, std::size_t size, std::uint32_t* config) {
  std::fill_n(config, size, 0u);
  std::uint32_t stride = 1;
  for (const Var parent : network.parents_of(variable)) {
    const std::uint8_t* codes = cells + parent * n_rows + first;
    for (std::size_t row = 0; row < size; ++row) config[row] += stride * codes[row];
    stride *= network.card[parent];
  }
}

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

void fill_draws(std::uint64_t seed, std::uint32_t stream, std::size_t variable,
                std::uint64_t first_index, std::size_t size, double* draw) {
  const std::array key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  const auto column = static_cast<std::uint32_t>(variable);
  for (std::size_t pair = 0; 2 * pair < size; ++pair) {
    const std::uint64_t index = first_index + pair;
    const auto bits = philox({static_cast<std::uint32_t>(index),
                              static_cast<std::uint32_t>(index >> 32), column, stream},
                             key);
    draw[2 * pair] = to_unit(bits[0], bits[1]);
    draw[2 * pair + 1] = to_unit(bits[2], bits[3]);
  }
}

void draw_states(std::span<const double> thresholds, std::uint32_t card, const Block& block,
                 std::size_t size, std::uint8_t* codes) {
  const std::size_t width = card - 1;
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

}  // namespace bayesmend
