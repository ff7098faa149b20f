#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/base/variable.hpp"
#include "core/score/shown.hpp"
#include "core/table/table.hpp"

namespace bayesmend {

// How many entries one table may have of which nobody may use more than so many bytes: a quarter
// is for it, eight for an entry of what is counted, what of it occurs, and both for the parents.
inline double entries_within(double max_bytes) {
  return std::clamp(max_bytes / 4.0 / 32.0, 0x1.0p16, 0x1.0p26);
}

// Variables in ascending order.
using VariableSet = std::span<const Var>;

// Joint counts that are computed elsewhere, as those expected of a table with missing cells are.
class CountSource {
 public:
  // What one thread needs while it counts.
  struct Scratch {
    virtual ~Scratch() = default;
  };

  virtual ~CountSource() = default;
  virtual std::unique_ptr<Scratch> make_scratch() const = 0;
  // Counts of the cells of the joint table of `set` that are not zero.
  virtual std::span<const double> count(VariableSet set, Scratch& scratch) const = 0;
  // Tables of more cells are not counted: there is no room for them.
  virtual double max_cells() const { return std::numeric_limits<double>::infinity(); }
  // Count of the cells of the joint table of which no row that shows the whole set, given in any
  // order, is an example.
  virtual double unsupported(VariableSet /*set*/, Scratch& /*scratch*/) const { return 0.0; }
};

// Counts the joint configurations of sets of variables in a complete table.
//
// Sets that follow each other share the work on their common first variables, so a batch
// should come in lexicographic order. Two ways of counting give the same table: bit sets
// with population counts where configurations are few, one pass over the rows elsewhere.
class JointCounter {
 public:
  // Keeps views of the table and the weights, which must outlive it. Empty weights: one a row.
  // `was_missing` marks, variable by variable, the cells that were missing before the table was
  // completed; empty where none was. Counters of completions of one table may share `shown`.
  JointCounter(const Table& table, std::span<const double> weights,
               std::span<const std::uint8_t> was_missing = {},
               std::shared_ptr<ShownCells> shown = nullptr);
  // Takes the counts of a table with this total weight from a source, which must outlive it.
  JointCounter(const Table& table, double total, const CountSource& source)
      : table_(table), source_(&source), total_(total) {}

  // What one thread needs while it counts.
  class Scratch;

  // Calls visit(index, counts) for each set; `counts` lists the cells with the last variable
  // varying fastest, or only the occupied cells where the table is much larger than the data.
  template <class Visit>
  void count(std::span<const VariableSet> sets, Scratch& scratch, Visit&& visit) const;

  // The same with real weights: every call of visit has one total per occupied cell.
  template <class Visit>
  void count_weighted(std::span<const VariableSet> sets, Scratch& scratch, Visit&& visit) const;

  // Total weight of the cells of the joint table of `set`, given in any order, of which no row that
  // showed the whole set before the table was completed is an example.
  double unsupported(VariableSet set, Scratch& scratch) const;
  // The same where the counts of all cells are known, the last variable varying fastest.
  double unsupported(VariableSet set, std::span<const std::uint32_t> counts,
                     Scratch& scratch) const;
  // Whether unsupported() can be other than zero.
  bool was_incomplete() const { return !missing_bits_.empty() || source_ != nullptr; }

  const Table& table() const { return table_; }
  // Whether counts are those expected of a table with missing cells.
  bool is_expected() const { return source_ != nullptr; }
  // Whether counts are real numbers.
  bool is_weighted() const { return !weights_.empty() || source_ != nullptr; }
  double total() const { return total_; }
  // Product of the numbers of states; a double, since it may exceed any integer type.
  double n_cells(VariableSet set) const;
  // Whether there is room for the table of a variable given others. Searches pass by families for
  // which there is none. Large families are counted by what occurs, so that there always is, unless
  // it is said that they are passed by.
  bool has_room(VariableSet parents, Var child) const {
    return n_cells(parents) * table_.card[child] <= most_entries();
  }
  double most_entries() const { return source_ == nullptr ? most_entries_ : source_->max_cells(); }
  void limit_tables(double max_bytes, bool passes_by_larger) {
    most_dense_ = entries_within(max_bytes);
    if (passes_by_larger) most_entries_ = most_dense_;
  }

 private:
  static constexpr std::size_t kBlockWords = 512;       // 4 KiB a bit set: many fit in cache
  static constexpr std::size_t kChunkCells = 1u << 17;  // counts kept while blocks pass by
  static constexpr std::uint32_t kMaxBitStates = 16;

  template <class T>
  struct Sums {
    std::vector<T> cells;  // all zero between calls
    std::vector<T> occupied;
    std::vector<std::pair<std::uint64_t, T>> keys;
  };

