#include "core/augment/bound.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/base/wide.hpp"

namespace bayesmend {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

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
  for (const auto& cell : problem.cells()) width_ = std::max(width_, cell.card);
  values_.assign(n_vars_ * n_cells_ * width_, 0.0);
  earned_.assign(n_cells_ * width_, 0.0);
}

void Prices::settle() {
  std::fill(earned_.begin(), earned_.end(), 0.0);
  for (std::size_t c = 0; c < n_vars_; ++c)
    for (std::size_t e = 0; e < earned_.size(); ++e) earned_[e] += values_[c * earned_.size() + e];
}

void FamilyBound::clear() {
  units_.clear();
  shapes_.clear();
  cells_.clear();
  blocks_.clear();
  values_.clear();
}

void FamilyBound::build(const AugmentProblem& problem, const Family& family,
                        const Completion& fixed, bool merge, std::size_t max_entries) {
  const auto base = problem.base_counts(family);
  counts_.assign(base.begin(), base.end());
  clear();
  is_exact_ = true;
  collect_units(problem, family, fixed, merge);
  constant_ = problem.score_counts(family, counts_);
  decided_terms_ = problem.decided_terms(family.child, fixed);
  if (units_.empty()) return;
  row_costs_.resize(base.size());
  std::ranges::transform(base, row_costs_.begin(),
                         [&](std::uint32_t count) { return problem.row_cost(count); });
  configs_.assign(family.n_cells / family.child_card, 0);
  for (std::size_t c = 0; c < counts_.size(); ++c) configs_[c / family.child_card] += counts_[c];
  order_by_component(family);
  earlier_.assign(family.n_cells, 0);
  for (std::uint32_t u = 0; u < units_.size();) {
    // A unit that exceeds the limit alone still makes a block.
    Block block{.first_unit = u,
                .n_units = 1,
                .first_value = values_.size(),
                .n_values = units_[u].n_states};
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
    for (const auto& unit : units(block))
      for (std::size_t t = 0; t < unit.n_targets(); ++t)
        earlier_[target(unit, t)] += unit.weight * unit.n_members;
  }
}

void FamilyBound::collect_units(const AugmentProblem& problem, const Family& family,
                                const Completion& fixed, bool merge) {
  std::vector<Member> members;
  std::vector<std::uint32_t> cells;
  for (const auto& item : problem.items(family)) {
    const auto first_cell = static_cast<std::uint32_t>(cells.size());
    Unit unit = make_unit(problem, item, fixed, cells);
    if (unit.n_holes == 0) {
      counts_[unit.offset] += unit.weight;
      continue;
    }
    unit.by_count = !merge && unit.n_holes == 1 && unit.n_states == 2;
    if (merge && problem.has_terms())
      for (auto cell = first_cell; cell < cells.size(); ++cell)
        if (problem.cells()[cells[cell]].variable == family.child)
          unit.terms = problem.terms_of(cells[cell]);
    std::size_t number = units_.size();
    if (merge || unit.by_count)
      for (number = 0; number < units_.size(); ++number)
        if (is_alike(units_[number], unit, family.child_card) &&
            (merge || units_[number].weight == unit.weight))
          break;
    if (number == units_.size()) {
      units_.push_back(unit);
    } else {
      shapes_.resize(unit.first_shape);
      if (merge) {
        units_[number].weight += unit.weight;
      } else {
        ++units_[number].n_members;
        ++units_[number].n_states;
      }
    }
    members.push_back({number, first_cell});
  }
  if (!merge) list_cells(std::move(members), cells);
}

FamilyBound::Unit FamilyBound::make_unit(const AugmentProblem& problem,
                                         const AugmentProblem::Item& item, const Completion& fixed,
                                         std::vector<std::uint32_t>& cells) {
  Unit unit{.weight = item.weight,
            .offset = item.offset,
            .first_shape = static_cast<std::uint32_t>(shapes_.size()),
            .n_holes = 0,
            .first_cell = 0,
            .n_members = 1,
            .n_states = 1,
            .by_count = false,
            .terms = nullptr};
  for (const auto& hole : problem.holes(item)) {
    if (fixed[hole.cell] != AugmentProblem::kFree) {
      unit.offset += hole.stride * fixed[hole.cell];
      continue;
    }
    const std::uint32_t card = problem.cells()[hole.cell].card;
    shapes_.push_back({hole.stride, card});
    cells.push_back(hole.cell);
    ++unit.n_holes;
    unit.n_states *= card;
  }
  return unit;
}

