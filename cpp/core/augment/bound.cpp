#include "core/augment/bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/wide.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

std::uint32_t find_root(std::vector<std::uint32_t>& parent, std::uint32_t x) {
  while (parent[x] != x) x = parent[x] = parent[parent[x]];
  return x;
}

// out[k] = max over s of values[s * n + k] + prices[s]; out may be values.
BAYESMEND_WIDE void maximise_out(const double* values, const double* prices, std::size_t n_states,
                                 std::size_t n, double* out) {
  for (std::size_t k = 0; k < n; ++k) out[k] = values[k] + prices[0];
  for (std::size_t s = 1; s < n_states; ++s) {
    const double price = prices[s];
    const double* in = values + s * n;
    for (std::size_t k = 0; k < n; ++k) {
      const double value = in[k] + price;
      out[k] = out[k] < value ? value : out[k];
    }
  }
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
  shapes_.clear();
  cells_.clear();
  blocks_.clear();
  values_.clear();
  is_exact_ = true;
  collect_units(problem, family, fixed, merge);
  constant_ = AugmentProblem::score_counts(family, counts_);
  if (units_.empty()) return;
  configs_.assign(family.n_cells / family.child_card, 0);
  for (std::size_t c = 0; c < counts_.size(); ++c) configs_[c / family.child_card] += counts_[c];
  order_by_component(family);
  earlier_.assign(family.n_cells, 0);
  for (std::size_t u = 0; u < units_.size();) {
    // A unit that exceeds the limit alone still makes a block.
    Block block{static_cast<std::uint32_t>(u), 1, values_.size(), units_[u].n_states};
    for (++u; u < units_.size() && !starts_component_[u] &&
              block.n_values * units_[u].n_states <= max_entries;
         ++u) {
      block.n_values *= units_[u].n_states;
      ++block.n_units;
    }
    if (!starts_component_[block.first_unit]) is_exact_ = false;
    values_.resize(block.first_value + block.n_values);
    fill_block(family, block, 0, 0.0, 0);
    blocks_.push_back(block);
    if (u == units_.size() || starts_component_[u]) continue;
    for (std::uint32_t b = 0; b < block.n_units; ++b) {
      const auto& unit = units_[block.first_unit + b];
      for (std::size_t t = 0; t < n_targets(unit); ++t)
        earlier_[target(unit, t)] += unit.weight * unit.n_members;
    }
  }
}

void FamilyBound::collect_units(const AugmentProblem& problem, const AugmentProblem::Family& family,
                                const AugmentProblem::Completion& fixed, bool merge) {
  struct Member {
    std::size_t unit;
    std::uint32_t first_cell;
  };
  std::vector<Member> members;
  std::vector<std::uint32_t> cells;
  for (const auto& item : problem.items(family)) {
    Unit unit{item.weight, item.offset, static_cast<std::uint32_t>(shapes_.size()), 0, 0, 1,
              1,           false};
    const auto first_cell = static_cast<std::uint32_t>(cells.size());
    for (const auto& hole : problem.holes(item)) {
      if (fixed[hole.cell] != AugmentProblem::kFree) {
        unit.offset += hole.stride * fixed[hole.cell];
        continue;
      }
      const auto card = static_cast<std::uint32_t>(problem.cells()[hole.cell].card);
      shapes_.push_back({hole.stride, card});
      cells.push_back(hole.cell);
      ++unit.n_holes;
      unit.n_states *= card;
    }
    if (unit.n_holes == 0) {
      counts_[unit.offset] += unit.weight;
      continue;
    }
    unit.by_count = !merge && unit.n_holes == 1 && unit.n_states == 2;
    std::size_t alike = units_.size();
    if (merge || unit.by_count) {
      for (alike = 0; alike < units_.size(); ++alike) {
        const auto& other = units_[alike];
        if (other.offset == unit.offset && other.n_holes == unit.n_holes &&
            other.by_count == unit.by_count && (merge || other.weight == unit.weight) &&
            std::equal(shapes_.begin() + other.first_shape,
                       shapes_.begin() + other.first_shape + other.n_holes,
                       shapes_.begin() + unit.first_shape, [](const Shape& a, const Shape& b) {
                         return a.stride == b.stride && a.card == b.card;
                       }))
          break;
      }
    }
    if (alike < units_.size()) {
      shapes_.resize(unit.first_shape);
      if (merge) {
        units_[alike].weight += unit.weight;
        continue;
      }
      ++units_[alike].n_members;
      ++units_[alike].n_states;
    } else {
      units_.push_back(unit);
    }
    members.push_back({alike, first_cell});
  }
  if (merge) return;
  std::stable_sort(members.begin(), members.end(),
                   [](const Member& a, const Member& b) { return a.unit < b.unit; });
  for (std::size_t m = 0; m < members.size(); ++m) {
    auto& unit = units_[members[m].unit];
    if (m == 0 || members[m].unit != members[m - 1].unit)
      unit.first_cell = static_cast<std::uint32_t>(cells_.size());
    cells_.insert(cells_.end(), cells.begin() + members[m].first_cell,
                  cells.begin() + members[m].first_cell + unit.n_holes);
  }
}

