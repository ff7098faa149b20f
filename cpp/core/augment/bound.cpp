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

// The best prices of splits of m + 1 patterns from those of m, by rank; both may be the same.
void add_member(const Splits& splits, std::uint32_t m, const double* own, const double* before,
                double* after) {
  const std::uint32_t n_before = splits.size(m);
  for (std::uint32_t s = splits.size(m + 1); s-- > 0;) {
    double value = s < n_before ? before[s] + own[0] : kMinusInfinity;
    // One with less has a lower rank, which is not overwritten yet.
    for (std::uint32_t t = 1; t < splits.n_places(); ++t)
      if (const auto without = splits.without(t)[s]; without != Splits::kNone)
        value = std::max(value, before[without] + own[t]);
    after[s] = value;
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
  // The sum has no room for digits below the grid.
  constexpr double kFirstDigit = 1.5 * 0x1p52 * kGrid;
  for (double& price : values_) price = (price + kFirstDigit) - kFirstDigit;
  std::fill(earned_.begin(), earned_.end(), 0.0);
  for (std::size_t c = 0; c < n_vars_; ++c)
    for (std::size_t e = 0; e < earned_.size(); ++e) earned_[e] += values_[c * earned_.size() + e];
}

void FamilyBound::clear() {
  units_.clear();
  shapes_.clear();
  cells_.clear();
  decided_.clear();
  blocks_.clear();
  values_.clear();
}

void FamilyBound::build(const AugmentProblem& problem, const Family& family,
                        const Completion& fixed, bool merge, std::size_t max_entries,
                        Scratch& scratch) {
  const auto base = problem.base_counts(family);
  counts_.assign(base.begin(), base.end());
  clear();
  is_exact_ = true;
  collect_units(problem, family, fixed, merge, max_entries);
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
    fill_block(family, block, 0, 0.0, 0, scratch.splits);
    blocks_.push_back(block);
    if (u == units_.size() || starts_component_[u]) continue;
    for (const auto& unit : units(block))
      for (std::size_t t = 0; t < unit.n_targets; ++t)
        earlier_[target(unit, t)] += unit.weight * unit.n_members;
  }
}

void FamilyBound::collect_units(const AugmentProblem& problem, const Family& family,
                                const Completion& fixed, bool merge, std::size_t max_states) {
  std::vector<Member> members;
  std::vector<std::uint32_t> cells;
  for (const auto& item : problem.items(family)) {
    const auto first_cell = static_cast<std::uint32_t>(cells.size());
    Unit unit = make_unit(problem, item, fixed, cells);
    if (unit.n_holes == 0) {
      counts_[unit.offset] += unit.weight;
      continue;
    }
    if (merge && problem.has_terms())
      for (auto cell = first_cell; cell < cells.size(); ++cell)
        if (problem.cells()[cells[cell]].variable == family.child)
          unit.terms = problem.terms_of(cells[cell]);
    // Of two targets a unit takes all patterns: there are few ways to split them.
    const auto has_room = [&](const Unit& other) {
      return other.weight == unit.weight &&
             (unit.n_targets <= 2 ||
              Splits::count(unit.n_targets, other.n_members + 1, max_states + 1) <= max_states);
    };
    std::size_t number = 0;
    while (number < units_.size() && !(is_alike(units_[number], unit, family.child_card) &&
                                       (merge || has_room(units_[number]))))
      ++number;
    if (number == units_.size()) {
      units_.push_back(unit);
    } else {
      shapes_.resize(unit.first_shape);
      if (merge)
        units_[number].weight += unit.weight;
      else
        ++units_[number].n_members;
    }
    members.push_back({number, first_cell});
  }
  for (auto& unit : units_)
    if (unit.n_members > 1)
      unit.n_states = static_cast<std::uint32_t>(
          Splits::count(unit.n_targets, unit.n_members, std::numeric_limits<std::size_t>::max()));
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
            .n_targets = 1,
            .n_states = 1,
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
    unit.n_targets *= card;
  }
  unit.n_states = unit.n_targets;
  return unit;
}

