#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/augment/problem.hpp"
#include "core/base/state.hpp"

namespace bayesmend {

// The cell that a node fixes, and its value: the one that families lose least by, or another.
struct Decision {
  enum class Kind : std::uint8_t { nothing, likely_value, other_value };
  Kind kind = Kind::nothing;
  std::uint32_t place = 0;  // of the value in Branching
};

// High when the two children of a split that lower the bound least both lower it much.
double contention(std::span<const double> gains);

// By how much fixed cells have lowered bounds so far, and hence may again: what families would lose
// at the prices of a node says little, where these are nearly the best ones.
class Branching {
 public:
  explicit Branching(const AugmentProblem& problem);

  std::uint32_t place_of(std::size_t cell, std::size_t value) const {
    return static_cast<std::uint32_t>(cell * width_ + value);
  }

  // `expected`: what families would lose at the prices of the parent.
  void note(const Decision& decision, double expected, double gain);
  // The contention of a cell, of which families would lose so much by each value.
  double rank(std::size_t cell, std::span<const double> losses) const;

  void save(StateWriter& out) const;
  void load(StateReader& in);
  Decision read_decision(StateReader& in) const;

 private:
  struct Sum {
    double gain = 0.0, expected = 0.0, number = 0.0;
  };
  static std::size_t number_of(Decision::Kind kind) { return static_cast<std::size_t>(kind); }

  std::size_t width_ = 1;
  std::vector<Sum> of_values_, of_kinds_;
};

}  // namespace bayesmend
