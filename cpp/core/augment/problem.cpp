#include "core/augment/problem.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "core/base/bits.hpp"

namespace bayesmend {
namespace {

constexpr std::ptrdiff_t kFamiliesPerPoll = 1024;
constexpr std::size_t kCellsPerPoll = std::size_t{1} << 20;

std::vector<Var> members_of(std::uint64_t mask) {
  std::vector<Var> members;
  for_each_bit(mask, [&](Var v) { members.push_back(v); });
  return members;
}

// Subsets of a set of at most `size` members, in ascending order of their masks.
std::vector<std::uint64_t> subsets_up_to(std::uint64_t set, int size) {
  std::vector<std::uint64_t> subsets{0};
  for (; set != 0; set &= set - 1) {
    const std::uint64_t lowest = set & (~set + 1);
    // Every subset of the lower members precedes all that hold this one.
    const std::size_t n_without = subsets.size();
    for (std::size_t s = 0; s < n_without; ++s)
      if (std::popcount(subsets[s]) < size) subsets.push_back(subsets[s] | lowest);
  }
  return subsets;
}

}  // namespace

AugmentProblem::AugmentProblem(const Table& complete, std::span<const std::uint8_t> codes,
                               std::span<const std::uint32_t> weight, const ScoreRule& rule,
                               const ParentRules& rules, double max_bytes, const Stop& stop)
    : AugmentProblem(complete, codes, weight, rule, max_bytes) {
  if (list_families(rules, stop) && count_families(complete, stop)) list_items(codes, weight, stop);
}

AugmentProblem::AugmentProblem(const Table& complete, std::span<const std::uint8_t> codes,
                               std::span<const std::uint32_t> weight, const ScoreRule& rule,
                               const std::vector<std::vector<Var>>& parents, double max_bytes)
    : AugmentProblem(complete, codes, weight, rule, max_bytes) {
  for (Var v = 0; v < n_vars_; ++v) {
    first_family_.push_back(v);
    add_family(v, 0, parents[v]);
  }
  first_family_.push_back(n_vars_);
  count_families(complete, {});
  list_items(codes, weight, {});
}

// Numbers the missing cells and tells the scorer how many rows there are in all.
AugmentProblem::AugmentProblem(const Table& complete, std::span<const std::uint8_t> codes,
                               std::span<const std::uint32_t> weight, const ScoreRule& rule,
                               double max_bytes)
    : n_vars_(complete.n_vars),
      card_(complete.card.begin(), complete.card.end()),
      counter_(complete, {}),
      scorer_(counter_, rule),
      cell_at_(codes.size(), 0),
      support_(rule.support),
      max_bytes_(max_bytes) {
  scorer_.set_row_count(std::accumulate(weight.begin(), weight.end(), complete.n_rows));
  for (std::uint32_t p = 0; p < weight.size(); ++p) {
    for (Var v = 0; v < n_vars_; ++v) {
      if (codes[p * n_vars_ + v] != kMissing) continue;
      const auto number = static_cast<std::uint32_t>(cells_.size());
      cell_at_[p * n_vars_ + v] = number;
      pattern_cells_.push_back(number);
      cells_.push_back({.pattern = p, .variable = v, .card = card_[v], .weight = weight[p]});
    }
    first_pattern_cell_.push_back(pattern_cells_.size());
  }
}

void AugmentProblem::set_terms(std::span<const double> terms) {
  terms_.assign(terms.begin(), terms.end());
  if (terms_.empty()) return;
  term_width_ = terms_.size() / cells_.size();
  cells_of_variable_.assign(n_vars_, {});
  for (std::uint32_t cell = 0; cell < cells_.size(); ++cell)
    cells_of_variable_[cells_[cell].variable].push_back(cell);
}

double AugmentProblem::decided_terms(Var variable, const Completion& fixed) const {
  double total = 0.0;
  if (!has_terms()) return total;
  for (const auto cell : cells_of_variable_[variable])
    if (fixed[cell] != kFree) total += cells_[cell].weight * terms_of(cell)[fixed[cell]];
  return total;
}

void AugmentProblem::add_family(Var child, std::uint64_t mask, std::span<const Var> parents) {
  const std::uint32_t card = card_[child];
  const double n_cells = counter_.n_cells(parents) * card;
  bytes_ += 4.0 * n_cells + 64.0;
  if (bytes_ > max_bytes_ || n_cells > 1e9)
    throw std::length_error("the count tables of the families would need more than the " +
                            std::to_string(static_cast<std::uint64_t>(max_bytes_ / 1e6)) +
                            " MB that may be used for them");
  families_.push_back({.parents = mask,
                       .child = child,
                       .child_card = card,
                       .n_cells = static_cast<std::uint32_t>(n_cells),
                       .first_member = members_.size(),
                       .n_members = parents.size() + 1,
                       .penalty = scorer_.penalty(child, parents.size(), n_cells)});
  members_.insert(members_.end(), parents.begin(), parents.end());
  members_.push_back(child);
}

bool AugmentProblem::list_families(const ParentRules& rules, const Stop& stop) {
  for (Var c = 0; c < n_vars_; ++c) {
    if (stop.poll()) return false;
    first_family_.push_back(families_.size());
    std::uint64_t allowed = 0, required = 0;
    for (Var p = 0; p < n_vars_; ++p) {
      if (p != c && rules.allowed[c * n_vars_ + p]) allowed |= std::uint64_t{1} << p;
      if (rules.required[c * n_vars_ + p]) required |= std::uint64_t{1} << p;
    }
    const int n_more = static_cast<int>(rules.limit[c]) - std::popcount(required);
    for (const auto subset : subsets_up_to(allowed & ~required, n_more))
      add_family(c, subset | required, members_of(subset | required));
  }
  first_family_.push_back(families_.size());
  return true;
}

bool AugmentProblem::count_families(const Table& complete, const Stop& stop) {
  std::size_t n_counts = 0, n_unpolled = 0;
  for (auto& family : families_) {
    family.first_count = n_counts;
    n_counts += family.n_cells;
  }
  counts_.reserve(n_counts);
  for (auto& family : families_) {
    if ((&family - families_.data()) % kFamiliesPerPoll == 0 && stop.poll()) return false;
    // To fill the memory takes longer than to count.
    for (std::size_t left = family.n_cells; left > 0;) {
      const std::size_t n_now = std::min(left, kCellsPerPoll - n_unpolled);
      counts_.resize(counts_.size() + n_now);
      left -= n_now;
      n_unpolled = (n_unpolled + n_now) % kCellsPerPoll;
      if (n_unpolled == 0 && stop.poll()) return false;
    }
    const VariableSet set = members(family), given = set.first(set.size() - 1);
    family.given = &scorer_.cell_table(scorer_.parent_pseudo_count(given, family.child_card),
                                       counter_.n_cells(given), scratch_);
    family.joint =
        &scorer_.cell_table(scorer_.joint_pseudo_count(set), counter_.n_cells(set), scratch_);
    std::uint32_t* counts = counts_.data() + family.first_count;
    const VariableSet sets[] = {set};
    bool is_whole = false;
    counter_.count(sets, scratch_.counter, [&](std::size_t, std::span<const std::uint32_t> found) {
      is_whole = found.size() == family.n_cells;
      if (is_whole) std::copy(found.begin(), found.end(), counts);
    });
    if (is_whole) continue;
    for (std::size_t row = 0; row < complete.n_rows; ++row) {
      std::size_t cell = 0;
      for (const auto v : set) cell = cell * card_[v] + complete.column(v)[row];
      ++counts[cell];
    }
  }
  return true;
}

bool AugmentProblem::list_items(std::span<const std::uint8_t> codes,
                                std::span<const std::uint32_t> weight, const Stop& stop) {
  for (auto& family : families_) {
    if ((&family - families_.data()) % kFamiliesPerPoll == 0 && stop.poll()) return false;
    family.first_item = static_cast<std::uint32_t>(items_.size());
    const VariableSet set = members(family);
    std::vector<std::uint32_t> strides(set.size());
    std::uint32_t stride = 1;
    for (std::size_t t = set.size(); t-- > 0;) {
      strides[t] = stride;
      stride *= card_[set[t]];
    }
    for (std::size_t p = 0; p < weight.size(); ++p) {
      const std::uint8_t* row = codes.data() + p * n_vars_;
      Item item{.weight = weight[p],
                .offset = 0,
                .first_hole = static_cast<std::uint32_t>(holes_.size()),
                .n_holes = 0};
      for (std::size_t t = 0; t < set.size(); ++t) {
        const Var v = set[t];
        if (row[v] != kMissing) {
          item.offset += strides[t] * row[v];
          continue;
        }
        holes_.push_back({cell_at_[p * n_vars_ + v], strides[t]});
        ++item.n_holes;
      }
      if (item.n_holes == 0)
        counts_[family.first_count + item.offset] += item.weight;
      else
        items_.push_back(item);
    }
    family.n_items = static_cast<std::uint32_t>(items_.size()) - family.first_item;
  }
  return true;
}

void AugmentProblem::keep(std::span<const std::uint8_t> is_kept) {
  std::vector<Family> families;
  std::vector<std::uint32_t> counts;
  std::vector<Item> items;
  std::vector<Hole> holes;
  std::vector<std::size_t> first_family;
  for (std::size_t v = 0; v < n_vars_; ++v) {
    first_family.push_back(families.size());
    for (std::size_t f = first_family_[v]; f < first_family_[v + 1]; ++f) {
      if (is_kept[f] == 0) continue;
      Family family = families_[f];
      const auto own_counts = base_counts(family);
      family.first_count = counts.size();
      counts.insert(counts.end(), own_counts.begin(), own_counts.end());
      const auto own_items = this->items(family);
      family.first_item = static_cast<std::uint32_t>(items.size());
      for (Item item : own_items) {
        const auto own_holes = this->holes(item);
        item.first_hole = static_cast<std::uint32_t>(holes.size());
        holes.insert(holes.end(), own_holes.begin(), own_holes.end());
        items.push_back(item);
      }
      families.push_back(family);
    }
  }
  first_family.push_back(families.size());
  families_.swap(families);
  counts_.swap(counts);
  items_.swap(items);
  holes_.swap(holes);
  first_family_.swap(first_family);
}

double AugmentProblem::score_counts(const Family& family,
                                    std::span<const std::uint32_t> counts) const {
  double total = 0.0;
  std::uint32_t n_unsupported = 0;
  const auto base = base_counts(family);
  const std::uint32_t card = family.child_card;
  for (std::size_t j = 0; j < counts.size(); j += card) {
    std::uint32_t config = 0;
    for (std::uint32_t k = 0; k < card; ++k) {
      const std::uint32_t count = counts[j + k];
      if (count == 0) continue;
      config += count;
      total += (*family.joint)(count);
      n_unsupported += base[j + k] == 0 ? count : 0;
    }
    if (config != 0) total -= (*family.given)(config);
  }
  return total - family.penalty - support_ * n_unsupported;
}

double AugmentProblem::score(const Family& family, const Completion& completion,
                             std::vector<std::uint32_t>& counts) const {
  const auto base = base_counts(family);
  counts.assign(base.begin(), base.end());
  for (const auto& item : items(family)) counts[cell_of(item, completion)] += item.weight;
  return score_counts(family, counts) + decided_terms(family.child, completion);
}

}  // namespace bayesmend