// Whether the patterns of both go to the same cells of the table for the same values, and these are
// worth the same to them.
bool FamilyBound::is_alike(const Unit& a, const Unit& b, std::uint32_t child_card) const {
  const auto shapes = [&](const Unit& unit) {
    return std::span(shapes_).subspan(unit.first_shape, unit.n_holes);
  };
  return a.offset == b.offset && a.by_count == b.by_count &&
         std::ranges::equal(shapes(a), shapes(b)) &&
         (a.terms == b.terms || (a.terms != nullptr && b.terms != nullptr &&
                                 std::equal(a.terms, a.terms + child_card, b.terms)));
}

// Puts the cells of a unit's members one after the other.
void FamilyBound::list_cells(std::vector<Member> members, std::span<const std::uint32_t> cells) {
  std::ranges::stable_sort(members, {}, &Member::unit);
  for (std::size_t m = 0; m < members.size(); ++m) {
    auto& unit = units_[members[m].unit];
    if (m == 0 || members[m].unit != members[m - 1].unit)
      unit.first_cell = static_cast<std::uint32_t>(cells_.size());
    const auto own = cells.subspan(members[m].first_cell, unit.n_holes);
    cells_.insert(cells_.end(), own.begin(), own.end());
  }
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
void FamilyBound::order_by_component(const Family& family) {
  components_.reset(configs_.size());
  const auto config = [&](const Unit& unit, std::size_t t) {
    return target(unit, t) / family.child_card;
  };
  for (const auto& unit : units_)
    for (std::size_t t = 1; t < unit.n_targets(); ++t)
      components_.join(config(unit, 0), config(unit, t));
  std::vector<std::pair<std::uint32_t, std::uint32_t>> order(units_.size());
  for (std::uint32_t u = 0; u < units_.size(); ++u)
    order[u] = {components_.root(config(units_[u], 0)), u};
  std::ranges::sort(order);
  std::vector<Unit> sorted;
  sorted.reserve(units_.size());
  starts_component_.assign(units_.size(), 0);
  for (std::size_t u = 0; u < order.size(); ++u) {
    sorted.push_back(units_[order[u].second]);
    starts_component_[u] = u == 0 || order[u].first != order[u - 1].first;
  }
  units_.swap(sorted);
}

double FamilyBound::place(const Family& family, std::uint32_t cell, std::uint32_t weight) {
  if (weight == 0) return 0.0;
  const std::uint32_t config = cell / family.child_card;
  const std::uint32_t x = counts_[cell] + earlier_[cell], y = configs_[config] + earlier_[cell];
  counts_[cell] += weight;
  configs_[config] += weight;
  return (*family.joint)(x + weight) - (*family.joint)(x) -
         ((*family.given)(y + weight) - (*family.given)(y)) - row_costs_[cell] * weight;
}

void FamilyBound::take_back(const Family& family, std::uint32_t cell, std::uint32_t weight) {
  counts_[cell] -= weight;
  configs_[cell / family.child_card] -= weight;
}

// Unit after unit, by the chain rule; counts_ and configs_ hold what has been placed.
void FamilyBound::fill_block(const Family& family, const Block& block, std::size_t unit_number,
                             double value, std::size_t index) {
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
    double gain = place(family, cell, weight) + place(family, rest, rest_weight);
    if (unit.terms != nullptr) gain += weight * unit.terms[cell % family.child_card];
    fill_block(family, block, unit_number + 1, value + gain, index * unit.n_states + s);
    take_back(family, cell, weight);
    take_back(family, rest, rest_weight);
  }
}

