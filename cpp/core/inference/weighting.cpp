#include "core/inference/weighting.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/base/philox.hpp"
#include "core/base/require.hpp"
#include "core/network/drawing.hpp"

namespace bayesmend {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
// With fewer rows than this, threads share the draws of a row rather than the rows.
constexpr std::size_t kFewRows = 32;
constexpr std::size_t kBlocksAtOnce = 64;

// Which variables of a row have to be looked at: what is observed or wanted, and everything
// above it; the rest has no bearing on the answer.
struct Plan {
  std::vector<std::size_t> variables;  // in topological order
  bool is_certain = true;              // nothing has to be drawn
};

struct Scratch {
  explicit Scratch(std::size_t n_vars) : cells(n_vars * kBlock) {}
  Block block{};
  std::vector<std::uint8_t> cells;  // one variable after the other, kBlock draws each
  std::array<double, kBlock> log_weight{};
};

class Weigher {
 public:
  Weigher(const FlatNetwork& network, std::span<const Var> order, const Table& table,
          std::span<const std::uint8_t> is_wanted, std::uint64_t seed)
      : network_(network), order_(order), table_(table), is_wanted_(is_wanted), seed_(seed) {
    check(network);
    check_order(network, order);
    check_cells();
    logs_.resize(network.cpts.size());
    std::transform(network.cpts.begin(), network.cpts.end(), logs_.begin(),
                   [](double p) { return std::log(p); });
    for (std::size_t variable = 0; variable < network.n_vars(); ++variable)
      thresholds_.push_back(find_thresholds(network.cpt_of(variable), card(variable)));
  }

  std::uint32_t card(std::size_t variable) const { return network_.card[variable]; }
  std::uint8_t cell(std::size_t variable, std::size_t row) const {
    return table_.cells[variable * table_.n_rows + row];
  }
  bool is_wanted(std::size_t variable, std::size_t row) const {
    return cell(variable, row) == kMissing && (is_wanted_.empty() || is_wanted_[variable] != 0);
  }

  Plan plan(std::size_t row) const {
    std::vector<bool> is_needed(network_.n_vars(), false);
    for (std::size_t k = order_.size(); k-- > 0;) {
      const auto variable = order_[k];
      if (cell(variable, row) != kMissing || is_wanted(variable, row)) is_needed[variable] = true;
      if (!is_needed[variable]) continue;
      for (const Var parent : network_.parents_of(variable)) is_needed[parent] = true;
    }
    Plan plan;
    for (const Var variable : order_) {
      if (!is_needed[variable]) continue;
      plan.variables.push_back(variable);
      if (cell(variable, row) == kMissing) plan.is_certain = false;
    }
    return plan;
  }

  // Draws number first .. first + size of a row, with their log-weights; `first` is even.
  void run(const Plan& plan, std::size_t row, std::size_t first, std::size_t size,
           Scratch& scratch) const {
    std::fill_n(scratch.log_weight.begin(), size, 0.0);
    for (const std::size_t variable : plan.variables) {
      find_configs(network_, variable, scratch.cells.data(), kBlock, 0, size,
                   scratch.block.config.data());
      std::uint8_t* codes = scratch.cells.data() + variable * kBlock;
      const std::uint8_t observed = cell(variable, row);
      if (observed == kMissing) {
        const std::uint64_t index = (static_cast<std::uint64_t>(row) << 32) + first / 2;
        fill_draws(seed_, kWeightStream, variable, index, size, scratch.block.draw.data());
        draw_states(thresholds_[variable], card(variable), scratch.block, size, codes);
        continue;
      }
      std::fill_n(codes, size, observed);
      const double* own = logs_.data() + network_.cpt_offsets[variable] + observed;
      const std::size_t width = card(variable);
      for (std::size_t k = 0; k < size; ++k)
        scratch.log_weight[k] += own[scratch.block.config[k] * width];
    }
  }

 private:
  void check_cells() const {
    const std::size_t n_vars = network_.n_vars();
    require(table_.n_vars == n_vars && table_.cells.size() == n_vars * table_.n_rows,
            "the table must have a column per variable");
    require(is_wanted_.empty() || is_wanted_.size() == n_vars, "one flag per variable is needed");
    for (std::size_t variable = 0; variable < n_vars; ++variable) {
      for (const std::uint8_t code : table_.column(variable))
        require(code == kMissing || code < card(variable), "a code is out of range");
    }
  }

  FlatNetwork network_;
  std::span<const Var> order_;
  Table table_;
  std::span<const std::uint8_t> is_wanted_;
  std::uint64_t seed_;
  std::vector<double> logs_;
  std::vector<std::vector<double>> thresholds_;
};

// Sums over draws of exp(log-weight - peak) and of its square, in all and by state.
struct Sums {
  explicit Sums(std::size_t n_states) : by_state(n_states), squares_by_state(n_states) {}

