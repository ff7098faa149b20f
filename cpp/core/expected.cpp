#include "core/expected.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bayesmend {
namespace {

// Larger joint posteriors are not kept: what is needed of them is eliminated anew.
constexpr double kMaxStored = 4096.0;
constexpr std::size_t kMaxCells = std::size_t{1} << 26;
constexpr std::size_t kInstancesPerTask = 32;

}  // namespace

ExpectedCounts::ExpectedCounts(const Holes& holes, std::span<const double> cpts,
                               std::size_t n_threads, const Stop& stop)
    : holes_(holes), cpts_(cpts), n_words_((holes.table().n_rows + 63) / 64) {
  const Table& table = holes.table();
  instance_of_.assign(table.cells.size(), kNoInstance);
  position_of_.assign(table.cells.size(), 0);
  missing_.assign(table.n_vars * n_words_, 0);
  for (const auto& use : holes.uses()) {
    const Piece& piece = holes.pieces()[holes.instances()[use.instance].piece];
    for (std::size_t p = 0; p < piece.variables.size(); ++p) {
      const auto v = static_cast<std::size_t>(piece.variables[p]);
      instance_of_[v * table.n_rows + use.row] = use.instance;
      position_of_[v * table.n_rows + use.row] = static_cast<std::uint16_t>(p);
      missing_[v * n_words_ + use.row / 64] |= std::uint64_t{1} << (use.row % 64);
    }
  }
  for (const auto& piece : holes.pieces()) {
    first_position_.push_back(piece_marginals_.size());
    std::size_t before = 0;
    double n_joint = 1.0;
    for (const auto states : piece.card) {
      piece_marginals_.push_back(before);
      before += static_cast<std::size_t>(states);
      n_joint *= states;
    }
    piece_marginals_.push_back(before);
    joint_shape_.push_back(
        n_joint > kMaxStored
            ? nullptr
            : std::make_unique<Elimination>(piece.card, piece.scopes, piece.strides,
                                            std::span<const std::uint32_t>{}, kMaxStored));
  }
  infer(n_threads, stop);
}

void ExpectedCounts::infer(std::size_t n_threads, const Stop& stop) {
  std::size_t n_joints = 0, n_marginals = 0;
  for (const auto& instance : holes_.instances()) {
    const auto& piece = holes_.pieces()[instance.piece];
    Posterior posterior{n_joints, 0, n_marginals};
    if (const auto& shape = joint_shape_[instance.piece])
      posterior.n_joint = static_cast<std::size_t>(shape->tree().n_entries);
    n_joints += posterior.n_joint;
    n_marginals += piece_marginals_[first_position_[instance.piece] + piece.variables.size()];
    posteriors_.push_back(posterior);
  }
  joints_.resize(n_joints);
  marginals_.resize(n_marginals);
  const std::size_t n_tasks = (posteriors_.size() + kInstancesPerTask - 1) / kInstancesPerTask;
  std::vector<Scratch> scratch(resolve_threads(n_threads));
  was_stopped_ =
      !parallel_for(n_tasks, scratch.size(), stop, [&](std::size_t task, std::size_t thread) {
        const std::size_t end = std::min(posteriors_.size(), (task + 1) * kInstancesPerTask);
        for (std::size_t i = task * kInstancesPerTask; i < end; ++i)
          infer_instance(i, scratch[thread]);
      });
}

void ExpectedCounts::infer_instance(std::size_t number, Scratch& scratch) {
  const auto& instance = holes_.instances()[number];
  const Piece& piece = holes_.pieces()[instance.piece];
  const auto& posterior = posteriors_[number];
  const auto& shape = joint_shape_[instance.piece];
  holes_.factors(instance, cpts_, scratch.factors);
  const double log_sum =
      scratch.beliefs.collect(shape ? *shape : *piece.elimination, scratch.factors, Pass::sum);
  if (log_sum == -std::numeric_limits<double>::infinity())
    throw std::domain_error("a row is impossible under the network.");
  scratch.beliefs.distribute();
  if (shape) {
    const auto joint = scratch.beliefs.table(0);
    double total = 0.0;
    for (const double value : joint) total += value;
    for (std::size_t e = 0; e < joint.size(); ++e)
      joints_[posterior.first_joint + e] = joint[e] / total;
  }
  for (std::uint32_t p = 0; p < piece.variables.size(); ++p)
    scratch.beliefs.marginal(
        p, std::span(marginals_)
               .subspan(
                   posterior.first_marginal + piece_marginals_[first_position_[instance.piece] + p],
                   static_cast<std::size_t>(piece.card[p])));
}

