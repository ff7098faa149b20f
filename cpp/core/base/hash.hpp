#pragma once

#include <cstdint>

namespace bayesmend {

// Both with a multiplier of MurmurHash3 (Appleby 2011).

// Spreads the bits of a number over all of them.
inline std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdu;
  return value ^ (value >> 33);
}

// The hash of a list with one more number.
inline std::uint64_t extend_hash(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdu;
  return hash ^ (hash >> 32);
}

}  // namespace bayesmend
