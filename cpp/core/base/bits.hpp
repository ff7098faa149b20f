#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace bayesmend {

// Counting kernels for this processor, chosen once at run time: what is distributed is
// built for the oldest processor of its kind and still uses the wide instructions.
struct BitKernels {
  const char* name;
  // Number of bits set in both a and b.
  std::uint64_t (*count_both)(const std::uint64_t* a, const std::uint64_t* b, std::size_t n_words);
  // target = a AND b; returns the number of bits set in it.
  std::uint64_t (*intersect)(const std::uint64_t* a, const std::uint64_t* b, std::uint64_t* target,
                             std::size_t n_words);
  // Up to this many counts per table, bit sets beat a pass over the rows.
  std::size_t worthwhile_counts;
};

const BitKernels& bit_kernels();

// Calls visit(position) for every bit set in a mask, the lowest first.
template <class Visit>
void for_each_bit(std::uint64_t mask, Visit&& visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

}  // namespace bayesmend