  double peak = kNone;
  double total = 0.0, squares = 0.0;
  std::vector<double> by_state, squares_by_state;

  void scale_to(double new_peak) {
    if (peak == new_peak || peak == kNone) {
      peak = new_peak;
      return;
    }
    const double factor = std::exp(peak - new_peak), square = factor * factor;
    total *= factor;
    squares *= square;
    for (double& sum : by_state) sum *= factor;
    for (double& sum : squares_by_state) sum *= square;
    peak = new_peak;
  }

  void merge(Sums& other) {
    if (other.peak == kNone) return;
    const double highest = std::max(peak, other.peak);
    scale_to(highest);
    other.scale_to(highest);
    total += other.total;
    squares += other.squares;
    for (std::size_t k = 0; k < by_state.size(); ++k) {
      by_state[k] += other.by_state[k];
      squares_by_state[k] += other.squares_by_state[k];
    }
  }
};

struct Hole {
  std::size_t variable;
  std::size_t at;  // where its probabilities begin in the result
};

// What is asked of a row: the distributions of its holes, and of some variables together.
struct Question {
  Question(const Weigher& weigher, std::span<const Hole> holes_, std::span<const Var> together_)
      : holes(holes_), together(together_) {
    for (const Hole& hole : holes) first_together += weigher.card(hole.variable);
    n_sums = first_together;
    if (together.empty()) return;
    std::size_t n_joint = 1;
    for (const Var variable : together) n_joint *= weigher.card(variable);
    n_sums += n_joint;
  }

  std::span<const Hole> holes;
  std::span<const Var> together;
  std::size_t first_together = 0;  // among the sums
  std::size_t n_sums = 0;
};

Sums add_up(const Weigher& weigher, const Question& question, std::size_t size, Scratch& scratch) {
  Sums sums(question.n_sums);
  auto& weight = scratch.log_weight;
  sums.peak = *std::max_element(weight.begin(), weight.begin() + static_cast<long>(size));
  if (sums.peak == kNone) return sums;
  for (std::size_t k = 0; k < size; ++k) {
    weight[k] = std::exp(weight[k] - sums.peak);
    sums.total += weight[k];
    sums.squares += weight[k] * weight[k];
  }
  std::size_t at = 0;
  for (const Hole& hole : question.holes) {
    const std::uint8_t* codes = scratch.cells.data() + hole.variable * kBlock;
    for (std::size_t k = 0; k < size; ++k) {
      sums.by_state[at + codes[k]] += weight[k];
      sums.squares_by_state[at + codes[k]] += weight[k] * weight[k];
    }
    at += weigher.card(hole.variable);
  }
  for (std::size_t k = 0; k < size && !question.together.empty(); ++k) {
    std::size_t state = 0;
    for (const Var variable : question.together)
      state = state * weigher.card(variable) + scratch.cells[variable * kBlock + k];
    sums.by_state[at + state] += weight[k];
    sums.squares_by_state[at + state] += weight[k] * weight[k];
  }
  return sums;
}

// Wanted cells row by row; those of row r are holes[first[r] .. first[r + 1]).
struct WantedCells {
  std::vector<Hole> holes;
  std::vector<std::size_t> first;
  std::size_t n_probabilities = 0;

  std::span<const Hole> of(std::size_t row) const {
    return std::span(holes).subspan(first[row], first[row + 1] - first[row]);
  }
};

WantedCells find_holes(const Weigher& weigher, std::size_t n_vars, std::size_t n_rows) {
  WantedCells found;
  std::vector<std::size_t> next(n_vars);
  for (std::size_t variable = 0; variable < n_vars; ++variable) {
    next[variable] = found.n_probabilities;
    std::size_t n_missing = 0;
    for (std::size_t row = 0; row < n_rows; ++row) n_missing += weigher.is_wanted(variable, row);
    found.n_probabilities += n_missing * weigher.card(variable);
  }
  found.first.push_back(0);
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t variable = 0; variable < n_vars; ++variable) {
      if (!weigher.is_wanted(variable, row)) continue;
      found.holes.push_back({variable, next[variable]});
      next[variable] += weigher.card(variable);
    }
    found.first.push_back(found.holes.size());
  }
  return found;
}

