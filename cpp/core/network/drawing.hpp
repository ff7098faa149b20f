#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/network/flat.hpp"

namespace bayesmend {

// Small enough that the buffers of a block stay in the first cache level, and even, since
// one call of the generator serves two rows.
inline constexpr std::size_t kBlock = 1024;

// What random numbers are for: the same seed gives each purpose numbers of its own.
inline constexpr std::uint32_t kSampleStream = 0;
inline constexpr std::uint32_t kWeightStream = 1;
inline constexpr std::uint32_t kPickStream = 2;

struct Block {
  std::array<std::uint32_t, kBlock> config;
  std::array<double, kBlock> draw;
};

// Sets config[r] to the parent configuration of row first + r. `cells` holds one variable
// after the other, n_rows each.
void find_configs(const FlatNetwork& network, std::size_t variable, const std::uint8_t* cells,
                  std::size_t n_rows, std::size_t first, std::size_t size, std::uint32_t* config);

// Upper ends of the states in [0, 1), card - 1 per configuration. States after the last
// possible one begin above every draw, so that a state of probability zero is never drawn.
std::vector<double> find_thresholds(std::span<const double> cpt, std::size_t card);

// 53 random bits for each of `size` rows of a variable; two rows share an index, which
// counts on from `first_index`.
void fill_draws(std::uint64_t seed, std::uint32_t stream, std::size_t variable,
                std::uint64_t first_index, std::size_t size, double* draw);

// The state of a draw is the number of thresholds at or below it.
void draw_states(std::span<const double> thresholds, std::uint32_t card, const Block& block,
                 std::size_t size, std::uint8_t* codes);

}  // namespace bayesmend
