#include "core/score/counts.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/base/bits.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kNoBits = std::numeric_limits<std::size_t>::max();
// Larger tables are counted by sorting their keys.
constexpr std::size_t kMaxTableCells = std::size_t{1} << 24;
// Smaller tables are always listed whole, so that a sum over cells does not depend on the way
// of counting, hence not on the processor.
constexpr std::size_t kAlwaysDense = 512;

}  // namespace

JointCounter::JointCounter(const Table& table, std::span<const double> weights,
                           std::span<const std::uint8_t> was_missing,
                           std::shared_ptr<ShownCells> shown)
    : table_(table),
      weights_(weights),
      n_words_((table.n_rows + 63) / 64),
      shown_(shown ? std::move(shown) : std::make_shared<ShownCells>()) {
  if (!was_missing.empty()) missing_bits_.assign(table.n_vars * n_words_, 0);
  for (std::size_t cell = 0; cell < was_missing.size(); ++cell)
    if (const std::size_t row = cell % table.n_rows; was_missing[cell] != 0)
      missing_bits_[cell / table.n_rows * n_words_ + row / 64] |= std::uint64_t{1} << (row % 64);
  total_ = static_cast<double>(table.n_rows);
  if (is_weighted()) {
    total_ = 0.0;
    for (const double weight : weights_) total_ += weight;
  }
  first_bits_.assign(table.n_vars, kNoBits);
  if (is_weighted()) return;
  std::size_t size = 0;
  for (std::size_t v = 0; v < table.n_vars; ++v) {
    if (table.card[v] > kMaxBitStates) continue;
    first_bits_[v] = size;
    size += table.card[v] * n_words_;
  }
  bits_.assign(size, 0);
  for (std::size_t v = 0; v < table.n_vars; ++v) {
    if (first_bits_[v] == kNoBits) continue;
    std::uint64_t* bits = bits_.data() + first_bits_[v];
    const auto column = table.column(v);
    for (std::size_t row = 0; row < column.size(); ++row)
      bits[column[row] * n_words_ + row / 64] |= std::uint64_t{1} << (row % 64);
  }
}

double JointCounter::n_cells(VariableSet set) const {
  double cells = 1.0;
  for (const auto v : set) cells *= table_.card[v];
  return cells;
}

bool JointCounter::suits_bits(VariableSet set) const {
  if (set.empty()) return true;
  double counts = 1.0;
  for (const auto v : set) {
    if (first_bits_[v] == kNoBits) return false;
    counts *= table_.card[v];
  }
  const double last = table_.card[set.back()];
  counts *= std::max(last - 1.0, 1.0) / last;
  return counts <= static_cast<double>(bit_kernels().worthwhile_counts);
}

const std::uint64_t* JointCounter::state_bits(Var variable, std::uint32_t state,
                                              std::size_t first_word) const {
  return bits_.data() + first_bits_[variable] + state * n_words_ + first_word;
}

void JointCounter::extend_bits(Var variable, std::size_t first_word, std::size_t n_words,
                               Scratch& scratch) const {
  const auto card = table_.card[variable];
  if (scratch.levels.size() < scratch.depth + 2) scratch.levels.resize(scratch.depth + 2);
  const auto& from = scratch.levels[scratch.depth];
  auto& to = scratch.levels[scratch.depth + 1];
  to.variable = variable;
  to.config.clear();
  to.count.clear();
  to.bits.resize(from.config.size() * card * n_words);
  const auto& kernels = bit_kernels();
  std::size_t n_configs = 0;
  for (std::size_t c = 0; c < from.config.size(); ++c) {
    for (std::uint32_t s = 0; s < card; ++s) {
      const auto count =
          kernels.intersect(from.bits.data() + c * n_words, state_bits(variable, s, first_word),
                            to.bits.data() + n_configs * n_words, n_words);
      if (count == 0) continue;
      to.config.push_back(from.config[c] * card + s);
      to.count.push_back(static_cast<std::uint32_t>(count));
      ++n_configs;
    }
  }
  ++scratch.depth;
}