void write(const Weigher& weigher, const Question& question, const Sums& sums, std::size_t row,
           std::size_t n_samples, Weighted& result) {
  const bool is_possible = sums.peak != kNone;
  result.log_evidence[row] =
      is_possible ? sums.peak + std::log(sums.total / static_cast<double>(n_samples)) : kNone;
  result.effective[row] = is_possible ? sums.total * sums.total / sums.squares : 0.0;
  const auto write_share = [&](std::size_t from, double& share, double& error) {
    share = error = std::numeric_limits<double>::quiet_NaN();
    if (!is_possible) return;
    const double p = sums.by_state[from] / sums.total;
    // The variance of a ratio of means, to first order.
    const double spread = sums.squares_by_state[from] * (1 - 2 * p) + p * p * sums.squares;
    share = p;
    error = std::sqrt(std::max(spread, 0.0)) / sums.total;
  };
  std::size_t from = 0;
  for (const Hole& hole : question.holes) {
    const std::size_t card = weigher.card(hole.variable);
    for (std::size_t state = 0; state < card; ++state, ++from)
      write_share(from, result.probabilities[hole.at + state], result.errors[hole.at + state]);
  }
  if (question.together.empty()) return;
  result.joint.resize(question.n_sums - from);
  result.joint_errors.resize(question.n_sums - from);
  for (std::size_t k = 0; from < question.n_sums; ++from, ++k)
    write_share(from, result.joint[k], result.joint_errors[k]);
}

// One request: the draws of many rows are shared out by row, those of few rows by block.
class Task {
 public:
  Task(const Weigher& weigher_, std::size_t n_vars, std::size_t n_rows, std::size_t n_samples_,
       std::size_t n_threads, const Stop& stop)
      : weigher(weigher_),
        n_samples(n_samples_),
        by_row_(n_rows >= kFewRows),
        n_rows_(n_rows),
        stop_(stop),
        scratch_(resolve_threads(n_threads), Scratch(n_vars)) {}

  const Weigher& weigher;
  const std::size_t n_samples;

  // work(row, thread) returns false when it was stopped.
  template <class Work>
  bool for_rows(Work&& work) {
    if (by_row_) {
      return parallel_for(n_rows_, scratch_.size(), stop_,
                          [&](std::size_t row, std::size_t thread) { work(row, thread); });
    }
    for (std::size_t row = 0; row < n_rows_; ++row) {
      if (!work(row, 0)) return false;
    }
    return true;
  }

  // Calls work(block, scratch) for blocks first .. last of the row that `row_thread` has.
  template <class Work>
  bool for_blocks(std::size_t first, std::size_t last, std::size_t row_thread, Work&& work) {
    if (!by_row_) {
      // A few blocks end before parallel_for looks for the first time.
      if (stop_.poll()) return false;
      return parallel_for(
          last - first, scratch_.size(), stop_,
          [&](std::size_t block, std::size_t thread) { work(first + block, scratch_[thread]); });
    }
    for (std::size_t block = first; block < last; ++block) work(block, scratch_[row_thread]);
    return true;
  }

  Scratch& scratch(std::size_t thread) { return scratch_[thread]; }

 private:
  bool by_row_;
  std::size_t n_rows_;
  const Stop& stop_;
  std::vector<Scratch> scratch_;  // per thread
};

bool weigh_row(Task& task, const Question& question, std::size_t row, std::size_t row_thread,
               Weighted& result) {
  const Plan plan = task.weigher.plan(row);
  const std::size_t n_here = plan.is_certain ? 1 : task.n_samples;
  const std::size_t n_blocks = (n_here + kBlock - 1) / kBlock;
  Sums sums(question.n_sums);
  for (std::size_t done = 0; done < n_blocks; done += kBlocksAtOnce) {
    const std::size_t n_now = std::min(kBlocksAtOnce, n_blocks - done);
    std::vector<Sums> parts(n_now, Sums(0));
    const auto add = [&](std::size_t block, Scratch& own) {
      const std::size_t first = block * kBlock;
      const std::size_t size = std::min(kBlock, n_here - first);
      task.weigher.run(plan, row, first, size, own);
      parts[block - done] = add_up(task.weigher, question, size, own);
    };
    if (!task.for_blocks(done, done + n_now, row_thread, add)) return false;
    for (Sums& part : parts) sums.merge(part);
  }
  write(task.weigher, question, sums, row, n_here, result);
  if (plan.is_certain && result.effective[row] > 0)
    result.effective[row] = static_cast<double>(task.n_samples);
  return true;
}

// Number of the draw in which a running sum of weights passes a random share of the total.
std::size_t pick(std::span<const double> sums, std::uint64_t seed, std::size_t row,
                 std::size_t draw) {
  const std::array key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  const auto bits = philox(
      {static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(row), 0u, kPickStream}, key);
  const double at = to_unit(bits[0], bits[1]) * sums.back();
  auto found = std::upper_bound(sums.begin(), sums.end(), at);
  // Rounding may put `at` on the total itself, beyond the last draw with a weight.
  if (found == sums.end()) found = std::lower_bound(sums.begin(), sums.end(), sums.back());
  return static_cast<std::size_t>(found - sums.begin());
}

