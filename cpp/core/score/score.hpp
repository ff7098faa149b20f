#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/score/counts.hpp"
#include "core/score/prior.hpp"
#include "core/score/regret.hpp"

namespace bayesmend {

enum class ScoreKind : std::uint8_t { bdeu, bds, k2, bic, aic, qnml, loglik };

struct ScoreRule {
  ScoreKind kind = ScoreKind::bdeu;
  double ess = 1.0;          // equivalent sample size, BDeu and BDs only
  double arc_penalty = 0.0;  // taken off for each parent
  // Taken off for each row in a cell of the joint table of child and parents of which no row that
  // shows all of them gives an example.
  double support = 0.0;
  std::vector<ParentChoices> choices = {};  // per variable, for the fair prior; empty: no prior
};

// f(N) = log Gamma(N + a) - log Gamma(a), tabulated per pseudo-count a up to a bound that
// almost no cell exceeds; or N log N for the scores built on the likelihood.
class CellTable {
 public:
  CellTable(double pseudo_count, std::size_t n_entries);  // Dirichlet
  explicit CellTable(std::size_t n_entries);              // N log N
  double operator()(std::uint32_t count) const {
    return count < values_.size() ? values_[count] : (*this)(static_cast<double>(count));
  }
  double operator()(double count) const;

 private:
  double pseudo_count_ = 0.0;  // 0: N log N
  double at_zero_ = 0.0;       // log Gamma(a), or of a large one what Stirling's series adds
  std::vector<double> values_;
};

// Every score here is value(parents + child) - value(parents) and a penalty, where the value of
// a set of variables is a sum over the cells of its joint table: one table serves each of its
// variables as the child, and as the parents of every other.
class FamilyScorer {
 public:
  FamilyScorer(const JointCounter& counter, const ScoreRule& rule);

  class Scratch {
   public:
    JointCounter::Scratch counter;

   private:
    friend class FamilyScorer;
    std::unordered_map<double, const CellTable*> tables;
    std::vector<Var> set;
    std::vector<std::uint32_t> margin;
  };

  // Pseudo-count of a cell of the joint table of child and parents; not of BDs.
  double joint_pseudo_count(VariableSet set) const;
  // Pseudo-count of a parent configuration, for a child with `child_card` states; not of BDs.
  double parent_pseudo_count(VariableSet parents, std::uint32_t child_card) const;
  // Of BDs pseudo-counts depend on the data: how many parent configurations occur.
  bool is_sparse() const { return rule_.kind == ScoreKind::bds; }
  // Pseudo-count of a parent configuration under BDs; a cell of it has its share of that.
  double sparse_pseudo_count(std::size_t n_occurring) const {
    return rule_.ess / static_cast<double>(n_occurring > 0 ? n_occurring : 1);
  }
  // How many of these cells occur: hold a row, or half an expected one.
  template <class Count>
  std::size_t n_occurring(std::span<const Count> counts) const {
    const double least = counter_.is_expected() ? 0.5 : 0.0;
    std::size_t n = 0;
    for (const auto count : counts) n += count > least;
    return n;
  }

  // Calls visit(s, counts) for each set, with counts of rows or, for weighted data, totals.
  template <class Visit>
  void visit_counts(std::span<const VariableSet> sets, Scratch& scratch, Visit&& visit) const {
    if (counter_.is_weighted())
      counter_.count_weighted(sets, scratch.counter, visit);
    else
      counter_.count(sets, scratch.counter, visit);
  }
  // Sum over the cells of a joint table of `n_cells` cells.
  double value(std::span<const std::uint32_t> counts, double pseudo_count, double n_cells,
               Scratch& scratch) const;
  double value(std::span<const double> totals, double pseudo_count, double n_cells,
               Scratch& scratch) const;
  // Score of one family, minus infinity where there is no room for its table; consecutive calls are
  // fastest when their first parents agree.
  double family(Var child, VariableSet parents, Scratch& scratch) const;
  // No superset with at most `max_parents` members of a set of `n_parents` parents scores above
  // this, where these show `n_occupied` of their `n_cells` configurations in the data; infinity
  // where no such bound is known.
  double superset_bound(Var child, std::size_t n_parents, std::size_t max_parents, double n_cells,
                        std::size_t n_occupied) const;
  // values[s] = the value of sets[s] under pseudo_counts[s], and costs[s] = what a family of all of
  // its variables pays for rows without an example. Best in lexicographic order.
  void set_values(std::span<const VariableSet> sets, std::span<const double> pseudo_counts,
                  Scratch& scratch, std::span<double> values, std::span<double> costs) const;
  // What a family with `n_parents` parents pays, given the cells of its joint table.
  double penalty(Var child, std::size_t n_parents, double n_joint_cells) const {
    return complexity(child, n_joint_cells) + rule_.arc_penalty * static_cast<double>(n_parents) +
           prior_.cost(child, n_parents);
  }
  // What a family pays for rows in cells without an example; `set` holds child and parents in any
  // order, `counts` what a visit gave for it. Counts of weighted tables, which the scratch lends to
  // the visit, must not be used after this.
  double unsupported_cost(VariableSet set, std::span<const std::uint32_t> counts,
                          Scratch& scratch) const {
    if (rule_.support == 0.0 || !counter_.was_incomplete()) return 0.0;
    const bool is_whole = static_cast<double>(counts.size()) == counter_.n_cells(set);
    return rule_.support * (is_whole ? counter_.unsupported(set, counts, scratch.counter)
                                     : counter_.unsupported(set, scratch.counter));
  }
  double unsupported_cost(VariableSet set, std::span<const double> /*totals*/,
                          Scratch& scratch) const {
    if (rule_.support == 0.0 || !counter_.was_incomplete()) return 0.0;
    return rule_.support * counter_.unsupported(set, scratch.counter);
  }

  // The table of f for this pseudo-count; it lives as long as the scorer.
  const CellTable& cell_table(double pseudo_count, double n_cells, Scratch& scratch) const;
  // Rows that the scores are about, where they are more than the rows counted.
  void set_row_count(std::size_t n_rows);

  const ScoreRule& rule() const { return rule_; }
  const JointCounter& counter() const { return counter_; }

 private:
  // What a score takes off a likelihood for the size of its joint table.
  double complexity(Var child, double n_joint_cells) const;
  // The family under BDs, whose tables cannot be shared with other families.
  double sparse_family(Var child, VariableSet parents, Scratch& scratch) const;
  // Rows, or what they weigh together.
  double total() const {
    return counter_.is_weighted() ? counter_.total() : static_cast<double>(n_rows_);
  }

  const JointCounter& counter_;
  ScoreRule rule_;
  FairPrior prior_;
  double least_growth_;  // by which a further parent multiplies the cells
  std::size_t n_rows_;
  std::optional<Regret> regret_;  // of qNML
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<double, std::unique_ptr<CellTable>> tables_;
};

// Families in compressed rows: the parents of family f are
// parents[first_parent[f] .. first_parent[f + 1]), in any order.
struct FamilyBatch {
  std::span<const Var> child;
  std::span<const std::uint64_t> first_parent;
  std::span<const Var> parents;
};

// One score per family; empty when `stop` ended the work.
std::vector<double> score_families(const FamilyScorer& scorer, const FamilyBatch& families,
                                   std::size_t n_threads, const Stop& stop);

// counts[j * card + k]: rows with parent configuration j (first parent fastest) and child state k.
std::vector<double> family_counts(const Table& table, std::span<const double> weights, Var child,
                                  std::span<const Var> parents);

}  // namespace bayesmend