void FamilyBound::restrict(const AugmentProblem& problem, const Family& family,
                           const FamilyBound& other, const Completion& fixed) {
  constant_ = other.constant_;
  decided_terms_ = problem.decided_terms(family.child, fixed);
  is_exact_ = other.is_exact_;
  clear();
  std::vector<std::vector<std::uint32_t>> kept;  // states of each unit of a block
  for (const auto& old_block : other.blocks_) {
    Block block{.first_unit = static_cast<std::uint32_t>(units_.size()),
                .n_units = 0,
                .first_value = values_.size(),
                .n_values = 1};
    kept.clear();
    for (const auto& old : other.units(old_block)) {
      auto& states = kept.emplace_back();
      Unit unit = old;
      unit.first_shape = static_cast<std::uint32_t>(shapes_.size());
      unit.first_cell = static_cast<std::uint32_t>(cells_.size());
      if (old.by_count)
        restrict_counted(other, old, fixed, unit, states);
      else
        restrict_joint(other, old, fixed, unit, states);
      unit.n_states = static_cast<std::uint32_t>(states.size());
      block.n_values *= states.size();
      // A unit without free cells has one state: it stays in the table, not in the list.
      if (unit.n_members == 0) {
        shapes_.resize(unit.first_shape);
        continue;
      }
      ++block.n_units;
      units_.push_back(unit);
    }
    restrict_values(other, old_block, kept);
    if (block.n_units == 0) {
      constant_ += values_.back();
      values_.pop_back();
    } else {
      blocks_.push_back(block);
    }
  }
}

void FamilyBound::restrict_counted(const FamilyBound& other, const Unit& old,
                                   const Completion& fixed, Unit& unit,
                                   std::vector<std::uint32_t>& kept) {
  std::uint32_t n_fixed[2] = {0, 0};
  for (const auto cell : std::span(other.cells_).subspan(old.first_cell, old.n_members)) {
    if (fixed[cell] == AugmentProblem::kFree)
      cells_.push_back(cell);
    else
      ++n_fixed[fixed[cell]];
  }
  for (std::uint32_t s = n_fixed[1]; s + n_fixed[0] <= old.n_members; ++s) kept.push_back(s);
  unit.n_members = old.n_members - n_fixed[0] - n_fixed[1];
  shapes_.push_back(other.shapes_[old.first_shape]);
}

void FamilyBound::restrict_joint(const FamilyBound& other, const Unit& old, const Completion& fixed,
                                 Unit& unit, std::vector<std::uint32_t>& kept) {
  unit.n_holes = 0;
  for (std::uint32_t h = 0; h < old.n_holes; ++h) {
    const auto cell = other.cells_[old.first_cell + h];
    if (fixed[cell] != AugmentProblem::kFree) continue;
    cells_.push_back(cell);
    shapes_.push_back(other.shapes_[old.first_shape + h]);
    ++unit.n_holes;
  }
  unit.n_members = unit.n_holes > 0;
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
}

// Takes over the entries of a block that stay, in order; the last unit varies fastest.
void FamilyBound::restrict_values(const FamilyBound& other, const Block& old,
                                  const std::vector<std::vector<std::uint32_t>>& kept) {
  std::vector<std::size_t> entries{0}, longer;
  for (std::size_t u = 0; u < kept.size(); ++u) {
    longer.clear();
    for (const auto entry : entries)
      for (const auto state : kept[u])
        longer.push_back(entry * other.units(old)[u].n_states + state);
    entries.swap(longer);
  }
  for (const auto entry : entries) values_.push_back(other.values(old)[entry]);
}

bool FamilyBound::sees(const Completion& fixed) const {
  return std::ranges::any_of(
      cells_, [&](std::uint32_t cell) { return fixed[cell] != AugmentProblem::kFree; });
}

double FamilyBound::maximum() const {
  double total = constant_ + decided_terms_;
  for (const auto& block : blocks_) total += std::ranges::max(values(block));
  return total;
}