void JointCounter::count_leaf_by_bits(Var variable, std::size_t first_word, std::size_t n_words,
                                      Scratch& scratch, std::uint32_t* counts) const {
  const std::size_t card = table_.card[variable];
  const auto& level = scratch.levels[scratch.depth];
  const auto count_both = bit_kernels().count_both;
  for (std::size_t c = 0; c < level.config.size(); ++c) {
    std::uint32_t* cell = counts + level.config[c] * card;
    const std::uint64_t* bits = level.bits.data() + c * n_words;
    std::uint32_t rest = level.count[c];
    for (std::uint32_t s = 0; s + 1 < card && rest > 0; ++s) {
      const auto count = static_cast<std::uint32_t>(
          count_both(bits, state_bits(variable, s, first_word), n_words));
      cell[s] += count;
      rest -= count;
    }
    cell[card - 1] += rest;
  }
}

void JointCounter::count_chunk_by_bits(std::span<const VariableSet> sets,
                                       std::span<const std::size_t> starts,
                                       Scratch& scratch) const {
  scratch.chunk_counts.assign(starts.back(), 0);
  for (std::size_t first_word = 0; first_word < n_words_; first_word += kBlockWords) {
    const std::size_t n_words = std::min(kBlockWords, n_words_ - first_word);
    const std::size_t n_rows = std::min(n_words * 64, table_.n_rows - first_word * 64);
    if (scratch.levels.empty()) scratch.levels.resize(1);
    auto& root = scratch.levels[0];
    root.config.assign(1, 0);
    root.count.assign(1, static_cast<std::uint32_t>(n_rows));
    root.bits.assign(n_words, ~std::uint64_t{0});
    if (n_rows % 64 != 0) root.bits[n_words - 1] = (std::uint64_t{1} << (n_rows % 64)) - 1;
    scratch.depth = 0;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      std::uint32_t* counts = scratch.chunk_counts.data() + starts[s];
      if (sets[s].empty()) {
        counts[0] += static_cast<std::uint32_t>(n_rows);
        continue;
      }
      const auto prefix = sets[s].first(sets[s].size() - 1);
      std::size_t shared = 0;
      while (shared < std::min(scratch.depth, prefix.size()) &&
             scratch.levels[shared + 1].variable == prefix[shared])
        ++shared;
      scratch.depth = shared;
      while (scratch.depth < prefix.size())
        extend_bits(prefix[scratch.depth], first_word, n_words, scratch);
      count_leaf_by_bits(sets[s].back(), first_word, n_words, scratch, counts);
    }
  }
}

std::size_t JointCounter::most_dense() const {
  return static_cast<std::size_t>(std::min<double>(kMaxTableCells, most_dense_));
}

std::size_t JointCounter::prefix_ids(VariableSet prefix, Scratch& scratch) const {
  if (scratch.has_prefix && std::ranges::equal(prefix, scratch.prefix)) return scratch.n_prefix_ids;
  const std::size_t n_rows = table_.n_rows;
  // Beyond this many, ids are renumbered to the configurations that occur.
  const std::size_t id_limit = std::max<std::size_t>(2 * n_rows, 4096);
  auto& ids = scratch.ids;
  ids.assign(n_rows, 0);
  std::size_t n_ids = 1;
  for (const auto variable : prefix) {
    const auto column = table_.column(variable);
    const auto card = table_.card[variable];
    for (std::size_t row = 0; row < n_rows; ++row) ids[row] = ids[row] * card + column[row];
    n_ids *= card;
    if (n_ids <= id_limit) continue;
    constexpr auto unseen = std::numeric_limits<std::uint32_t>::max();
    scratch.relabel.assign(n_ids, unseen);
    std::uint32_t next = 0;
    for (auto& id : ids) {
      auto& label = scratch.relabel[id];
      if (label == unseen) label = next++;
      id = label;
    }
    n_ids = std::max<std::size_t>(next, 1);
  }
  scratch.prefix.assign(prefix.begin(), prefix.end());
  scratch.has_prefix = true;
  scratch.n_prefix_ids = n_ids;
  return n_ids;
}