std::size_t FamilyBound::n_targets(const Unit& unit) const {
  return unit.by_count ? 2 : unit.n_states;
}

std::uint32_t FamilyBound::target(const Unit& unit, std::size_t joint_value) const {
  std::uint32_t cell = unit.offset;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const auto& shape = shapes_[unit.first_shape + h];
    cell += shape.stride * static_cast<std::uint32_t>(joint_value % shape.card);
    joint_value /= shape.card;
  }
  return cell;
}

// Units that can meet in a parent configuration stand next to each other.
void FamilyBound::order_by_component(const AugmentProblem::Family& family) {
  auto& parent = earlier_;
  parent.resize(configs_.size());
  std::iota(parent.begin(), parent.end(), 0);
  for (const auto& unit : units_) {
    for (std::size_t t = 1; t < n_targets(unit); ++t) {
      const auto first = find_root(parent, target(unit, 0) / family.child_card);
      parent[find_root(parent, target(unit, t) / family.child_card)] = first;
    }
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(units_.size());
  for (std::uint32_t u = 0; u < units_.size(); ++u)
    order[u] = {find_root(parent, target(units_[u], 0) / family.child_card), u};
  std::sort(order.begin(), order.end());
  std::vector<Unit> sorted;
  sorted.reserve(units_.size());
  starts_component_.assign(units_.size(), 0);
  for (std::size_t u = 0; u < order.size(); ++u) {
    sorted.push_back(units_[order[u].second]);
    starts_component_[u] = u == 0 || order[u].first != order[u - 1].first;
  }
  units_.swap(sorted);
}

double FamilyBound::place(const AugmentProblem::Family& family, std::uint32_t cell,
                          std::uint32_t weight) {
  if (weight == 0) return 0.0;
  const std::uint32_t config = cell / family.child_card;
  const std::uint32_t x = counts_[cell] + earlier_[cell], y = configs_[config] + earlier_[cell];
  counts_[cell] += weight;
  configs_[config] += weight;
  return (*family.joint)(x + weight) - (*family.joint)(x) -
         ((*family.given)(y + weight) - (*family.given)(y));
}

void FamilyBound::take_back(const AugmentProblem::Family& family, std::uint32_t cell,
                            std::uint32_t weight) {
  counts_[cell] -= weight;
  configs_[cell / family.child_card] -= weight;
}

// Unit after unit, by the chain rule; counts_ and configs_ hold what has been placed.
void FamilyBound::fill_block(const AugmentProblem::Family& family, const Block& block,
                             std::size_t unit_number, double value, std::size_t index) {
  if (unit_number == block.n_units) {
    values_[block.first_value + index] = value;
    return;
  }
  const Unit unit = units_[block.first_unit + unit_number];
  for (std::uint32_t s = 0; s < unit.n_states; ++s) {
    const std::uint32_t cell = target(unit, unit.by_count ? 1 : s);
    const std::uint32_t rest = unit.by_count ? unit.offset : cell;
    const std::uint32_t weight = unit.by_count ? s * unit.weight : unit.weight;
    const std::uint32_t rest_weight = unit.by_count ? (unit.n_members - s) * unit.weight : 0;
    const double gain = place(family, cell, weight) + place(family, rest, rest_weight);
    fill_block(family, block, unit_number + 1, value + gain, index * unit.n_states + s);
    take_back(family, cell, weight);
    take_back(family, rest, rest_weight);
  }
}

void FamilyBound::restrict(const FamilyBound& other, const AugmentProblem::Completion& fixed) {
  constant_ = other.constant_;
  is_exact_ = other.is_exact_;
  units_.clear();
  shapes_.clear();
  cells_.clear();
  blocks_.clear();
  values_.clear();
  std::vector<std::vector<std::uint32_t>> states;  // of each unit of a block that stay
  std::vector<std::size_t> position;
  for (const auto& old_block : other.blocks_) {
    Block block{static_cast<std::uint32_t>(units_.size()), 0, values_.size(), 1};
    states.clear();
    for (std::uint32_t u = 0; u < old_block.n_units; ++u) {
      const Unit& old = other.units_[old_block.first_unit + u];
      Unit unit = old;
      unit.first_shape = static_cast<std::uint32_t>(shapes_.size());
      unit.first_cell = static_cast<std::uint32_t>(cells_.size());
      auto& kept = states.emplace_back();
      if (old.by_count) {
        std::uint32_t n_fixed[2] = {0, 0};
        for (std::uint32_t m = 0; m < old.n_members; ++m) {
          const auto cell = other.cells_[old.first_cell + m];
          if (fixed[cell] == AugmentProblem::kFree)
            cells_.push_back(cell);
          else
            ++n_fixed[fixed[cell]];
        }
        for (std::uint32_t s = n_fixed[1]; s + n_fixed[0] <= old.n_members; ++s) kept.push_back(s);
        unit.n_members = old.n_members - n_fixed[0] - n_fixed[1];
        shapes_.push_back(other.shapes_[old.first_shape]);
      } else {
        unit.n_holes = 0;
        for (std::uint32_t h = 0; h < old.n_holes; ++h) {
          const auto cell = other.cells_[old.first_cell + h];
          if (fixed[cell] != AugmentProblem::kFree) continue;
          cells_.push_back(cell);
          shapes_.push_back(other.shapes_[old.first_shape + h]);
          ++unit.n_holes;
        }
        for (std::uint32_t s = 0; s < old.n_states; ++s) {
          bool stays = true;
          std::uint32_t rest = s;
          for (std::uint32_t h = old.n_holes; h-- > 0;) {
            const std::uint32_t card = other.shapes_[old.first_shape + h].card;
            const auto value = fixed[other.cells_[old.first_cell + h]];
            stays &= value == AugmentProblem::kFree || value == rest % card;
            rest /= card;
          }
          if (stays) kept.push_back(s);
        }
        unit.n_members = unit.n_holes > 0;
      }
      unit.n_states = static_cast<std::uint32_t>(kept.size());
      block.n_values *= kept.size();
      // A unit without free cells has one state: it stays in the table, not in the list.
      if (unit.n_members == 0) {
        shapes_.resize(unit.first_shape);
        continue;
      }
      ++block.n_units;
      units_.push_back(unit);
    }
    // Walk the entries that stay, in order; the last unit varies fastest.
    values_.reserve(values_.size() + block.n_values);
    position.assign(states.size(), 0);
    for (std::size_t e = 0; e < block.n_values; ++e) {
      std::size_t index = 0;
      for (std::size_t u = 0; u < states.size(); ++u)
        index = index * other.units_[old_block.first_unit + u].n_states + states[u][position[u]];
      values_.push_back(other.values_[old_block.first_value + index]);
      for (std::size_t u = states.size(); u-- > 0;) {
        if (++position[u] < states[u].size()) break;
        position[u] = 0;
      }
    }
    if (block.n_units == 0) {
      constant_ += values_.back();
      values_.pop_back();
    } else {
      blocks_.push_back(block);
    }
  }
}

bool FamilyBound::sees(const AugmentProblem::Completion& fixed) const {
  return std::ranges::any_of(
      cells_, [&](std::uint32_t cell) { return fixed[cell] != AugmentProblem::kFree; });
}

double FamilyBound::maximum() const {
  double total = constant_;
  for (const auto& block : blocks_)
    total += *std::max_element(
        values_.begin() + static_cast<std::ptrdiff_t>(block.first_value),
        values_.begin() + static_cast<std::ptrdiff_t>(block.first_value + block.n_values));
  return total;
}

double FamilyBound::price(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                          std::uint32_t cell, std::size_t value) const {
  const bool owns = static_cast<std::size_t>(problem.cells()[cell].variable) == child;
  return owns ? prices.earned(cell, value) : -prices.at(child, cell, value);
}

// Members of a counted unit, by what value 1 adds to value 0, most first.
std::vector<FamilyBound::Difference> FamilyBound::differences(const AugmentProblem& problem,
                                                              std::size_t child,
                                                              const Prices& prices,
                                                              const Unit& unit) const {
  std::vector<Difference> gains(unit.n_members);
  for (std::uint32_t m = 0; m < unit.n_members; ++m) {
    const auto cell = cells_[unit.first_cell + m];
    gains[m] = {price(problem, child, prices, cell, 1) - price(problem, child, prices, cell, 0), m};
  }
  std::stable_sort(gains.begin(), gains.end(),
                   [](const Difference& a, const Difference& b) { return a.gain > b.gain; });
  return gains;
}

// What each state of a unit earns or pays: for a counted unit, the best choice of members.
void FamilyBound::unit_prices(const AugmentProblem& problem, std::size_t child,
                              const Prices& prices, const Unit& unit, double* target_prices,
                              std::vector<double>& gains) const {
  if (unit.by_count) {
    double total = 0.0;
    gains.clear();
    for (std::uint32_t m = 0; m < unit.n_members; ++m) {
      const auto cell = cells_[unit.first_cell + m];
      const double zero = price(problem, child, prices, cell, 0);
      total += zero;
      gains.push_back(price(problem, child, prices, cell, 1) - zero);
    }
    if (gains.size() > 1) std::sort(gains.begin(), gains.end(), std::greater<>());
    target_prices[0] = total;
    for (std::uint32_t s = 1; s < unit.n_states; ++s)
      target_prices[s] = target_prices[s - 1] + gains[s - 1];
    return;
  }
  std::fill(target_prices, target_prices + unit.n_states, 0.0);
  std::size_t step = 1;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const auto cell = cells_[unit.first_cell + h];
    const std::size_t card = shapes_[unit.first_shape + h].card;
    for (std::size_t s = 0; s < unit.n_states; ++s)
      target_prices[s] += price(problem, child, prices, cell, s / step % card);
    step *= card;
  }
}

