#include "core/inference/expected.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "core/base/bits.hpp"
#include "core/base/require.hpp"

namespace bayesmend {
namespace {

// Of larger pieces not the joint posterior is computed but those of their cliques.
constexpr double kMaxJoint = 4096.0;
constexpr std::size_t kLargeTable = std::size_t{1} << 20;  // cells
constexpr std::size_t kInstancesPerTask = 32;
// Tables of fewer cells take so little time that nobody looks at the clock meanwhile.
constexpr std::size_t kMostUnwatched = 4096;
// What is noted of each cell of the table.
constexpr std::size_t kBytesOfCell =
    sizeof(std::uint32_t) + sizeof(std::uint16_t) + sizeof(std::size_t);
// What a distribution takes besides its numbers.
constexpr std::size_t kNumbersPerNode = 10;

}  // namespace

ExpectedCounts::ExpectedCounts(const Holes& holes, std::span<const double> cpts,
                               std::size_t n_threads, double max_bytes, bool has_support,
                               const Stop& stop)
    : holes_(holes),
      cpts_(cpts),
      has_support_(has_support),
      n_words_((holes.table().n_rows + 63) / 64) {
  const double n_numbers = std::min(max_bytes, 0x1.0p62) / sizeof(double);
  max_kept_ = static_cast<std::size_t>(n_numbers / 2.0);
  max_remembered_ =
      static_cast<std::size_t>(n_numbers / 8.0 / static_cast<double>(resolve_threads(n_threads)));
  max_cells_ = static_cast<std::size_t>(entries_within(max_bytes));
  for (const auto& piece : holes.pieces()) {
    auto& first = first_marginal_.emplace_back();
    std::size_t before = 0;
    double n_joint = 1.0;
    for (const auto card : piece.card) {
      first.push_back(before);
      before += card;
      n_joint *= card;
    }
    first.push_back(before);
    joint_shape_.push_back(n_joint > kMaxJoint ? nullptr
                                               : std::make_unique<Elimination>(
                                                     piece.card, piece.scopes, piece.strides,
                                                     std::span<const std::uint32_t>{}, kMaxJoint));
  }
  place_posteriors();
  note_cells();
  std::vector<Scratch> scratch(resolve_threads(n_threads));
  parallel_for_blocks(
      posteriors_.size(), kInstancesPerTask, scratch.size(), stop,
      [&](std::size_t i, std::size_t thread) { infer_instance(i, scratch[thread]); });
}

// Makes room for the posteriors of all instances, as far as they are kept.
void ExpectedCounts::place_posteriors() {
  std::size_t n_entries = 0, n_conditionals = 0, n_marginals = 0;
  // The same half holds what is there in any case.
  double n_bytes = holes_.bytes() + static_cast<double>(holes_.table().cells.size() * kBytesOfCell);
  for (const auto& instance : holes_.instances())
    n_bytes += static_cast<double>(first_marginal_[instance.piece].back() * sizeof(double));
  const auto n_there = static_cast<std::size_t>(n_bytes / sizeof(double));
  max_kept_ -= std::min(max_kept_, n_there);
  for (const auto& instance : holes_.instances()) {
    const auto size = static_cast<std::size_t>(shape_of(instance.piece).tree().n_entries);
    const bool is_kept = n_entries + n_conditionals + 2 * size <= max_kept_;
    posteriors_.push_back({.first_marginal = n_marginals,
                           .first_entry = n_entries,
                           .n_entries = size,
                           .first_conditional = n_conditionals,
                           .is_kept = is_kept});
    if (is_kept) n_entries += size;
    if (is_kept && !joint_shape_[instance.piece]) n_conditionals += size;
    n_marginals += first_marginal_[instance.piece].back();
  }
  beliefs_.resize(n_entries);
  conditionals_.resize(n_conditionals);
  marginals_.resize(n_marginals);
}

void ExpectedCounts::note_cells() {
  const Table& table = holes_.table();
  instance_of_.assign(table.cells.size(), kNoInstance);
  position_of_.assign(table.cells.size(), 0);
  chance_of_.assign(table.cells.size(), 0);
  missing_.assign(table.n_vars * n_words_, 0);
  for (const auto& use : holes_.uses()) {
    const auto& instance = holes_.instances()[use.instance];
    const auto& variables = holes_.piece_of(instance).variables;
    for (std::size_t p = 0; p < variables.size(); ++p) {
      const std::size_t cell = variables[p] * table.n_rows + use.row;
      instance_of_[cell] = use.instance;
      position_of_[cell] = static_cast<std::uint16_t>(p);
      chance_of_[cell] =
          posteriors_[use.instance].first_marginal + first_marginal_[instance.piece][p];
      missing_[variables[p] * n_words_ + use.row / 64] |= std::uint64_t{1} << (use.row % 64);
    }
  }
}

const Elimination& ExpectedCounts::shape_of(std::size_t piece) const {
  const auto& joint = joint_shape_[piece];
  return joint ? *joint : *holes_.pieces()[piece].elimination;
}

void ExpectedCounts::calibrate(std::size_t number, Scratch& scratch) const {
  const auto& instance = holes_.instances()[number];
  if (scratch.collect(holes_, instance, cpts_, &shape_of(instance.piece)) == kImpossible)
    throw std::domain_error("a row is impossible under the network.");
  scratch.beliefs.distribute();
}

void ExpectedCounts::infer_instance(std::size_t number, Scratch& scratch) {
  const std::size_t piece = holes_.instances()[number].piece;
  const auto& card = holes_.pieces()[piece].card;
  const auto& posterior = posteriors_[number];
  calibrate(number, scratch);
  if (posterior.is_kept)
    write_tables(number, scratch.beliefs, std::span(beliefs_).subspan(posterior.first_entry),
                 std::span(conditionals_).subspan(posterior.first_conditional));
  const auto own = std::span(marginals_).subspan(posterior.first_marginal);
  for (std::uint32_t p = 0; p < card.size(); ++p)
    scratch.beliefs.marginal(p, own.subspan(first_marginal_[piece][p], card[p]));
}

void ExpectedCounts::write_tables(std::size_t number, const Beliefs& beliefs,
                                  std::span<double> joint, std::span<double> conditional) const {
  const std::size_t piece = holes_.instances()[number].piece;
  const bool is_joint = joint_shape_[piece] != nullptr;
  const auto& cliques = shape_of(piece).tree().cliques;
  std::size_t at = 0;
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    const auto table = beliefs.table(c);
    const double total = std::accumulate(table.begin(), table.end(), 0.0);
    for (std::size_t e = 0; e < table.size(); ++e) joint[at + e] = table[e] / total;
    const auto n_own = static_cast<std::size_t>(cliques[c].n_own_entries);
    for (std::size_t first = 0; first < table.size() && !is_joint; first += n_own) {
      const auto own = table.subspan(first, n_own);
      const double sum = std::accumulate(own.begin(), own.end(), 0.0);
      for (std::size_t k = 0; k < n_own; ++k)
        conditional[at + first + k] = sum > 0.0 ? own[k] / sum : 0.0;
    }
    at += table.size();
  }
}