template <class T, class Weight>
std::span<const T> JointCounter::add_up_rows(VariableSet set, Scratch& scratch, Sums<T>& sums,
                                             Weight&& weight) const {
  const Var last = set.back();
  const std::size_t n_ids = prefix_ids(set.first(set.size() - 1), scratch);
  const std::size_t card = table_.card[last];
  const auto column = table_.column(last);
  const std::size_t n_rows = table_.n_rows, n_cells = n_ids * card;
  const std::uint32_t* ids = scratch.ids.data();
  sums.occupied.clear();
  if (n_cells > most_dense()) {
    sums.keys.resize(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row)
      sums.keys[row] = {std::uint64_t{ids[row]} * card + column[row], weight(row)};
    // Stable: the order of addition, hence the last bit, stays that of the rows.
    std::ranges::stable_sort(sums.keys, {}, &std::pair<std::uint64_t, T>::first);
    for (std::size_t row = 0; row < n_rows; ++row) {
      if (row == 0 || sums.keys[row].first != sums.keys[row - 1].first) sums.occupied.push_back(0);
      sums.occupied.back() += sums.keys[row].second;
    }
    return sums.occupied;
  }
  if (sums.cells.size() < n_cells) sums.cells.resize(n_cells, 0);
  T* cells = sums.cells.data();
  for (std::size_t row = 0; row < n_rows; ++row)
    cells[ids[row] * card + column[row]] += weight(row);
  if (std::is_integral_v<T> && n_cells <= std::max(2 * n_rows, kAlwaysDense)) {
    sums.occupied.assign(cells, cells + n_cells);
    std::fill(cells, cells + n_cells, T{0});
    return sums.occupied;
  }
  for (std::size_t row = 0; row < n_rows; ++row) {
    T& cell = cells[ids[row] * card + column[row]];
    if (cell == 0) continue;
    sums.occupied.push_back(cell);
    cell = 0;
  }
  return sums.occupied;
}

std::span<const std::uint32_t> JointCounter::count_by_rows(VariableSet set,
                                                           Scratch& scratch) const {
  return add_up_rows(set, scratch, scratch.counts, [](std::size_t) { return std::uint32_t{1}; });
}

bool JointCounter::find_incomplete(VariableSet set, Scratch& scratch) const {
  auto& incomplete = scratch.incomplete;
  incomplete.assign(n_words_, 0);
  std::uint64_t any = 0;
  for (const auto v : set)
    for (std::size_t w = 0; w < n_words_; ++w)
      any |= incomplete[w] |= missing_bits_[v * n_words_ + w];
  return any != 0;
}

template <class Visit>
void JointCounter::for_rows(const Scratch& scratch, bool is_incomplete, Visit&& visit) const {
  for (std::size_t w = 0; w < n_words_; ++w) {
    std::uint64_t word = is_incomplete ? scratch.incomplete[w] : ~scratch.incomplete[w];
    for (; word != 0; word &= word - 1) {
      const std::size_t row = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      if (row >= table_.n_rows) return;
      if (weight(row) > 0.0 && !visit(row)) return;
    }
  }
}

// Weighs cells by the incomplete rows that reach them, but for those that complete rows show.
template <class CellOf>
void JointCounter::keep_without_example(Scratch& scratch, std::vector<double>& open,
                                        CellOf&& cell_of) const {
  std::size_t n_open = 0;
  for_rows(scratch, true, [&](std::size_t row) {
    double& total = open[cell_of(row)];
    n_open += total == 0.0;
    total += weight(row);
    return true;
  });
  // Where cells are missing at random, a few rows show all that there is.
  for_rows(scratch, false, [&](std::size_t row) {
    double& total = open[cell_of(row)];
    if (total == 0.0) return true;
    total = 0.0;
    return --n_open > 0;
  });
}