// Whether the patterns of both go to the same cells of the table for the same values, and these are
// worth the same to them.
bool FamilyBound::is_alike(const Unit& a, const Unit& b, std::uint32_t child_card) const {
  const auto shapes = [&](const Unit& unit) {
    return std::span(shapes_).subspan(unit.first_shape, unit.n_holes);
  };
  return a.offset == b.offset && std::ranges::equal(shapes(a), shapes(b)) &&
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
  decided_.assign(cells_.size(), AugmentProblem::kFree);
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
    for (std::size_t t = 1; t < unit.n_targets; ++t)
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
                             double value, std::size_t index, SplitTables& splits) {
  if (unit_number == block.n_units) {
    values_[block.first_value + index] = value;
    return;
  }
  const Unit unit = units_[block.first_unit + unit_number];
  const auto go_on = [&](double gain, std::size_t state) {
    fill_block(family, block, unit_number + 1, value + gain, index * unit.n_states + state, splits);
  };
  if (unit.n_members == 1) {
    for (std::uint32_t s = 0; s < unit.n_states; ++s) {
      const std::uint32_t cell = target(unit, s);
      double gain = place(family, cell, unit.weight);
      if (unit.terms != nullptr) gain += unit.weight * unit.terms[cell % family.child_card];
      go_on(gain, s);
      take_back(family, cell, unit.weight);
    }
    return;
  }
  std::vector<std::uint32_t> cells, weights(unit.n_targets);
  for (std::uint32_t t = 0; t < unit.n_targets; ++t) cells.push_back(target(unit, t));
  for (std::uint32_t s = 0; s < unit.n_states; ++s) {
    weights[0] = unit.n_members * unit.weight;
    // Asked for again each time: units that follow may have made a longer one.
    const auto moved = splits.of(unit.n_targets, unit.n_members).moved(s);
    for (std::uint32_t t = 1; t < unit.n_targets; ++t) {
      weights[t] = moved[t - 1] * unit.weight;
      weights[0] -= weights[t];
    }
    double gain = 0.0;
    for (std::uint32_t t = 0; t < unit.n_targets; ++t) gain += place(family, cells[t], weights[t]);
    go_on(gain, s);
    for (std::uint32_t t = 0; t < unit.n_targets; ++t) take_back(family, cells[t], weights[t]);
  }
}

