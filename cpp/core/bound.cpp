#include "core/bound.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace bayesmend {
namespace {

std::uint32_t find_root(std::vector<std::uint32_t>& parent, std::uint32_t x) {
  while (parent[x] != x) x = parent[x] = parent[parent[x]];
  return x;
}

}  // namespace

Prices::Prices(const AugmentProblem& problem)
    : n_vars_(problem.n_vars()), n_cells_(problem.n_cells()) {
  for (const auto& cell : problem.cells())
    width_ = std::max(width_, static_cast<std::size_t>(cell.card));
  values_.assign(n_vars_ * n_cells_ * width_, 0.0);
  earned_.assign(n_cells_ * width_, 0.0);
}

void Prices::settle() {
  std::fill(earned_.begin(), earned_.end(), 0.0);
  for (std::size_t c = 0; c < n_vars_; ++c)
    for (std::size_t e = 0; e < earned_.size(); ++e) earned_[e] += values_[c * earned_.size() + e];
}

void FamilyBound::build(const AugmentProblem& problem, const AugmentProblem::Family& family,
                        const AugmentProblem::Completion& fixed, bool merge,
                        std::size_t max_entries) {
  const auto base = problem.base_counts(family);
  counts_.assign(base.begin(), base.end());
  units_.clear();
  holes_.clear();
  blocks_.clear();
  values_.clear();
  is_exact_ = true;
  collect_units(problem, family, fixed, merge);
  constant_ = AugmentProblem::score_counts(family, counts_);
  configs_.assign(family.n_cells / family.child_card, 0);
  for (std::size_t c = 0; c < counts_.size(); ++c) configs_[c / family.child_card] += counts_[c];
  if (units_.empty()) return;
  order_by_component(problem, family);
  earlier_.assign(family.n_cells, 0);
  for (std::size_t u = 0; u < units_.size();) {
    // units_[u].weight's component is told apart by blocks_' boundaries set below.
    Block block{static_cast<std::uint32_t>(u), 0, values_.size(), 1};
    while (u < units_.size() && block.n_values * units_[u].n_states <= max_entries &&
           (block.n_units == 0 || !starts_component_[u])) {
      block.n_values *= units_[u].n_states;
      ++block.n_units;
      ++u;
    }
    if (block.n_units == 0) {
      // One pattern alone exceeds the limit: its most optimistic cell stands for it.
      block.n_units = 1;
      block.n_values = units_[u].n_states;
      ++u;
    }
    if (!starts_component_[block.first_unit]) is_exact_ = false;
    values_.resize(block.first_value + block.n_values);
    fill_block(problem, family, block, 0, 0.0, 0);
    blocks_.push_back(block);
    if (u == units_.size() || starts_component_[u]) continue;
    for (std::uint32_t b = 0; b < block.n_units; ++b) {
      const auto& unit = units_[block.first_unit + b];
      for (std::size_t s = 0; s < unit.n_states; ++s)
        earlier_[target(problem, unit, s)] += unit.weight;
    }
  }
}

void FamilyBound::collect_units(const AugmentProblem& problem,
                                const AugmentProblem::Family& family,
                                const AugmentProblem::Completion& fixed, bool merge) {
  for (const auto& item : problem.items(family)) {
    Unit unit{item.weight, item.offset, static_cast<std::uint32_t>(holes_.size()), 0, 1};
    for (const auto& hole : problem.holes(item)) {
      if (fixed[hole.cell] != AugmentProblem::kFree) {
        unit.offset += hole.stride * fixed[hole.cell];
        continue;
      }
      holes_.push_back(hole);
      ++unit.n_holes;
      unit.n_states *= static_cast<std::uint32_t>(problem.cells()[hole.cell].card);
    }
    if (unit.n_holes == 0) {
      counts_[unit.offset] += unit.weight;
      continue;
    }
    if (merge) {
      const auto alike = std::ranges::find_if(units_, [&](const Unit& other) {
        if (other.offset != unit.offset || other.n_holes != unit.n_holes) return false;
        for (std::uint32_t h = 0; h < unit.n_holes; ++h)
          if (holes_[other.first_hole + h].stride != holes_[unit.first_hole + h].stride)
            return false;
        return true;
      });
      if (alike != units_.end()) {
        alike->weight += unit.weight;
        holes_.resize(unit.first_hole);
        continue;
      }
    }
    units_.push_back(unit);
  }
}