template <class CellOf>
double JointCounter::weigh_without_example(Scratch& scratch, std::size_t n_cells,
                                           CellOf&& cell_of) const {
  auto& open = scratch.open;
  open.assign(n_cells, 0.0);
  keep_without_example(scratch, open, cell_of);
  double total = 0.0;
  for (const double weight : open) total += weight;
  return total;
}

// The same where cells are many more than rows: only those that incomplete rows reach are looked
// at.
template <class CellOf>
double JointCounter::weigh_among_many(Scratch& scratch, std::size_t n_cells,
                                      CellOf&& cell_of) const {
  auto& open = scratch.reached;  // all zero between calls
  if (open.size() < n_cells) open.resize(n_cells, 0.0);
  keep_without_example(scratch, open, cell_of);
  double total = 0.0;
  for_rows(scratch, true, [&](std::size_t row) {
    total += std::exchange(open[cell_of(row)], 0.0);
    return true;
  });
  return total;
}

// Shown are the cells that hold more rows than incomplete ones, which are few.
ShownCells::Bits JointCounter::find_shown(VariableSet set, std::span<const std::uint32_t> counts,
                                          Scratch& scratch) const {
  if (!find_incomplete(set, scratch)) return {};
  auto& shown = scratch.shown;
  shown.assign(counts.begin(), counts.end());
  for_rows(scratch, true, [&](std::size_t row) {
    std::size_t cell = 0;
    for (const auto v : set) cell = cell * table_.card[v] + table_.column(v)[row];
    --shown[cell];
    return true;
  });
  ShownCells::Bits bits((counts.size() + 63) / 64, 0);
  for (std::size_t cell = 0; cell < shown.size(); ++cell)
    bits[cell / 64] |= std::uint64_t{shown[cell] > 0} << (cell % 64);
  return bits;
}

double JointCounter::unsupported(VariableSet set, std::span<const std::uint32_t> counts,
                                 Scratch& scratch) const {
  const auto bits = shown_->of(set, [&] { return find_shown(set, counts, scratch); });
  std::uint64_t total = 0;
  for (std::size_t w = 0; w < bits->size(); ++w) {
    std::uint64_t not_shown = ~(*bits)[w];
    if (w + 1 == bits->size() && counts.size() % 64 != 0)
      not_shown &= (std::uint64_t{1} << (counts.size() % 64)) - 1;
    for (; not_shown != 0; not_shown &= not_shown - 1)
      total += counts[w * 64 + static_cast<std::size_t>(std::countr_zero(not_shown))];
  }
  return static_cast<double>(total);
}

double JointCounter::unsupported(VariableSet set, Scratch& scratch) const {
  if (set.empty()) return 0.0;
  if (source_ != nullptr) {
    if (!scratch.source) scratch.source = source_->make_scratch();
    return source_->unsupported(set, *scratch.source);
  }
  if (missing_bits_.empty() || !find_incomplete(set, scratch)) return 0.0;
  const std::size_t card = table_.card[set.back()];
  const auto column = table_.column(set.back());
  const std::size_t n_cells = prefix_ids(set.first(set.size() - 1), scratch) * card;
  const auto* ids = scratch.ids.data();
  const auto cell_of = [&](std::size_t row) { return ids[row] * card + column[row]; };
  if (n_cells <= std::max(2 * table_.n_rows, kAlwaysDense))
    return weigh_without_example(scratch, n_cells, cell_of);
  if (n_cells <= most_dense()) return weigh_among_many(scratch, n_cells, cell_of);
  const std::size_t n_numbers = prefix_ids(set, scratch);
  return weigh_among_many(scratch, n_numbers, [&](std::size_t row) { return ids[row]; });
}

std::span<const double> JointCounter::weigh_by_rows(VariableSet set, Scratch& scratch) const {
  if (set.empty()) return {&total_, 1};
  if (source_ != nullptr) {
    if (!scratch.source) scratch.source = source_->make_scratch();
    return source_->count(set, *scratch.source);
  }
  return add_up_rows(set, scratch, scratch.totals, [&](std::size_t row) { return weights_[row]; });
}

}  // namespace bayesmend
