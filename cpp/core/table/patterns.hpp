#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/parallel.hpp"

namespace bayesmend {

// The distinct rows of a table, numbered in order of first occurrence.
struct DistinctRows {
  std::vector<std::uint64_t> first;    // per distinct row: where it first occurs
  std::vector<std::uint64_t> count;    // per distinct row: how often it occurs
  std::vector<std::uint64_t> inverse;  // per row: which distinct row it is
};

// `cells` holds one variable after the other, n_rows cells each. Incomplete when stopped.
DistinctRows distinct_rows(std::span<const std::uint8_t> cells, std::size_t n_vars,
                           std::size_t n_rows, std::size_t n_threads, const Stop& stop);

}  // namespace bayesmend
