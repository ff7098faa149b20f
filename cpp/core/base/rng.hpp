#pragma once

#include <cstddef>
#include <cstdint>

namespace bayesmend {

// SplitMix64 (Steele, Lea and Flood 2014), for the choices of a search: one for each task, seeded
// by the task, so that results do not depend on threads.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  Rng(std::uint64_t seed, std::uint64_t stream) : state_(seed + (stream + 1) * kStep) {}

  std::uint64_t next() {
    state_ += kStep;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in 0 .. n - 1; the bias of at most n / 2^64 does not matter here.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

}  // namespace bayesmend