const double* ExpectedCounts::marginal(std::uint32_t instance, std::uint32_t position) const {
  const std::size_t piece = holes_.instances()[instance].piece;
  return marginals_.data() + posteriors_[instance].first_marginal +
         piece_marginals_[first_position_[piece] + position];
}

void ExpectedCounts::share(std::size_t number, Scratch& scratch) const {
  const auto& instance = holes_.instances()[number];
  const Piece& piece = holes_.pieces()[instance.piece];
  std::size_t size = 1;
  for (const auto p : scratch.positions) size *= static_cast<std::size_t>(piece.card[p]);
  const auto& posterior = posteriors_[number];
  if (posterior.n_joint == 0) {
    auto& shape = scratch.shapes[{instance.piece, scratch.positions}];
    if (!shape)
      shape = std::make_unique<Elimination>(piece.card, piece.scopes, piece.strides,
                                            scratch.positions, 0.0);
    holes_.factors(instance, cpts_, scratch.factors);
    scratch.beliefs.collect(*shape, scratch.factors, Pass::sum);
    const auto joint = scratch.beliefs.table(shape->tree().cliques.size() - 1);
    double total = 0.0;
    for (const double value : joint) total += value;
    scratch.part.assign(joint.begin(), joint.end());
    for (double& value : scratch.part) value /= total;
    return;
  }
  // Walk through the joint table, last position fastest, and add up what is not asked for.
  const std::size_t n = piece.card.size();
  scratch.part.assign(size, 0.0);
  auto& steps = scratch.digits;  // states so far, then steps, one after the other
  steps.assign(2 * n, 0);
  std::size_t stride = 1;
  for (const auto p : scratch.positions) {
    steps[n + p] = static_cast<std::uint32_t>(stride);
    stride *= static_cast<std::size_t>(piece.card[p]);
  }
  const double* joint = joints_.data() + posterior.first_joint;
  const auto inner = static_cast<std::size_t>(piece.card[n - 1]);
  const std::size_t inner_step = steps[2 * n - 1];
  for (std::size_t entry = 0, cell = 0;;) {
    for (std::size_t k = 0; k < inner; ++k) scratch.part[cell + k * inner_step] += joint[entry + k];
    entry += inner;
    if (entry == posterior.n_joint) return;
    std::size_t d = n - 2;
    while (++steps[d] == static_cast<std::uint32_t>(piece.card[d])) {
      cell -= std::size_t{steps[n + d]} * (steps[d] - 1);
      steps[d--] = 0;
    }
    cell += steps[n + d];
  }
}