// Units that can meet in a parent configuration stand next to each other.
void FamilyBound::order_by_component(const AugmentProblem& problem,
                                     const AugmentProblem::Family& family) {
  auto& parent = earlier_;
  parent.resize(configs_.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const auto& unit : units_) {
    const auto first = find_root(parent, target(problem, unit, 0) / family.child_card);
    for (std::size_t s = 1; s < unit.n_states; ++s) {
      const auto other = find_root(parent, target(problem, unit, s) / family.child_card);
      parent[other] = find_root(parent, first);
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(units_.size());
  for (std::uint32_t u = 0; u < units_.size(); ++u)
    order[u] = {find_root(parent, target(problem, units_[u], 0) / family.child_card), u};
  std::sort(order.begin(), order.end());
  std::vector<Unit> sorted;
  sorted.reserve(units_.size());
  starts_component_.assign(units_.size() + 1, 0);
  for (std::size_t u = 0; u < order.size(); ++u) {
    sorted.push_back(units_[order[u].second]);
    starts_component_[u] = u == 0 || order[u].first != order[u - 1].first;
  }
  units_.swap(sorted);
}

std::uint32_t FamilyBound::target(const AugmentProblem& problem, const Unit& unit,
                                  std::size_t state) const {
  std::uint32_t cell = unit.offset;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const auto& hole = holes_[unit.first_hole + h];
    const auto card = static_cast<std::size_t>(problem.cells()[hole.cell].card);
    cell += hole.stride * static_cast<std::uint32_t>(state % card);
    state /= card;
  }
  return cell;
}

// Unit after unit, by the chain rule; counts_ and configs_ hold what has been placed.
void FamilyBound::fill_block(const AugmentProblem& problem, const AugmentProblem::Family& family,
                             Block& block, std::size_t unit_number, double value,
                             std::size_t index) {
  if (unit_number == block.n_units) {
    values_[block.first_value + index] = value;
    return;
  }
  const auto& unit = units_[block.first_unit + unit_number];
  for (std::size_t s = 0; s < unit.n_states; ++s) {
    const std::uint32_t cell = target(problem, unit, s), config = cell / family.child_card;
    const std::uint32_t x = counts_[cell] + earlier_[cell], y = configs_[config] + earlier_[cell];
    const double gain = (*family.joint)(x + unit.weight) - (*family.joint)(x) -
                        ((*family.given)(y + unit.weight) - (*family.given)(y));
    counts_[cell] += unit.weight;
    configs_[config] += unit.weight;
    fill_block(problem, family, block, unit_number + 1, value + gain, index * unit.n_states + s);
    counts_[cell] -= unit.weight;
    configs_[config] -= unit.weight;
  }
}

double FamilyBound::maximum() const {
  double total = constant_;
  for (const auto& block : blocks_)
    total += *std::max_element(
        values_.begin() + static_cast<std::ptrdiff_t>(block.first_value),
        values_.begin() + static_cast<std::ptrdiff_t>(block.first_value + block.n_values));
  return total;
}

void FamilyBound::unit_prices(const AugmentProblem& problem, std::size_t child,
                              const Prices& prices, const Unit& unit, double* target_prices) const {
  std::fill(target_prices, target_prices + unit.n_states, 0.0);
  std::size_t step = 1;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const auto cell = holes_[unit.first_hole + h].cell;
    const auto& info = problem.cells()[cell];
    const auto card = static_cast<std::size_t>(info.card);
    const bool owns = static_cast<std::size_t>(info.variable) == child;
    for (std::size_t s = 0; s < unit.n_states; ++s) {
      const std::size_t value = s / step % card;
      target_prices[s] += owns ? prices.earned(cell, value) : -prices.at(child, cell, value);
    }
    step *= card;
  }
}

double FamilyBound::maximum(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                            std::vector<double>& scratch) const {
  double total = constant_;
  for (const auto& block : blocks_) {
    std::size_t most_states = 1;
    for (std::uint32_t u = 0; u < block.n_units; ++u)
      most_states = std::max<std::size_t>(most_states, units_[block.first_unit + u].n_states);
    if (scratch.size() < most_states + block.n_values)
      scratch.resize(most_states + block.n_values);
    double* linear = scratch.data();
    double* out = scratch.data() + most_states;
    const double* values = values_.data() + block.first_value;
    std::size_t size = block.n_values;
    // The first unit is maximised out of contiguous slices, then the next, in place.
    for (std::uint32_t u = 0; u < block.n_units; ++u) {
      const auto& unit = units_[block.first_unit + u];
      unit_prices(problem, child, prices, unit, linear);
      const std::size_t slice = size / unit.n_states;
      const double first = linear[0];
      for (std::size_t k = 0; k < slice; ++k) out[k] = values[k] + first;
      for (std::size_t s = 1; s < unit.n_states; ++s) {
        const double price = linear[s];
        const double* in = values + s * slice;
        for (std::size_t k = 0; k < slice; ++k) {
          const double value = in[k] + price;
          out[k] = out[k] < value ? value : out[k];
        }
      }
      values = out;
      size = slice;
    }
    total += values[0];
  }
  return total;
}

}  // namespace bayesmend
