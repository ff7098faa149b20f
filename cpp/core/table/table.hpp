#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace bayesmend {

// The code of a missing cell; states are coded 0 to card - 1.
inline constexpr std::uint8_t kMissing = 255;

// A view of a coded table, one variable after the other.
struct Table {
  std::span<const std::uint8_t> cells;  // n_vars * n_rows
  std::span<const std::uint32_t> card;
  std::size_t n_vars = 0;
  std::size_t n_rows = 0;

  std::span<const std::uint8_t> column(std::size_t variable) const {
    return cells.subspan(variable * n_rows, n_rows);
  }
};

}  // namespace bayesmend