double FamilyBound::maximum(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                            Scratch& scratch) const {
  double total = constant_;
  for (const auto& block : blocks_) {
    if (scratch.buffer.size() < block.n_values) scratch.buffer.resize(block.n_values);
    const double* values = values_.data() + block.first_value;
    std::size_t size = block.n_values;
    // The first unit is maximised out of contiguous slices, then the next, in place.
    for (std::uint32_t u = 0; u < block.n_units; ++u) {
      const auto& unit = units_[block.first_unit + u];
      if (scratch.prices.size() < unit.n_states) scratch.prices.resize(unit.n_states);
      unit_prices(problem, child, prices, unit, scratch.prices.data(), scratch.differences);
      size /= unit.n_states;
      maximise_out(values, scratch.prices.data(), unit.n_states, size, scratch.buffer.data());
      values = scratch.buffer.data();
    }
    total += values[0];
  }
  return total;
}

void FamilyBound::explain(const AugmentProblem& problem, std::size_t child, const Prices& prices,
                          std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const {
  std::vector<double> priced, linear, gains, best;
  for (const auto& block : blocks_) {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(block.first_value);
    priced.assign(first, first + static_cast<std::ptrdiff_t>(block.n_values));
    std::size_t inner = block.n_values;
    for (std::uint32_t u = 0; u < block.n_units; ++u) {
      const auto& unit = units_[block.first_unit + u];
      linear.resize(unit.n_states);
      unit_prices(problem, child, prices, unit, linear.data(), gains);
      inner /= unit.n_states;
      for (std::size_t e = 0; e < priced.size(); ++e)
        priced[e] += linear[e / inner % unit.n_states];
    }
    const auto top =
        static_cast<std::size_t>(std::max_element(priced.begin(), priced.end()) - priced.begin());
    inner = block.n_values;
    for (std::uint32_t u = 0; u < block.n_units; ++u) {
      const auto& unit = units_[block.first_unit + u];
      inner /= unit.n_states;
      // The best entry for every state of this unit, less the best of all.
      best.assign(unit.n_states, kMinusInfinity);
      for (std::size_t e = 0; e < priced.size(); ++e) {
        auto& value = best[e / inner % unit.n_states];
        value = std::max(value, priced[e] - priced[top]);
      }
      const std::size_t state = top / inner % unit.n_states;
      if (unit.by_count)
        explain_counted(problem, child, prices, unit, state, best, choices, losses);
      else
        explain_joint(unit, state, best, choices, losses);
    }
  }
}

void FamilyBound::explain_counted(const AugmentProblem& problem, std::size_t child,
                                  const Prices& prices, const Unit& unit, std::size_t state,
                                  std::span<const double> best, std::vector<CellChoice>& choices,
                                  std::vector<CellLoss>& losses) const {
  const auto ranked = differences(problem, child, prices, unit);
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    const auto cell = cells_[unit.first_cell + ranked[rank].member];
    choices.push_back({cell, static_cast<std::uint8_t>(rank < state)});
    // Forced to 1, the member takes the place of the last one that would have it; forced to
    // 0, it leaves its place to the first that would not.
    double forced[2] = {kMinusInfinity, kMinusInfinity};
    for (std::size_t s = 0; s < unit.n_states; ++s) {
      if (s >= 1) {
        const double change = rank < s ? 0.0 : ranked[rank].gain - ranked[s - 1].gain;
        forced[1] = std::max(forced[1], best[s] + change);
      }
      if (s < ranked.size()) {
        const double change = rank >= s ? 0.0 : ranked[s].gain - ranked[rank].gain;
        forced[0] = std::max(forced[0], best[s] + change);
      }
    }
    losses.push_back({cell, 0, -forced[0]});
    losses.push_back({cell, 1, -forced[1]});
  }
}

void FamilyBound::explain_joint(const Unit& unit, std::size_t state, std::span<const double> best,
                                std::vector<CellChoice>& choices,
                                std::vector<CellLoss>& losses) const {
  std::size_t step = 1;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const auto cell = cells_[unit.first_cell + h];
    const std::size_t card = shapes_[unit.first_shape + h].card;
    choices.push_back({cell, static_cast<std::uint8_t>(state / step % card)});
    for (std::uint32_t value = 0; value < card; ++value) {
      double forced = kMinusInfinity;
      for (std::size_t s = 0; s < unit.n_states; ++s)
        if (s / step % card == value) forced = std::max(forced, best[s]);
      losses.push_back({cell, value, -forced});
    }
    step *= card;
  }
}

}  // namespace bayesmend