// Running sums of the weights of a row's draws, empty when all are zero; the log of their mean
// and their effective number go to `result`. False when stopped.
bool sum_weights(Task& task, const Plan& plan, std::size_t row, std::size_t thread,
                 std::vector<double>& sums, WeightedDraws& result) {
  const std::size_t n_here = plan.is_certain ? 1 : task.n_samples;
  sums.resize(n_here);  // log-weights at first
  const auto weigh_block = [&](std::size_t block, Scratch& own) {
    const std::size_t first = block * kBlock, size = std::min(kBlock, n_here - first);
    task.weigher.run(plan, row, first, size, own);
    std::copy_n(own.log_weight.begin(), size, sums.begin() + static_cast<std::ptrdiff_t>(first));
  };
  if (!task.for_blocks(0, (n_here + kBlock - 1) / kBlock, thread, weigh_block)) return false;
  const double peak = *std::max_element(sums.begin(), sums.end());
  result.log_evidence[row] = kNone;
  double total = 0.0, squares = 0.0;
  if (peak == kNone) {
    sums.clear();
    return true;
  }
  for (double& sum : sums) {
    const double weight = std::exp(sum - peak);
    total += weight;
    squares += weight * weight;
    sum = total;
  }
  result.log_evidence[row] = peak + std::log(total / static_cast<double>(n_here));
  result.effective[row] =
      plan.is_certain ? static_cast<double>(task.n_samples) : total * total / squares;
  return true;
}

}  // namespace

Weighted weigh(const FlatNetwork& network, std::span<const Var> order, const Table& table,
               std::span<const std::uint8_t> is_wanted, std::span<const Var> together,
               std::size_t n_samples, std::uint64_t seed, std::size_t n_threads, const Stop& stop) {
  const Weigher weigher(network, order, table, is_wanted, seed);
  require(n_samples >= 1, "at least one draw is needed");
  require(together.empty() || table.n_rows == 1, "a joint distribution is that of one row");
  for (const Var variable : together)
    require(variable < network.n_vars() && weigher.is_wanted(variable, 0),
            "variables asked about together must be wanted");
  const std::size_t n_rows = table.n_rows;
  const WantedCells wanted = find_holes(weigher, network.n_vars(), n_rows);
  Weighted result{.probabilities = std::vector<double>(wanted.n_probabilities),
                  .errors = std::vector<double>(wanted.n_probabilities),
                  .joint = {},
                  .joint_errors = {},
                  .log_evidence = std::vector<double>(n_rows),
                  .effective = std::vector<double>(n_rows)};
  Task task(weigher, network.n_vars(), n_rows, n_samples, n_threads, stop);
  const bool is_complete = task.for_rows([&](std::size_t row, std::size_t thread) {
    return weigh_row(task, Question(weigher, wanted.of(row), together), row, thread, result);
  });
  return is_complete ? result : Weighted{};
}

WeightedDraws weighted_draws(const FlatNetwork& network, std::span<const Var> order,
                             const Table& table, std::size_t n_samples, std::size_t n_draws,
                             std::uint64_t seed, std::size_t n_threads, const Stop& stop) {
  const Weigher weigher(network, order, table, {}, seed);
  require(n_samples >= 1, "at least one draw is needed");
  const std::size_t n_rows = table.n_rows, n_cells = table.cells.size();
  WeightedDraws result{.cells = std::vector<std::uint8_t>(n_draws * n_cells),
                       .log_evidence = std::vector<double>(n_rows),
                       .effective = std::vector<double>(n_rows)};
  for (std::size_t draw = 0; draw < n_draws; ++draw) {
    std::copy(table.cells.begin(), table.cells.end(),
              result.cells.begin() + static_cast<std::ptrdiff_t>(draw * n_cells));
  }
  Task task(weigher, network.n_vars(), n_rows, n_samples, n_threads, stop);
  const auto draw_row = [&](std::size_t row, std::size_t thread) {
    const Plan plan = weigher.plan(row);
    std::vector<double> sums;
    if (!sum_weights(task, plan, row, thread, sums, result)) return false;
    if (plan.is_certain || sums.empty()) return true;
    Scratch& own = task.scratch(thread);
    for (std::size_t draw = 0; draw < n_draws; ++draw) {
      const std::size_t chosen = pick(sums, seed, row, draw), first = chosen - chosen % 2;
      weigher.run(plan, row, first, 2, own);  // the same draw once more
      for (const std::size_t variable : plan.variables) {
        result.cells[draw * n_cells + variable * n_rows + row] =
            own.cells[variable * kBlock + (chosen - first)];
      }
    }
    return true;
  };
  const bool is_complete = task.for_rows(draw_row);
  return is_complete ? result : WeightedDraws{};
}

}  // namespace bayesmend