void FamilyBound::restrict(const AugmentProblem& problem, const Family& family,
                           const FamilyBound& other, const Completion& fixed, Scratch& scratch) {
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
      restrict_unit(other, old, fixed, unit, states, scratch.splits);
      unit.n_states = static_cast<std::uint32_t>(states.size());
      block.n_values *= states.size();
      // A unit without free cells has one state: it stays in the table, not in the list.
      if (unit.n_members == 0) continue;
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

void FamilyBound::restrict_unit(const FamilyBound& other, const Unit& old, const Completion& fixed,
                                Unit& unit, std::vector<std::uint32_t>& kept, SplitTables& splits) {
  const auto shapes = std::span(other.shapes_).subspan(old.first_shape, old.n_holes);
  unit.first_shape = static_cast<std::uint32_t>(shapes_.size());
  unit.first_cell = static_cast<std::uint32_t>(cells_.size());
  unit.n_members = 0;
  std::vector<std::uint32_t> n_decided(old.n_targets, 0);  // by target
  for (std::size_t m = 0; m < old.n_members; ++m) {
    const auto cells =
        std::span(other.cells_).subspan(old.first_cell + m * old.n_holes, old.n_holes);
    std::uint32_t target = 0;
    bool is_decided = true;
    for (std::size_t h = 0; h < cells.size(); ++h) {
      is_decided = is_decided && fixed[cells[h]] != AugmentProblem::kFree;
      target = target * shapes[h].card + fixed[cells[h]];
    }
    if (is_decided) {
      ++n_decided[target];
      continue;
    }
    ++unit.n_members;
    for (const auto cell : cells) {
      cells_.push_back(cell);
      decided_.push_back(fixed[cell]);
    }
  }
  const auto rank = [&](std::span<const std::uint32_t> counts) {
    if (old.n_members > 1) return splits.of(old.n_targets, old.n_members).rank(counts.subspan(1));
    return static_cast<std::uint32_t>(std::ranges::find(counts, 1U) - counts.begin());
  };
  if (unit.n_members == 0) {
    kept.push_back(rank(n_decided));
  } else if (unit.n_members == 1) {
    restrict_member(old, shapes, unit, [&](std::uint32_t target) {
      ++n_decided[target];
      kept.push_back(rank(n_decided));
      --n_decided[target];
    });
  } else {
    shapes_.insert(shapes_.end(), shapes.begin(), shapes.end());
    const auto& split = splits.of(old.n_targets, old.n_members);
    std::vector<std::uint32_t> counts(old.n_targets - 1);
    for (std::uint32_t r = 0; r < split.size(unit.n_members); ++r) {
      std::ranges::transform(split.moved(r), std::span(n_decided).subspan(1), counts.begin(),
                             std::plus<>());
      kept.push_back(split.rank(counts));
    }
  }
}

// Leaves the only pattern of a unit its undecided cells; calls act for the targets that it can
// reach.
template <class Act>
void FamilyBound::restrict_member(const Unit& old, std::span<const Shape> shapes, Unit& unit,
                                  const Act& act) {
  const std::vector<std::uint32_t> cells(cells_.begin() + unit.first_cell, cells_.end());
  const Completion decided(decided_.begin() + unit.first_cell, decided_.end());
  cells_.resize(unit.first_cell);
  decided_.resize(unit.first_cell);
  unit.n_holes = 0;
  unit.n_targets = 1;
  for (std::size_t h = 0; h < cells.size(); ++h) {
    if (decided[h] != AugmentProblem::kFree) continue;
    cells_.push_back(cells[h]);
    decided_.push_back(AugmentProblem::kFree);
    shapes_.push_back(shapes[h]);
    ++unit.n_holes;
    unit.n_targets *= shapes[h].card;
  }
  for (std::uint32_t t = 0; t < old.n_targets; ++t) {
    bool is_allowed = true;
    std::uint32_t rest = t;
    for (std::size_t h = cells.size(); h-- > 0;) {
      is_allowed &= decided[h] == AugmentProblem::kFree || decided[h] == rest % shapes[h].card;
      rest /= shapes[h].card;
    }
    if (is_allowed) act(t);
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
  for (std::size_t c = 0; c < cells_.size(); ++c)
    if (fixed[cells_[c]] != decided_[c]) return true;
  return false;
}

double FamilyBound::maximum() const {
  double total = constant_ + decided_terms_;
  for (const auto& block : blocks_) total += std::ranges::max(values(block));
  return total;
}

std::pair<double, double> FamilyBound::range() const {
  double least = is_exact_ ? constant_ : kMinusInfinity, most = constant_;
  for (const auto& block : blocks_) {
    const auto [lowest, highest] = std::ranges::minmax(values(block));
    least += lowest;
    most += highest;
  }
  return {least, most};
}

// What one pattern of a unit earns or pays at a target; minus infinity where it cannot go.
double FamilyBound::price(const FamilyPrices& prices, const Unit& unit, std::size_t member,
                          std::size_t target) const {
  double total = 0.0;
  const std::size_t first = unit.first_cell + member * unit.n_holes;
  for (std::size_t h = unit.n_holes; h-- > 0;) {
    const std::size_t card = shapes_[unit.first_shape + h].card, value = target % card;
    target /= card;
    if (decided_[first + h] == AugmentProblem::kFree)
      total += prices(cells_[first + h], value);
    else if (decided_[first + h] != value)
      return kMinusInfinity;
  }
  return total;
}

// Of all its patterns, at all targets.
void FamilyBound::list_prices(const FamilyPrices& prices, const Unit& unit,
                              std::vector<double>& list) const {
  list.resize(std::size_t{unit.n_members} * unit.n_targets);
  for (std::size_t m = 0; m < unit.n_members; ++m)
    for (std::size_t t = 0; t < unit.n_targets; ++t)
      list[m * unit.n_targets + t] = price(prices, unit, m, t);
}

// What each state of a unit earns or pays, by the best choice of members, into scratch.prices.
void FamilyBound::price_states(const FamilyPrices& prices, const Unit& unit,
                               Scratch& scratch) const {
  if (scratch.prices.size() < unit.n_states) scratch.prices.resize(unit.n_states);
  double* state_prices = scratch.prices.data();
  auto& gains = scratch.gains;
  if (unit.n_members == 1) {
    for (std::size_t s = 0; s < unit.n_states; ++s) state_prices[s] = price(prices, unit, 0, s);
  } else if (unit.is_of_pairs()) {
    double total = 0.0;
    gains.clear();
    for (std::uint32_t m = 0; m < unit.n_members; ++m) {
      const auto cell = cells_[unit.first_cell + m];
      total += prices(cell, 0);
      gains.push_back(prices.gain(cell));
    }
    std::ranges::sort(gains, std::greater<>());
    state_prices[0] = total;
    for (std::uint32_t s = 1; s < unit.n_states; ++s)
      state_prices[s] = state_prices[s - 1] + gains[s - 1];
  } else {
    list_prices(prices, unit, gains);
    const auto& splits = scratch.splits.of(unit.n_targets, unit.n_members);
    state_prices[0] = 0.0;
    for (std::uint32_t m = 0; m < unit.n_members; ++m)
      add_member(splits, m, gains.data() + std::size_t{m} * unit.n_targets, state_prices,
                 state_prices);
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

void FamilyBound::explain(const FamilyPrices& prices, Scratch& scratch,
                          std::vector<CellChoice>& choices, std::vector<CellLoss>& losses) const {
  std::vector<double> priced, best;
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
      if (unit.n_members == 1)
        explain_member(unit, 0, state, best, choices, losses);
      else if (unit.is_of_pairs())
        explain_pairs(prices, unit, state, best, choices, losses);
      else
        explain_splits(prices, unit, state, best, scratch, choices, losses);
    }
  }
}

void FamilyBound::explain_pairs(const FamilyPrices& prices, const Unit& unit, std::size_t state,
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

// Forwards and backwards through the patterns: the best way to have split those before, and what
// the split so far will be worth.
void FamilyBound::explain_splits(const FamilyPrices& prices, const Unit& unit, std::size_t state,
                                 std::span<const double> best, Scratch& scratch,
                                 std::vector<CellChoice>& choices,
                                 std::vector<CellLoss>& losses) const {
  const std::size_t n = unit.n_members, n_targets = unit.n_targets, n_states = unit.n_states;
  const auto& splits = scratch.splits.of(unit.n_targets, unit.n_members);
  list_prices(prices, unit, scratch.gains);
  const auto own = [&](std::size_t m) { return scratch.gains.data() + m * n_targets; };
  // before[m]: of the first m patterns, by rank.
  std::vector<double> before((n + 1) * n_states, kMinusInfinity);
  const auto at = [&](std::size_t m) { return before.data() + m * n_states; };
  before[0] = 0.0;
  for (std::uint32_t m = 0; m < n; ++m) add_member(splits, m, own(m), at(m), at(m + 1));
  std::size_t split = state;
  std::vector<std::uint32_t> targets(n);
  for (std::uint32_t m = unit.n_members; m-- > 0;) {
    double most = split < splits.size(m) ? at(m)[split] + own(m)[0] : kMinusInfinity;
    std::size_t from = split;
    for (std::uint32_t t = 1; t < n_targets; ++t) {
      const auto without = splits.without(t)[split];
      if (without == Splits::kNone || at(m)[without] + own(m)[t] <= most) continue;
      most = at(m)[without] + own(m)[t];
      targets[m] = t;
      from = without;
    }
    split = from;
  }
  // What a split is worth beside the prices of this unit.
  std::vector<double> after(n_states, kMinusInfinity), earlier, forced(n_targets);
  for (std::size_t s = 0; s < n_states; ++s)
    if (at(n)[s] != kMinusInfinity) after[s] = best[s] - at(n)[s];
  for (std::uint32_t m = unit.n_members; m-- > 0;) {
    const std::uint32_t n_later = splits.size(m + 1);
    earlier.assign(splits.size(m), kMinusInfinity);
    forced.assign(n_targets, kMinusInfinity);
    const auto pass = [&](std::uint32_t t, std::uint32_t without, std::uint32_t with) {
      const double value = own(m)[t] + after[with];
      earlier[without] = std::max(earlier[without], value);
      forced[t] = std::max(forced[t], at(m)[without] + value);
    };
    for (std::uint32_t s = 0; s < earlier.size(); ++s) pass(0, s, s);
    for (std::uint32_t t = 1; t < n_targets; ++t) {
      const auto without = splits.without(t);
      for (std::uint32_t s = 0; s < n_later; ++s)
        if (without[s] != Splits::kNone) pass(t, without[s], s);
    }
    after.swap(earlier);
    explain_member(unit, m, targets[m], forced, choices, losses);
  }
}

// `forced`: what each target of the pattern would lose, below 0.
void FamilyBound::explain_member(const Unit& unit, std::size_t member, std::size_t target,
                                 std::span<const double> forced, std::vector<CellChoice>& choices,
                                 std::vector<CellLoss>& losses) const {
  const std::size_t first = unit.first_cell + member * unit.n_holes;
  std::size_t step = 1;
  for (std::uint32_t h = unit.n_holes; h-- > 0;) {
    const std::size_t card = shapes_[unit.first_shape + h].card;
    if (decided_[first + h] == AugmentProblem::kFree) {
      const auto cell = cells_[first + h];
      choices.push_back({cell, static_cast<std::uint8_t>(target / step % card)});
      for (std::uint32_t value = 0; value < card; ++value) {
        double most = kMinusInfinity;
        for (std::size_t t = 0; t < forced.size(); ++t)
          if (t / step % card == value) most = std::max(most, forced[t]);
        losses.push_back({cell, value, -most});
      }
    }
    step *= card;
  }
}

}  // namespace bayesmend