const double* ExpectedCounts::share(std::span<const Member> members, Scratch& scratch) const {
  // The same few cells of an instance are asked for by many sets.
  std::uint64_t key = 0;
  bool is_packed = members.size() <= 4;
  for (const auto& member : members) {
    is_packed = is_packed && member.position < 255;
    key = key << 8 | (member.position + 1);
  }
  key |= std::uint64_t{members[0].instance} << 32;
  if (is_packed)
    if (const auto known = scratch.shares.find(key); known != scratch.shares.end())
      return known->second.data();
  scratch.positions.clear();
  for (const auto& member : members) scratch.positions.push_back(member.position);
  auto part = marginalise(members[0].instance, scratch);
  if (!is_packed) return scratch.parts.emplace_back(std::move(part)).data();
  scratch.n_shared += part.size() + kNumbersPerNode;
  return scratch.shares.emplace(key, std::move(part)).first->second.data();
}

void ExpectedCounts::recall(std::size_t number, Scratch& scratch) const {
  if (scratch.recalled == number) return;
  calibrate(number, scratch);
  scratch.table.resize(posteriors_[number].n_entries);
  scratch.conditional.resize(posteriors_[number].n_entries);
  write_tables(number, scratch.beliefs, scratch.table, scratch.conditional);
  scratch.recalled = number;
}

std::vector<double> ExpectedCounts::marginalise(std::size_t number, Scratch& scratch) const {
  const std::size_t piece = holes_.instances()[number].piece;
  const auto& posterior = posteriors_[number];
  std::size_t size = 1;
  scratch.strides_of_part.clear();
  for (const auto p : scratch.positions) {
    scratch.strides_of_part.push_back(size);
    size *= holes_.pieces()[piece].card[p];
  }
  std::vector<double> part(size, 0.0);
  std::span<const double> table(beliefs_), conditional(conditionals_);
  if (posterior.is_kept) {
    table = table.subspan(posterior.first_entry);
    conditional = conditional.subspan(posterior.first_conditional);
  } else {
    recall(number, scratch);
    table = scratch.table;
    conditional = scratch.conditional;
  }
  scratch.joiner.join(shape_of(piece), table, conditional, scratch.positions,
                      scratch.strides_of_part, static_cast<std::uint32_t>(number), max_remembered_,
                      part);
  return part;
}

