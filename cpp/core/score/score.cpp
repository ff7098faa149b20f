#include "core/score/score.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>

#include "core/base/loggamma.hpp"
#include "core/score/setindex.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kSetsPerTask = 256;
constexpr std::size_t kMaxTableEntries = 65536;
// Of the tables of BDs, which are many: one per number of parent configurations that occur.
constexpr std::size_t kSparseTableEntries = 256;
constexpr std::size_t kFamiliesPerTask = 64;

// Four running sums, so that one addition need not wait for the last.
template <class Count>
double sum_over_cells(const CellTable& table, std::span<const Count> counts) {
  double sums[4] = {0.0, 0.0, 0.0, 0.0};
  std::size_t c = 0;
  for (; c + 4 <= counts.size(); c += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += table(counts[c + lane]);
  for (; c < counts.size(); ++c) sums[c % 4] += table(counts[c]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

CellTable::CellTable(double pseudo_count, std::size_t n_entries)
    : pseudo_count_(pseudo_count),
      at_zero_(pseudo_count < kStirlingFrom ? log_gamma(pseudo_count)
                                            : stirling_series(pseudo_count)) {
  values_.resize(n_entries);
  for (std::size_t n = 1; n < n_entries; ++n) values_[n] = (*this)(static_cast<double>(n));
}

CellTable::CellTable(std::size_t n_entries) : values_(n_entries) {
  for (std::size_t n = 1; n < n_entries; ++n) values_[n] = (*this)(static_cast<double>(n));
}

double CellTable::operator()(double count) const {
  if (count == 0.0) return 0.0;
  if (pseudo_count_ == 0.0) return count * std::log(count);
  const double total = count + pseudo_count_;
  if (pseudo_count_ < kStirlingFrom) return log_gamma(total) - at_zero_;
  // The difference of two large values of Stirling's formula, taken term by term.
  return (pseudo_count_ - 0.5) * std::log1p(count / pseudo_count_) + count * (std::log(total) - 1) +
         (stirling_series(total) - at_zero_);
}

FamilyScorer::FamilyScorer(const JointCounter& counter, const ScoreRule& rule)
    : counter_(counter), rule_(rule), prior_(rule.choices) {
  // A parent of one state adds no cells. By the likelihood alone it is no better than none, but
  // more parents may be likelier beforehand.
  const auto& card = counter.table().card;
  const bool has_constant = std::ranges::find(card, 1u) != card.end();
  least_growth_ = has_constant && !rule.choices.empty() ? 1.0 : 2.0;
  set_row_count(counter.table().n_rows);
}

void FamilyScorer::set_row_count(std::size_t n_rows) {
  n_rows_ = n_rows;
  if (rule_.kind == ScoreKind::qnml) regret_.emplace(total());
}

double FamilyScorer::joint_pseudo_count(VariableSet set) const {
  if (rule_.kind == ScoreKind::bdeu) return rule_.ess / counter_.n_cells(set);
  return rule_.kind == ScoreKind::k2 ? 1.0 : 0.0;
}

double FamilyScorer::parent_pseudo_count(VariableSet parents, std::uint32_t child_card) const {
  if (rule_.kind == ScoreKind::bdeu) return rule_.ess / counter_.n_cells(parents);
  return rule_.kind == ScoreKind::k2 ? static_cast<double>(child_card) : 0.0;
}

double FamilyScorer::complexity(Var child, double n_joint_cells) const {
  const std::uint32_t card = counter_.table().card[child];
  const double free_parameters = n_joint_cells / card * (card - 1);
  if (rule_.kind == ScoreKind::bic && total() > 0.0)
    return 0.5 * std::log(total()) * free_parameters;
  if (rule_.kind == ScoreKind::aic) return free_parameters;
  return regret_ ? regret_->added(n_joint_cells, card) : 0.0;
}

const CellTable& FamilyScorer::cell_table(double pseudo_count, double n_cells,
                                          Scratch& scratch) const {
  if (const auto known = scratch.tables.find(pseudo_count); known != scratch.tables.end())
    return *known->second;
  const CellTable* found = nullptr;
  {
    const std::shared_lock lock(mutex_);
    if (const auto known = tables_.find(pseudo_count); known != tables_.end())
      found = known->second.get();
  }
  if (found == nullptr) {
    // Cells of a large table hold few rows each: its lookups rarely pass a short bound.
    const double n_rows = static_cast<double>(n_rows_);
    const double bound =
        counter_.is_weighted() ? 0.0 : std::min(n_rows, 1024 + 32 * n_rows / n_cells);
    const auto n_entries = std::min(is_sparse() ? kSparseTableEntries : kMaxTableEntries,
                                    static_cast<std::size_t>(bound) + 1);
    auto made = pseudo_count == 0.0 ? std::make_unique<CellTable>(n_entries)
                                    : std::make_unique<CellTable>(pseudo_count, n_entries);
    const std::unique_lock lock(mutex_);
    found = tables_.try_emplace(pseudo_count, std::move(made)).first->second.get();
  }
  scratch.tables.emplace(pseudo_count, found);
  return *found;
}

void FamilyScorer::set_values(std::span<const VariableSet> sets,
                              std::span<const double> pseudo_counts, Scratch& scratch,
                              std::span<double> values, std::span<double> costs) const {
  visit_counts(sets, scratch, [&](std::size_t s, auto counts) {
    values[s] = value(counts, pseudo_counts[s], counter_.n_cells(sets[s]), scratch);
    costs[s] = unsupported_cost(sets[s], counts, scratch);
  });
}

double FamilyScorer::value(std::span<const std::uint32_t> counts, double pseudo_count,
                           double n_cells, Scratch& scratch) const {
  return sum_over_cells(cell_table(pseudo_count, n_cells, scratch), counts);
}

double FamilyScorer::value(std::span<const double> totals, double pseudo_count, double n_cells,
                           Scratch& scratch) const {
  return sum_over_cells(cell_table(pseudo_count, n_cells, scratch), totals);
}

double FamilyScorer::family(Var child, VariableSet parents, Scratch& scratch) const {
  if (counter_.is_expected() && !counter_.has_room(parents, child))
    return -std::numeric_limits<double>::infinity();
  if (is_sparse()) return sparse_family(child, parents, scratch);
  const auto card = counter_.table().card[child];
  auto& set = scratch.set;
  set.assign(parents.begin(), parents.end());
  set.push_back(child);
  const double n_cells = counter_.n_cells(set);
  const double parent_pseudo = parent_pseudo_count(parents, card);
  double joint = 0.0, given = 0.0, cost = 0.0;
  bool has_given = false;
  const VariableSet joint_set[] = {set};
  visit_counts(joint_set, scratch, [&](std::size_t, auto counts) {
    joint = value(counts, joint_pseudo_count(set), n_cells, scratch);
    cost = unsupported_cost(set, counts, scratch);
    if (static_cast<double>(counts.size()) != n_cells || counter_.is_weighted()) return;
    // The whole table is here: its margin over the child is the table of the parents.
    std::vector<std::uint32_t>& margin = scratch.margin;
    margin.assign(counts.size() / card, 0);
    for (std::size_t j = 0, c = 0; j < margin.size(); ++j)
      for (std::uint32_t k = 0; k < card; ++k) margin[j] += static_cast<std::uint32_t>(counts[c++]);
    given = value(std::span<const std::uint32_t>(margin), parent_pseudo, n_cells / card, scratch);
    has_given = true;
  });
  if (!has_given) {
    const VariableSet parent_set[] = {parents};
    visit_counts(parent_set, scratch, [&](std::size_t, auto counts) {
      given = value(counts, parent_pseudo, n_cells / card, scratch);
    });
  }
  return joint - given - penalty(child, parents.size(), n_cells) - cost;
}

double FamilyScorer::sparse_family(Var child, VariableSet parents, Scratch& scratch) const {
  const auto card = counter_.table().card[child];
  auto& set = scratch.set;
  set.assign(parents.begin(), parents.end());
  set.push_back(child);
  const double n_cells = counter_.n_cells(set);
  double joint = 0.0, given = 0.0, cost = 0.0, pseudo_count = 0.0;
  const VariableSet parent_set[] = {parents}, joint_set[] = {set};
  visit_counts(parent_set, scratch, [&](std::size_t, auto counts) {
    pseudo_count = sparse_pseudo_count(n_occurring(counts));
    given = value(counts, pseudo_count, n_cells / card, scratch);
  });
  visit_counts(joint_set, scratch, [&](std::size_t, auto counts) {
    joint = value(counts, pseudo_count / card, n_cells, scratch);
    cost = unsupported_cost(set, counts, scratch);
  });
  return joint - given - penalty(child, parents.size(), n_cells) - cost;
}

double FamilyScorer::superset_bound(Var child, std::size_t n_parents, std::size_t max_parents,
                                    double n_cells, std::size_t n_occupied) const {
  if (rule_.arc_penalty < 0.0) return std::numeric_limits<double>::infinity();
  const std::uint32_t card = counter_.table().card[child];
  const double structure = rule_.arc_penalty * static_cast<double>(n_parents + 1) +
                           prior_.least_cost(child, n_parents + 1, max_parents);
  switch (rule_.kind) {
    case ScoreKind::bdeu:
    case ScoreKind::bds:
    case ScoreKind::k2:
      // The first row of each parent configuration is predicted with probability 1 / card, every
      // later one with at most 1, and more parents only split the configurations further.
      if (counter_.is_weighted()) break;
      return -static_cast<double>(n_occupied) * std::log(card) - structure;
    case ScoreKind::bic:
    case ScoreKind::aic:
    case ScoreKind::qnml:
      // The likelihood is at most 1, and one more parent multiplies the cells: of qNML, the
      // regret of the child's states never falls with the number of parent configurations.
      return -complexity(child, least_growth_ * n_cells * card) - structure;
    case ScoreKind::loglik:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

namespace {

// Where no two families share a table.
std::vector<double> score_one_by_one(const FamilyScorer& scorer, const FamilyBatch& families,
                                     std::size_t n_threads, const Stop& stop) {
  const std::size_t n_families = families.child.size();
  const std::size_t n_tasks = (n_families + kFamiliesPerTask - 1) / kFamiliesPerTask;
  std::vector<FamilyScorer::Scratch> scratch(
      std::min(resolve_threads(n_threads), std::max<std::size_t>(n_tasks, 1)));
  std::vector<double> scores(n_families);
  const bool finished =
      parallel_for(n_tasks, scratch.size(), stop, [&](std::size_t task, std::size_t thread) {
        std::vector<Var> parents;
        const std::size_t begin = task * kFamiliesPerTask;
        const std::size_t end = std::min(n_families, begin + kFamiliesPerTask);
        for (std::size_t f = begin; f < end; ++f) {
          parents.assign(families.parents.begin() + families.first_parent[f],
                         families.parents.begin() + families.first_parent[f + 1]);
          std::ranges::sort(parents);
          scores[f] = scorer.family(families.child[f], parents, scratch[thread]);
        }
      });
  return finished ? scores : std::vector<double>{};
}

}  // namespace

std::vector<double> score_families(const FamilyScorer& scorer, const FamilyBatch& families,
                                   std::size_t n_threads, const Stop& stop) {
  const Table& table = scorer.counter().table();
  const std::size_t n_families = families.child.size();
  SetIndex index(n_families);
  std::vector<std::uint32_t> joint_of(n_families), parents_of(n_families);
  std::vector<Var> parents, joint;
  // Only K2 weighs a parent configuration by the child's states; tag 0 is the joint table.
  const bool child_matters = scorer.rule().kind == ScoreKind::k2;
  for (std::size_t f = 0; f < n_families; ++f) {
    const Var child = families.child[f];
    parents.assign(families.parents.begin() + families.first_parent[f],
                   families.parents.begin() + families.first_parent[f + 1]);
    std::ranges::sort(parents);
    joint = parents;
    joint.insert(std::ranges::upper_bound(joint, child), child);
    if (std::ranges::adjacent_find(joint) != joint.end())
      throw std::invalid_argument("family " + std::to_string(f) + " names a variable twice.");
    joint_of[f] = static_cast<std::uint32_t>(index.insert(joint, 0));
    const std::uint32_t tag = child_matters ? table.card[child] : 0;
    parents_of[f] = static_cast<std::uint32_t>(index.insert(parents, tag));
  }
  if (scorer.is_sparse()) return score_one_by_one(scorer, families, n_threads, stop);
  const auto order = index.sorted();
  std::vector<double> values(index.size()), costs(index.size(), 0.0);
  const std::size_t n_tasks = (order.size() + kSetsPerTask - 1) / kSetsPerTask;
  std::vector<FamilyScorer::Scratch> scratch(
      std::min(resolve_threads(n_threads), std::max<std::size_t>(n_tasks, 1)));
  const bool finished =
      parallel_for(n_tasks, scratch.size(), stop, [&](std::size_t task, std::size_t thread) {
        const std::size_t begin = task * kSetsPerTask;
        const std::size_t end = std::min(order.size(), begin + kSetsPerTask);
        std::vector<VariableSet> sets;
        std::vector<double> pseudo_counts, found(end - begin), paid(end - begin);
        for (std::size_t p = begin; p < end; ++p) {
          sets.push_back(index.set(order[p]));
          const auto tag = index.tag(order[p]);
          pseudo_counts.push_back(tag == 0 ? scorer.joint_pseudo_count(sets.back())
                                           : scorer.parent_pseudo_count(sets.back(), tag));
        }
        scorer.set_values(sets, pseudo_counts, scratch[thread], found, paid);
        for (std::size_t p = begin; p < end; ++p) {
          values[order[p]] = found[p - begin];
          costs[order[p]] = paid[p - begin];
        }
      });
  if (!finished) return {};
  std::vector<double> scores(n_families);
  for (std::size_t f = 0; f < n_families; ++f) {
    const auto set = index.set(joint_of[f]);
    scores[f] = values[joint_of[f]] - values[parents_of[f]] -
                scorer.penalty(families.child[f], set.size() - 1, scorer.counter().n_cells(set)) -
                costs[joint_of[f]];
  }
  return scores;
}

std::vector<double> family_counts(const Table& table, std::span<const double> weights, Var child,
                                  std::span<const Var> parents) {
  const std::size_t card = table.card[child];
  std::size_t n_configs = 1;
  for (const auto parent : parents) n_configs *= table.card[parent];
  std::vector<double> counts(n_configs * card, 0.0);
  const auto child_column = table.column(child);
  for (std::size_t row = 0; row < table.n_rows; ++row) {
    std::size_t config = 0, stride = 1;
    for (const auto parent : parents) {
      config += stride * table.column(parent)[row];
      stride *= table.card[parent];
    }
    counts[config * card + child_column[row]] += weights.empty() ? 1.0 : weights[row];
  }
  return counts;
}

}  // namespace bayesmend
