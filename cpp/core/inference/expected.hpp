#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/inference/holes.hpp"
#include "core/inference/joins.hpp"
#include "core/score/counts.hpp"

namespace bayesmend {

// Expected joint counts of any set of variables in a table with holes, under the distribution that
// a network gives to the holes. Exact: holes of a row that depend on each other are counted by
// their joint posterior.
class ExpectedCounts final : public CountSource {
 public:
  // Keeps a view of the holes and of the probabilities, which must outlive it. Of `max_bytes`, half
  // may go into the holes and posteriors that are kept, a quarter into what threads remember of
  // them, and a quarter into the table that is counted. Only with `has_support` is it known what is
  // expected in cells that no row shows whole.
  ExpectedCounts(const Holes& holes, std::span<const double> cpts, std::size_t n_threads,
                 double max_bytes, bool has_support, const Stop& stop);

  // What one thread needs while it counts.
  class Scratch;
  std::unique_ptr<CountSource::Scratch> make_scratch() const override;

  std::span<const double> count(VariableSet set, CountSource::Scratch& scratch) const override;
  double unsupported(VariableSet set, CountSource::Scratch& scratch) const override;
  double max_cells() const override { return static_cast<double>(max_cells_); }

  // The whole joint table, the last variable of `set` varying fastest.
  std::vector<double> table(VariableSet set, Scratch& scratch) const;

  const Holes& holes() const { return holes_; }

 private:
  static constexpr std::uint32_t kNoInstance = 0xffffffffu;
  // Where the posterior of an instance lies: the distribution of each position, and the joint one,
  // last position fastest, or, where that is too large, those of its cliques.
  struct Posterior {
    std::size_t first_marginal = 0;
    std::size_t first_entry = 0, n_entries = 0;
    std::size_t first_conditional = 0;  // of cliques only
    bool is_kept = true;                // or else computed when needed
  };
  // A hole among the variables of a set.
  struct Member {
    std::uint32_t instance;
    std::uint32_t position;
    std::size_t first_chance;  // where its distribution starts in marginals_
    std::size_t stride;        // in the table of the set
    std::size_t card;
    std::size_t part_stride = 0;     // in the distribution of its instance
    const double* chance = nullptr;  // that distribution, in the last member of an instance
  };

  // How many cells the table of a set has, with the strides of its variables in the scratch.
  std::size_t lay_out(VariableSet set, Scratch& scratch) const;
  // Adds up in scratch.totals.
  void fill(VariableSet set, std::size_t n_cells, Scratch& scratch) const;
  // Large tables are counted one at a time, whatever the number of threads.
  std::unique_lock<std::mutex> alone_with(std::size_t n_cells) const;
  static void give_back(std::size_t n_cells, Scratch& scratch);
  template <class WordOf, class Visit>
  void for_rows(WordOf&& word_of, Visit&& visit) const;
  void note_rows(VariableSet set, Scratch& scratch) const;
  void place_posteriors();
  void note_cells();
  void infer_instance(std::size_t number, Scratch& scratch);
  // How the posterior of a piece is computed: as one joint table, or by cliques.
  const Elimination& shape_of(std::size_t piece) const;
  // Puts the posteriors of an instance into scratch.beliefs.
  void calibrate(std::size_t number, Scratch& scratch) const;
  // Writes them out as distributions and, for cliques, as those of their own position given others.
  void write_tables(std::size_t number, const Beliefs& beliefs, std::span<double> joint,
                    std::span<double> conditional) const;
  // The same into the scratch, for an instance that is not kept.
  void recall(std::size_t number, Scratch& scratch) const;
  // Rows in which only this variable of the set is missing.
  void spread_single(Var v, std::size_t stride, Scratch& scratch) const;
  void spread_row(std::size_t row, VariableSet set, std::span<const std::size_t> strides,
                  Scratch& scratch) const;
  // Spreads a weight over the states of the members, from `cell` on.
  void expand(std::span<const Member> members, std::size_t cell, double weight, std::size_t index,
              std::span<double> totals) const;
  // Joint distribution of members of one instance, the first varying fastest.
  const double* share(std::span<const Member> members, Scratch& scratch) const;
  std::vector<double> marginalise(std::size_t number, Scratch& scratch) const;

  const Holes& holes_;
  std::span<const double> cpts_;
  std::vector<Posterior> posteriors_;
  std::vector<double> marginals_;
  std::vector<double> beliefs_, conditionals_;  // joint ones, or of cliques
  // By piece and position: where its distribution starts among those of the piece.
  std::vector<std::vector<std::size_t>> first_marginal_;
  std::vector<std::uint32_t> instance_of_;  // per cell of the table
  std::vector<std::uint16_t> position_of_;
  std::vector<std::size_t> chance_of_;  // where the distribution of the cell starts
  std::vector<std::unique_ptr<Elimination>> joint_shape_;  // per piece
  bool has_support_;
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> missing_;     // bit sets of rows, per variable
  std::size_t max_kept_, max_remembered_;  // numbers; the latter twice per thread
  std::size_t max_cells_;
  mutable std::mutex large_;
};

class ExpectedCounts::Scratch final : public CountSource::Scratch, private InstanceBeliefs {
 private:
  friend class ExpectedCounts;
  std::vector<double> totals;  // all zero between calls
  std::vector<double> occupied;
  std::vector<std::uint8_t> is_shown;  // cells that a row shows whole
  // Of the sets counted last. A family is counted, then its parents, and then what it lacks is
  // asked for: two are enough to have it at hand.
  struct Lack {
    std::vector<Var> set;
    double unsupported = 0.0;
  };
  Lack lacks[2];
  std::size_t next_lack = 0;
  std::vector<std::size_t> strides;
  std::vector<std::uint32_t> keys;
  std::vector<std::uint64_t> once,
      twice;  // rows with one hole or more in the set, with two or more
  std::vector<Member> members;
  std::vector<std::uint32_t> positions;
  std::vector<std::vector<double>> parts;  // distributions that are too long for `shares`
  std::unordered_map<std::uint64_t, std::vector<double>> shares;
  std::size_t n_shared = 0;  // numbers in them
  std::vector<std::size_t> strides_of_part;
  Joiner joiner;
  std::size_t recalled = static_cast<std::size_t>(-1);  // the instance in these two
  std::vector<double> table, conditional;
};

}  // namespace bayesmend