// Calls visit(row) for the rows whose bits are set in word_of(number of 64 rows).
template <class WordOf, class Visit>
void ExpectedCounts::for_rows(WordOf&& word_of, Visit&& visit) const {
  for (std::size_t w = 0; w < n_words_; ++w)
    for_each_bit(word_of(w), [&](std::size_t row) { visit(w * 64 + row); });
}

void ExpectedCounts::spread_single(Var v, std::size_t stride, Scratch& scratch) const {
  const Table& table = holes_.table();
  const std::size_t card = table.card[v];
  // The key of the row counts the missing cell as its code.
  const auto surplus = static_cast<std::uint32_t>(stride) * kMissing;
  const auto is_single = [&](std::size_t w) {
    return missing_[v * n_words_ + w] & ~scratch.twice[w];
  };
  for_rows(is_single, [&](std::size_t row) {
    const double* chance = marginals_.data() + chance_of_[v * table.n_rows + row];
    double* to = scratch.totals.data() + static_cast<std::uint32_t>(scratch.keys[row] - surplus);
    const double weight = holes_.row_weight(row);
    for (std::size_t s = 0; s < card; ++s) to[s * stride] += weight * chance[s];
  });
}

void ExpectedCounts::spread_row(std::size_t row, VariableSet set,
                                std::span<const std::size_t> strides, Scratch& scratch) const {
  const Table& table = holes_.table();
  auto& members = scratch.members;
  members.clear();
  // Only between rows: the members of a row point at what is here.
  scratch.parts.clear();
  if (scratch.n_shared > max_remembered_) {
    scratch.shares.clear();
    scratch.n_shared = 0;
  }
  std::size_t base = 0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Var v = set[k];
    const std::size_t cell = v * table.n_rows + row;
    if (instance_of_[cell] == kNoInstance) {
      base += strides[k] * table.cells[cell];
      continue;
    }
    // Members of one instance go together, in the order of the set.
    auto at = members.end();
    while (at != members.begin() && (at - 1)->instance > instance_of_[cell]) --at;
    members.insert(at, {.instance = instance_of_[cell],
                        .position = position_of_[cell],
                        .first_chance = chance_of_[cell],
                        .stride = strides[k],
                        .card = table.card[v]});
  }
  for (std::size_t first = 0, last = 0; first < members.size(); first = last) {
    std::size_t size = 1;
    for (; last < members.size() && members[last].instance == members[first].instance; ++last) {
      members[last].part_stride = size;
      size *= members[last].card;
    }
    members[last - 1].chance =
        last - first == 1 ? marginals_.data() + members[first].first_chance
                          : share(std::span(members).subspan(first, last - first), scratch);
  }
  expand(members, base, holes_.row_weight(row), 0, scratch.totals);
}

void ExpectedCounts::expand(std::span<const Member> members, std::size_t cell, double weight,
                            std::size_t index, std::span<double> totals) const {
  const Member& member = members[0];
  for (std::size_t s = 0; s < member.card;
       ++s, cell += member.stride, index += member.part_stride) {
    if (member.chance == nullptr) {
      expand(members.subspan(1), cell, weight, index, totals);
      continue;
    }
    // The last of its instance. Instances of a row are independent: their distributions multiply.
    const double share_of_weight = weight * member.chance[index];
    if (share_of_weight == 0.0) continue;
    if (members.size() == 1)
      totals[cell] += share_of_weight;
    else
      expand(members.subspan(1), cell, share_of_weight, 0, totals);
  }
}

std::size_t ExpectedCounts::lay_out(VariableSet set, Scratch& scratch) const {
  auto& strides = scratch.strides;
  strides.resize(set.size());
  std::size_t n_cells = 1;
  for (std::size_t k = set.size(); k-- > 0;) {
    strides[k] = n_cells;
    n_cells *= holes_.table().card[set[k]];
    if (n_cells > max_cells_)
      throw std::length_error("a table of expected counts would have more than " +
                              std::to_string(max_cells_) + " cells, for which there is no room.");
  }
  return n_cells;
}

std::unique_lock<std::mutex> ExpectedCounts::alone_with(std::size_t n_cells) const {
  return n_cells > kLargeTable ? std::unique_lock(large_) : std::unique_lock<std::mutex>();
}

void ExpectedCounts::give_back(std::size_t n_cells, Scratch& scratch) {
  if (n_cells <= kLargeTable) return;
  scratch.totals = {};
  scratch.is_shown = {};
}

