#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/stop.hpp"

namespace bayesmend {

// Takes bit `gap` out of a mask that lacks it, so that the others are numbered without a gap.
inline std::uint32_t squeeze(std::uint32_t mask, std::size_t gap) {
  const std::uint32_t low = (std::uint32_t{1} << gap) - 1;
  return (mask & low) | ((mask >> 1) & ~low);
}

inline std::uint32_t stretch(std::uint32_t mask, std::size_t gap) {
  const std::uint32_t low = (std::uint32_t{1} << gap) - 1;
  return (mask & low) | ((mask & ~low) << 1);
}

inline void max_into(double* target, const double* other, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) target[k] = target[k] < other[k] ? other[k] : target[k];
}

// values[U] becomes the maximum over all subsets (or supersets) of U. Low bits are done
// block by block, so that all but a few passes stay in cache. Leaves the work once `stop` has
// ended.
template <bool kSubsets>
void spread_maximum(std::span<double> values, std::size_t n_bits, const Stop& stop = {}) {
  auto pass = [&](std::size_t begin, std::size_t end, std::size_t bit) {
    if (stop.has_ended()) return;
    const std::size_t half = std::size_t{1} << bit;
    for (std::size_t start = begin; start < end; start += 2 * half) {
      double* low = values.data() + start;
      if (kSubsets)
        max_into(low + half, low, half);
      else
        max_into(low, low + half, half);
    }
  };
  const std::size_t block_bits = std::min<std::size_t>(n_bits, 15);
  const std::size_t block = std::size_t{1} << block_bits;
  for (std::size_t start = 0; start < values.size(); start += block)
    for (std::size_t bit = 0; bit < block_bits; ++bit) pass(start, start + block, bit);
  for (std::size_t bit = block_bits; bit < n_bits; ++bit) pass(0, values.size(), bit);
}

}  // namespace bayesmend
