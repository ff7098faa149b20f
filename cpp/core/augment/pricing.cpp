#include "core/augment/pricing.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/parallel.hpp"

namespace bayesmend {
namespace {

// Families that one thread looks at in one go.
constexpr std::size_t kTogether = 64;

std::size_t n_chunks(std::size_t n) { return (n + kTogether - 1) / kTogether; }

}  // namespace

FamilyTables::FamilyTables(const AugmentProblem& problem, std::vector<std::uint32_t> families,
                           Completion fixed, std::vector<std::size_t> max_entries,
                           std::size_t n_threads, const Stop& stop)
    : problem_(problem),
      families_(std::move(families)),
      fixed_(std::move(fixed)),
      bounds_(families_.size()),
      max_entries_(std::move(max_entries)) {
  const std::size_t n_used = resolve_threads(n_threads);
  std::vector<FamilyBound::Scratch> scratch(n_used);
  parallel_for(n_chunks(families_.size()), n_used, stop, [&](std::size_t k, std::size_t thread) {
    const std::size_t last = std::min((k + 1) * kTogether, families_.size());
    for (std::size_t a = k * kTogether; a < last; ++a)
      bounds_[a].build(problem_, problem_.families()[families_[a]], fixed_, false, max_entries_[a],
                       scratch[thread]);
  });
}

void FamilyTables::refine(std::span<const std::size_t> positions, std::size_t times,
                          std::size_t most, std::size_t n_threads, const Stop& stop) {
  const std::size_t n_used = resolve_threads(n_threads);
  std::vector<FamilyBound::Scratch> scratch(n_used);
  parallel_for(positions.size(), n_used, stop, [&](std::size_t n, std::size_t thread) {
    const std::size_t a = positions[n];
    if (bounds_[a].is_exact() || max_entries_[a] >= most) return;
    max_entries_[a] = std::min(times * max_entries_[a], most);
    bounds_[a].build(problem_, problem_.families()[families_[a]], fixed_, false, max_entries_[a],
                     scratch[thread]);
  });
}

double FamilyTables::n_entries() const {
  double sum = 0.0;
  for (const auto& bound : bounds_) sum += static_cast<double>(bound.n_entries());
  return sum;
}

std::vector<double> FamilyTables::maxima(const Prices& prices, std::size_t n_threads,
                                         const Stop& stop) const {
  std::vector<double> values(families_.size());
  const std::size_t n_used = resolve_threads(n_threads);
  std::vector<FamilyBound::Scratch> scratch(n_used);
  parallel_for(n_chunks(families_.size()), n_used, stop, [&](std::size_t k, std::size_t thread) {
    const std::size_t last = std::min((k + 1) * kTogether, families_.size());
    for (std::size_t a = k * kTogether; a < last; ++a)
      values[a] = bounds_[a].maximum({problem_, prices, problem_.families()[families_[a]]},
                                     scratch[thread]);
  });
  return values;
}

SharedChoices FamilyTables::choose(std::span<const std::size_t> positions,
                                   std::span<const double> shares, const Prices& prices) const {
  const std::size_t width = prices.width(), size = problem_.n_cells() * width;
  SharedChoices found{.copies = std::vector<double>(problem_.n_vars() * size, 0.0),
                      .owners = std::vector<double>(size, 0.0),
                      .losses = std::vector<double>(size, 0.0)};
  FamilyBound::Scratch scratch;
  std::vector<CellChoice> choices;
  std::vector<CellLoss> losses;
  for (std::size_t n = 0; n < positions.size(); ++n) {
    const auto& family = problem_.families()[families_[positions[n]]];
    const auto members = problem_.members(family);
    choices.clear();
    losses.clear();
    bounds_[positions[n]].explain({problem_, prices, family}, scratch, choices, losses);
    for (const auto& choice : choices) {
      const std::size_t at = choice.cell * width + choice.value;
      if (problem_.cells()[choice.cell].variable != family.child) {
        found.copies[family.child * size + at] += shares[n];
        continue;
      }
      found.owners[at] += shares[n];
      for (const auto parent : members.first(members.size() - 1))
        found.copies[parent * size + at] += shares[n];
    }
    for (const auto& each : losses)
      found.losses[each.cell * width + each.value] += shares[n] * each.loss;
  }
  return found;
}

std::vector<std::uint8_t> FamilyTables::values_left(std::span<const double> slack,
                                                    const Prices& prices) const {
  const std::size_t width = prices.width();
  std::vector<std::uint8_t> is_left(problem_.n_cells() * width, 0);
  FamilyBound::Scratch scratch;
  std::vector<CellChoice> choices;
  std::vector<CellLoss> losses;
  for (std::size_t a = 0; a < families_.size(); ++a) {
    if (slack[a] <= 0.0) continue;
    const auto& family = problem_.families()[families_[a]];
    choices.clear();
    losses.clear();
    bounds_[a].explain({problem_, prices, family}, scratch, choices, losses);
    const auto is_own = [&](std::uint32_t cell) {
      return problem_.cells()[cell].variable == family.child;
    };
    for (const auto& choice : choices)
      if (is_own(choice.cell)) is_left[choice.cell * width + choice.value] = 1;
    for (const auto& each : losses)
      if (is_own(each.cell) && each.loss < slack[a]) is_left[each.cell * width + each.value] = 1;
  }
  return is_left;
}

std::vector<double> FamilyTables::scores(const Completion& completion) const {
  std::vector<double> scores(families_.size());
  std::vector<std::uint32_t> counts;
  for (std::size_t a = 0; a < families_.size(); ++a)
    scores[a] = problem_.score(problem_.families()[families_[a]], completion, counts);
  return scores;
}

std::vector<std::size_t> FamilyTables::dominators(std::span<const double> values) const {
  std::vector<std::size_t> order(families_.size()), by(families_.size()), kept;
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto family = [&](std::size_t a) -> const auto& {
    return problem_.families()[families_[a]];
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto& one = problem_.families()[families_[a]];
    const auto& other = problem_.families()[families_[b]];
    if (one.child != other.child) return one.child < other.child;
    if (values[a] != values[b]) return values[a] > values[b];
    return one.n_members < other.n_members;
  });
  for (std::size_t n = 0; n < order.size(); ++n) {
    const std::size_t a = order[n];
    if (n == 0 || family(order[n - 1]).child != family(a).child) kept.clear();
    const auto parents = family(a).parents;
    const auto found = std::ranges::find_if(
        kept, [&](std::size_t k) { return (family(k).parents & ~parents) == 0; });
    by[a] = found == kept.end() ? a : *found;
    if (found == kept.end()) kept.push_back(a);
  }
  return by;
}

}  // namespace bayesmend