// What each state of a unit earns or pays, into scratch.prices: for a counted unit, by the best
// choice of members.
void FamilyBound::price_states(const FamilyPrices& prices, const Unit& unit,
                               Scratch& scratch) const {
  if (scratch.prices.size() < unit.n_states) scratch.prices.resize(unit.n_states);
  double* state_prices = scratch.prices.data();
  if (unit.by_count) {
    double total = 0.0;
    auto& gains = scratch.gains;
    gains.clear();
    for (std::uint32_t m = 0; m < unit.n_members; ++m) {
      const auto cell = cells_[unit.first_cell + m];
      total += prices(cell, 0);
      gains.push_back(prices.gain(cell));
    }
    if (gains.size() > 1) std::ranges::sort(gains, std::greater<>());
    state_prices[0] = total;
    for (std::uint32_t s = 1; s < unit.n_states; ++s)
      state_prices[s] = state_prices[s - 1] + gains[s - 1];
    return;
  }
  std::fill_n(state_prices, unit.n_states, 0.0);
  std::size_t step = 1;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const auto cell = cells_[unit.first_cell + h];
    const std::size_t card = shapes_[unit.first_shape + h].card;
    for (std::size_t s = 0; s < unit.n_states; ++s)
      state_prices[s] += prices(cell, s / step % card);
    step *= card;
  }
}

double FamilyBound::maximum(const FamilyPrices& prices, Scratch& scratch) const {
  double total = constant_ + decided_terms_;
  for (const auto& block : blocks_) {
    if (scratch.buffer.size() < block.n_values) scratch.buffer.resize(block.n_values);
    const double* from = values(block).data();
    std::size_t size = block.n_values;
    // The first unit is maximised out of contiguous slices, then the next, in place.
    for (const auto& unit : units(block)) {
      price_states(prices, unit, scratch);
      size /= unit.n_states;
      maximise_out(from, scratch.prices.data(), unit.n_states, size, scratch.buffer.data());
      from = scratch.buffer.data();
    }
    total += from[0];
  }
  return total;
}

void FamilyBound::explain(const FamilyPrices& prices, std::vector<CellChoice>& choices,
                          std::vector<CellLoss>& losses) const {
  std::vector<double> priced, best;
  Scratch scratch;
  for (const auto& block : blocks_) {
    const auto plain = values(block);
    priced.assign(plain.begin(), plain.end());
    std::size_t inner = block.n_values;
    for (const auto& unit : units(block)) {
      price_states(prices, unit, scratch);
      inner /= unit.n_states;
      for (std::size_t e = 0; e < priced.size(); ++e)
        priced[e] += scratch.prices[e / inner % unit.n_states];
    }
    const auto top = static_cast<std::size_t>(std::ranges::max_element(priced) - priced.begin());
    inner = block.n_values;
    for (const auto& unit : units(block)) {
      inner /= unit.n_states;
      // The best entry for every state of this unit, less the best of all.
      best.assign(unit.n_states, kMinusInfinity);
      for (std::size_t e = 0; e < priced.size(); ++e) {
        auto& value = best[e / inner % unit.n_states];
        value = std::max(value, priced[e] - priced[top]);
      }
      const std::size_t state = top / inner % unit.n_states;
      if (unit.by_count)
        explain_counted(prices, unit, state, best, choices, losses);
      else
        explain_joint(unit, state, best, choices, losses);
    }
  }
}

void FamilyBound::explain_counted(const FamilyPrices& prices, const Unit& unit, std::size_t state,
                                  std::span<const double> best, std::vector<CellChoice>& choices,
                                  std::vector<CellLoss>& losses) const {
  // Members by what value 1 adds to value 0, most first.
  struct Ranked {
    std::uint32_t cell;
    double gain;
  };
  std::vector<Ranked> ranked;
  for (const auto cell : std::span(cells_).subspan(unit.first_cell, unit.n_members))
    ranked.push_back({cell, prices.gain(cell)});
  std::ranges::stable_sort(ranked, std::greater<>(), &Ranked::gain);
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    const auto [cell, gain] = ranked[rank];
    choices.push_back({cell, static_cast<std::uint8_t>(rank < state)});
    // Forced to 1, the member takes the place of the last one that would have it; forced to
    // 0, it leaves its place to the first that would not.
    double forced[2] = {kMinusInfinity, kMinusInfinity};
    for (std::size_t s = 0; s < unit.n_states; ++s) {
      if (s >= 1) {
        const double change = rank < s ? 0.0 : gain - ranked[s - 1].gain;
        forced[1] = std::max(forced[1], best[s] + change);
      }
      if (s < ranked.size()) {
        const double change = rank >= s ? 0.0 : ranked[s].gain - gain;
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