  bool suits_bits(VariableSet set) const;
  const std::uint64_t* state_bits(Var variable, std::uint32_t state, std::size_t first_word) const;
  void count_chunk_by_bits(std::span<const VariableSet> sets, std::span<const std::size_t> starts,
                           Scratch& scratch) const;
  void extend_bits(Var variable, std::size_t first_word, std::size_t n_words,
                   Scratch& scratch) const;
  void count_leaf_by_bits(Var variable, std::size_t first_word, std::size_t n_words,
                          Scratch& scratch, std::uint32_t* counts) const;
  // Cells of which a table may have one number each, those that do not occur among them.
  std::size_t most_dense() const;
  // Row ids of the configurations of all but the last variable; returns how many there may be.
  std::size_t prefix_ids(VariableSet prefix, Scratch& scratch) const;
  // Adds up weight(row) over the rows of each cell: for all cells of small tables of integers, else
  // for those that occur.
  template <class T, class Weight>
  std::span<const T> add_up_rows(VariableSet set, Scratch& scratch, Sums<T>& sums,
                                 Weight&& weight) const;
  std::span<const std::uint32_t> count_by_rows(VariableSet set, Scratch& scratch) const;
  std::span<const double> weigh_by_rows(VariableSet set, Scratch& scratch) const;
  ShownCells::Bits find_shown(VariableSet set, std::span<const std::uint32_t> counts,
                              Scratch& scratch) const;
  double weight(std::size_t row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  // Fills scratch.incomplete with the rows that lacked a variable of the set; false when none did.
  bool find_incomplete(VariableSet set, Scratch& scratch) const;
  // Calls visit(row) for the rows of scratch.incomplete, or for all others, until it returns false.
  template <class Visit>
  void for_rows(const Scratch& scratch, bool is_incomplete, Visit&& visit) const;
  template <class CellOf>
  void keep_without_example(Scratch& scratch, std::vector<double>& open, CellOf&& cell_of) const;
  // The weight of incomplete rows in cells that hold no other row; at most `n_cells` of them.
  template <class CellOf>
  double weigh_without_example(Scratch& scratch, std::size_t n_cells, CellOf&& cell_of) const;
  template <class CellOf>
  double weigh_among_many(Scratch& scratch, std::size_t n_cells, CellOf&& cell_of) const;

  Table table_;
  std::span<const double> weights_;
  const CountSource* source_ = nullptr;
  double total_ = 0.0;
  double most_entries_ = std::numeric_limits<double>::infinity();
  double most_dense_ = std::numeric_limits<double>::infinity();
  std::size_t n_words_ = 0;
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> first_bits_;      // per variable; npos where it has no bit sets
  std::vector<std::uint64_t> missing_bits_;  // per variable, the rows that lacked it
  std::shared_ptr<ShownCells> shown_;
};

class JointCounter::Scratch {
 public:
  // Non-empty configurations of a prefix within one block of rows.
  struct Level {
    Var variable = 0;
    std::vector<std::uint32_t> config;
    std::vector<std::uint32_t> count;
    std::vector<std::uint64_t> bits;
  };
  std::vector<Level> levels;
  std::size_t depth = 0;
  std::vector<std::uint32_t> chunk_counts;

  std::vector<Var> prefix;  // whose ids are in `ids`
  bool has_prefix = false;
  std::size_t n_prefix_ids = 0;
  std::vector<std::uint32_t> ids;
  std::vector<std::uint32_t> relabel;
  Sums<std::uint32_t> counts;
  Sums<double> totals;
  std::vector<std::uint64_t> incomplete;  // rows that lacked a variable of the set at hand
  std::vector<double> open;               // their weight in cells without an example so far
  std::vector<double> reached;            // the same of cells that are too many to be listed
  std::vector<std::uint32_t> shown;       // the other rows of each cell
  std::unique_ptr<CountSource::Scratch> source;
};

template <class Visit>
void JointCounter::count(std::span<const VariableSet> sets, Scratch& scratch, Visit&& visit) const {
  std::vector<VariableSet> chunk;
  std::vector<std::size_t> chunk_index, starts;
  std::size_t chunk_cells = 0;
  auto flush = [&] {
    if (chunk.empty()) return;
    starts.push_back(chunk_cells);
    count_chunk_by_bits(chunk, starts, scratch);
    for (std::size_t c = 0; c < chunk.size(); ++c)
      visit(chunk_index[c], std::span<const std::uint32_t>(scratch.chunk_counts)
                                .subspan(starts[c], starts[c + 1] - starts[c]));
    chunk.clear();
    chunk_index.clear();
    starts.clear();
    chunk_cells = 0;
  };
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (!suits_bits(sets[s])) {
      visit(s, count_by_rows(sets[s], scratch));
      continue;
    }
    const auto cells = static_cast<std::size_t>(n_cells(sets[s]));
    if (chunk_cells + cells > kChunkCells) flush();
    chunk.push_back(sets[s]);
    chunk_index.push_back(s);
    starts.push_back(chunk_cells);
    chunk_cells += cells;
  }
  flush();
}

template <class Visit>
void JointCounter::count_weighted(std::span<const VariableSet> sets, Scratch& scratch,
                                  Visit&& visit) const {
  for (std::size_t s = 0; s < sets.size(); ++s) visit(s, weigh_by_rows(sets[s], scratch));
}

}  // namespace bayesmend
