#include "core/augment/branching.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace bayesmend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// A value that loses more is as good as ruled out.
constexpr double kMost = 1e6;
// What is expected counts as much as so many tries.
constexpr double kWeight = 1.0;

}  // namespace

double contention(std::span<const double> gains) {
  double least = kInfinity, second = kInfinity;
  for (const double gain : gains) {
    second = std::min(second, std::max(least, gain));
    least = std::min(least, gain);
  }
  if (gains.size() == 1) second = least;
  return (least + 1e-3) * (std::min(second, kMost) + 1e-3);
}

Branching::Branching(const AugmentProblem& problem) {
  for (const auto& cell : problem.cells()) width_ = std::max<std::size_t>(width_, cell.card);
  of_values_.resize(problem.n_cells() * width_);
  of_kinds_.resize(number_of(Decision::Kind::other_value) + 1);
}

void Branching::note(const Decision& decision, double expected, double gain) {
  if (decision.kind == Decision::Kind::nothing) return;
  for (auto* sum : {&of_values_[decision.place], &of_kinds_[number_of(decision.kind)]}) {
    sum->gain += gain;
    sum->expected += std::min(expected, kMost);
    sum->number += 1.0;
  }
}

double Branching::rank(std::size_t cell, std::span<const double> losses) const {
  const auto likely = std::ranges::min_element(losses) - losses.begin();
  std::array<double, kMissing> room;
  const auto gains = std::span(room).first(losses.size());
  for (std::size_t v = 0; v < gains.size(); ++v) {
    const auto kind =
        std::cmp_equal(v, likely) ? Decision::Kind::likely_value : Decision::Kind::other_value;
    const auto& all = of_kinds_[number_of(kind)];
    const auto& own = of_values_[place_of(cell, v)];
    const double expected = std::min(losses[v], kMost) * (all.gain + 1.0) / (all.expected + 1.0);
    gains[v] = (own.gain + kWeight * expected) / (own.number + kWeight);
  }
  return contention(gains);
}

void Branching::save(StateWriter& out) const {
  std::vector<double> numbers;
  for (const auto* sums : {&of_values_, &of_kinds_})
    for (const auto& sum : *sums)
      numbers.insert(numbers.end(), {sum.gain, sum.expected, sum.number});
  out.put(numbers);
}

void Branching::load(StateReader& in) {
  const auto numbers = in.get_all<double>();
  StateReader::require(numbers.size() == 3 * (of_values_.size() + of_kinds_.size()));
  auto number = numbers.begin();
  for (auto* sums : {&of_values_, &of_kinds_}) {
    for (auto& sum : *sums) {
      sum = {.gain = number[0], .expected = number[1], .number = number[2]};
      StateReader::require(sum.gain >= 0.0 && sum.expected >= 0.0 && sum.number >= 0.0);
      number += 3;
    }
  }
}

Decision Branching::read_decision(StateReader& in) const {
  const auto kind = in.get_below<Decision::Kind>(of_kinds_.size());
  return {.kind = kind, .place = in.get_below<std::uint32_t>(of_values_.size() + 1)};
}

}  // namespace bayesmend