void ExpectedCounts::spread_row(std::size_t row, std::span<const std::int32_t> set,
                                std::span<const std::size_t> strides, Scratch& scratch) const {
  const Table& table = holes_.table();
  auto& members = scratch.members;
  members.clear();
  std::size_t base = 0;
  for (std::size_t k = 0; k < set.size(); ++k) {
    const auto v = static_cast<std::size_t>(set[k]);
    const std::size_t cell = v * table.n_rows + row;
    if (instance_of_[cell] == kNoInstance)
      base += strides[k] * table.cells[cell];
    else
      members.push_back({instance_of_[cell], position_of_[cell], strides[k],
                         static_cast<std::size_t>(table.card[v])});
  }
  const double weight = holes_.row_weight(row);
  if (members.size() == 1) {
    const double* chance = marginal(members[0].instance, members[0].position);
    for (std::size_t s = 0; s < members[0].card; ++s)
      scratch.totals[base + s * members[0].stride] += weight * chance[s];
    return;
  }
  // Instances of a row are independent of each other: their distributions multiply.
  std::ranges::stable_sort(members, {}, &Scratch::Member::instance);
  scratch.entries.assign(1, {base, weight});
  for (std::size_t first = 0, last = 0; first < members.size(); first = last) {
    while (last < members.size() && members[last].instance == members[first].instance) ++last;
    const double* chance = nullptr;
    std::size_t size = 1;
    scratch.positions.clear();
    for (std::size_t k = first; k < last; ++k) {
      scratch.positions.push_back(members[k].position);
      size *= members[k].card;
    }
    if (last - first == 1) {
      chance = marginal(members[first].instance, members[first].position);
    } else {
      share(members[first].instance, scratch);
      chance = scratch.part.data();
    }
    scratch.longer.clear();
    for (std::size_t s = 0; s < size; ++s) {
      if (chance[s] == 0.0) continue;
      std::size_t shift = 0, rest = s;
      for (std::size_t k = first; k < last; ++k) {
        shift += rest % members[k].card * members[k].stride;
        rest /= members[k].card;
      }
      for (const auto& entry : scratch.entries)
        scratch.longer.push_back({entry.cell + shift, entry.weight * chance[s]});
    }
    std::swap(scratch.entries, scratch.longer);
  }
  for (const auto& entry : scratch.entries) scratch.totals[entry.cell] += entry.weight;
}

std::size_t ExpectedCounts::fill(std::span<const std::int32_t> set, Scratch& scratch) const {
  const Table& table = holes_.table();
  std::vector<std::size_t> strides(set.size());
  std::size_t n_cells = 1;
  for (std::size_t k = set.size(); k-- > 0;) {
    strides[k] = n_cells;
    n_cells *= static_cast<std::size_t>(table.card[static_cast<std::size_t>(set[k])]);
    if (n_cells > kMaxCells)
      throw std::length_error("a table of expected counts would have more than 2^26 cells.");
  }
  if (scratch.totals.size() < n_cells) scratch.totals.resize(n_cells, 0.0);
  scratch.keys.assign(table.n_rows, 0);
  scratch.missing.assign(n_words_, 0);
  for (std::size_t k = 0; k < set.size(); ++k) {
    const auto v = static_cast<std::size_t>(set[k]);
    const auto column = table.column(v);
    const auto stride = static_cast<std::uint32_t>(strides[k]);
    for (std::size_t row = 0; row < column.size(); ++row) scratch.keys[row] += stride * column[row];
    for (std::size_t w = 0; w < n_words_; ++w) scratch.missing[w] |= missing_[v * n_words_ + w];
  }
  for (std::size_t row = 0; row < table.n_rows; ++row)
    if ((scratch.missing[row / 64] >> (row % 64) & 1) == 0)
      scratch.totals[scratch.keys[row]] += holes_.row_weight(row);
  for (std::size_t w = 0; w < n_words_; ++w)
    for (std::uint64_t word = scratch.missing[w]; word != 0; word &= word - 1)
      spread_row(w * 64 + static_cast<std::size_t>(std::countr_zero(word)), set, strides, scratch);
  return n_cells;
}

std::span<const double> ExpectedCounts::count(std::span<const std::int32_t> set,
                                              Scratch& scratch) const {
  const std::size_t n_cells = fill(set, scratch);
  scratch.occupied.clear();
  for (std::size_t cell = 0; cell < n_cells; ++cell) {
    if (scratch.totals[cell] == 0.0) continue;
    scratch.occupied.push_back(scratch.totals[cell]);
    scratch.totals[cell] = 0.0;
  }
  return scratch.occupied;
}

std::vector<double> ExpectedCounts::table(std::span<const std::int32_t> set,
                                          Scratch& scratch) const {
  const std::size_t n_cells = fill(set, scratch);
  const auto end = scratch.totals.begin() + static_cast<std::ptrdiff_t>(n_cells);
  std::vector<double> result(scratch.totals.begin(), end);
  std::fill(scratch.totals.begin(), end, 0.0);
  return result;
}

}  // namespace bayesmend
