#pragma once

#include <cstdint>

namespace bayesmend {

// Numbers from 0 on are rounded to multiples of 1 / kGrid before they are added up exactly.
inline constexpr double kGrid = 0x1.0p40;

inline std::uint64_t on_grid(double value) {
  constexpr double kHalfStep = 0.5;  // no call of a library in the innermost loop of all
  return static_cast<std::uint64_t>(value * kGrid + kHalfStep);
}

// A sum of products of whole numbers, to 128 bits: the same in whatever order it is added up.
struct ExactSum {
  std::uint64_t low = 0, high = 0;

  void add(std::uint64_t value, std::uint64_t weight) {
    // Of 32 bits each, so that no product overflows.
    const std::uint64_t v0 = value & kHalf, v1 = value >> 32;
    const std::uint64_t w0 = weight & kHalf, w1 = weight >> 32;
    const std::uint64_t a = v0 * w0, b = v1 * w0, c = v0 * w1;
    add({a, v1 * w1});
    add({b << 32, b >> 32});
    if (c != 0) add({c << 32, c >> 32});
  }
  void add(const ExactSum& other) {
    low += other.low;
    high += other.high + (low < other.low ? 1 : 0);
  }

 private:
  static constexpr std::uint64_t kHalf = 0xffffffffu;
};

}  // namespace bayesmend