void ExpectedCounts::fill(VariableSet set, std::size_t n_cells, Scratch& scratch) const {
  const Table& table = holes_.table();
  const auto& strides = scratch.strides;
  if (scratch.totals.size() < n_cells) scratch.totals.resize(n_cells, 0.0);
  note_rows(set, scratch);
  const auto is_whole = [&](std::size_t w) {
    const std::size_t n_here = std::min<std::size_t>(64, table.n_rows - w * 64);
    return ~scratch.once[w] & ~std::uint64_t{0} >> (64 - n_here);
  };
  for_rows(is_whole,
           [&](std::size_t row) { scratch.totals[scratch.keys[row]] += holes_.row_weight(row); });
  if (has_support_) {
    scratch.is_shown.resize(n_cells);
    for (std::size_t c = 0; c < n_cells; ++c) scratch.is_shown[c] = scratch.totals[c] > 0.0;
  }
  for (std::size_t k = 0; k < set.size(); ++k) spread_single(set[k], strides[k], scratch);
  bool is_cut = Watched::cuts();
  for_rows([&](std::size_t w) { return is_cut ? 0 : scratch.twice[w]; },
           [&](std::size_t row) {
             spread_row(row, set, strides, scratch);
             is_cut = n_cells > kMostUnwatched && Watched::cuts();
           });
}

// Where each row lies in the table of a set, and which rows miss one of its variables, or more.
void ExpectedCounts::note_rows(VariableSet set, Scratch& scratch) const {
  const Table& table = holes_.table();
  scratch.keys.assign(table.n_rows, 0);
  scratch.once.assign(n_words_, 0);
  scratch.twice.assign(n_words_, 0);
  for (std::size_t k = 0; k < set.size(); ++k) {
    const Var v = set[k];
    const auto stride = static_cast<std::uint32_t>(scratch.strides[k]);
    const std::uint8_t* column = table.column(v).data();
    std::uint32_t* keys = scratch.keys.data();
    for (std::size_t row = 0; row < table.n_rows; ++row) keys[row] += stride * column[row];
    for (std::size_t w = 0; w < n_words_; ++w) {
      scratch.twice[w] |= scratch.once[w] & missing_[v * n_words_ + w];
      scratch.once[w] |= missing_[v * n_words_ + w];
    }
  }
}

std::unique_ptr<CountSource::Scratch> ExpectedCounts::make_scratch() const {
  return std::make_unique<Scratch>();
}

std::span<const double> ExpectedCounts::count(VariableSet set,
                                              CountSource::Scratch& source_scratch) const {
  auto& scratch = static_cast<Scratch&>(source_scratch);
  const std::size_t n_cells = lay_out(set, scratch);
  const auto alone = alone_with(n_cells);
  scratch.occupied.clear();
  if (n_cells > kMostUnwatched && Watched::cuts()) return scratch.occupied;
  fill(set, n_cells, scratch);
  double unsupported = 0.0;
  for (std::size_t cell = 0; cell < n_cells; ++cell) {
    if (scratch.totals[cell] == 0.0) continue;
    if (has_support_ && !scratch.is_shown[cell]) unsupported += scratch.totals[cell];
    scratch.occupied.push_back(scratch.totals[cell]);
    scratch.totals[cell] = 0.0;
  }
  give_back(n_cells, scratch);
  if (has_support_) {
    auto& lack = scratch.lacks[scratch.next_lack++ % std::size(scratch.lacks)];
    lack.set.assign(set.begin(), set.end());
    lack.unsupported = unsupported;
  }
  return scratch.occupied;
}

double ExpectedCounts::unsupported(VariableSet set, CountSource::Scratch& source_scratch) const {
  require(has_support_, "these expected counts were made without support.");
  auto& scratch = static_cast<Scratch&>(source_scratch);
  const auto known = [&] {
    return std::ranges::find_if(
        scratch.lacks, [&](const auto& lack) { return std::ranges::equal(set, lack.set); });
  };
  if (known() == std::end(scratch.lacks)) count(set, scratch);
  return known()->unsupported;
}

std::vector<double> ExpectedCounts::table(VariableSet set, Scratch& scratch) const {
  const std::size_t n_cells = lay_out(set, scratch);
  const auto alone = alone_with(n_cells);
  fill(set, n_cells, scratch);
  const auto end = scratch.totals.begin() + static_cast<std::ptrdiff_t>(n_cells);
  std::vector<double> result(scratch.totals.begin(), end);
  std::fill(scratch.totals.begin(), end, 0.0);
  give_back(n_cells, scratch);
  return result;
}

}  // namespace bayesmend
