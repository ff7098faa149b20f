#include "core/mend.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>

namespace bayesmend {
namespace {

constexpr double kTolerance = 1e-9;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();
// Patterns with more joint states than this are improved cell by cell.
constexpr std::size_t kMaxJointStates = 64;

}  // namespace

Mender::Mender(const AugmentProblem& problem, const Deadline& deadline)
    : problem_(problem),
      deadline_(deadline),
      program_(problem.n_vars()),
      scores_(problem.families().size()),
      chosen_(problem.n_vars()),
      chosen_counts_(problem.n_vars()),
      chosen_configs_(problem.n_vars()),
      item_of_(problem.n_vars() * problem.n_patterns()) {}

void Mender::load(const Completion& completion) {
  completion_ = completion;
  const auto families = problem_.families();
  for (std::size_t f = 0; f < families.size(); ++f)
    scores_[f] = problem_.score(families[f], completion_, count_scratch_);
  total_ = kMinusInfinity;
}

// True when the best DAG for the completion beats the present one.
bool Mender::step_structure() {
  const auto families = problem_.families();
  program_.clear();
  for (std::size_t f = 0; f < families.size(); ++f)
    program_.offer(static_cast<std::size_t>(families[f].child), families[f].parents, scores_[f]);
  const double best = program_.solve();
  ++n_solves_;
  if (best <= total_ + kTolerance) return false;
  const auto allowed = program_.predecessors();
  total_ = 0.0;
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    double most = kMinusInfinity;
    for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f)
      if ((families[f].parents & ~allowed[v]) == 0 && scores_[f] > most)
        most = scores_[f], chosen_[v] = static_cast<std::uint32_t>(f);
    total_ += most;
  }
  return true;
}

// Improves pattern after pattern for the chosen families until none can be; true on any gain.
bool Mender::step_completion() {
  const auto families = problem_.families();
  std::fill(item_of_.begin(), item_of_.end(), 0);
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    const auto& family = families[chosen_[v]];
    const auto base = problem_.base_counts(family);
    auto& counts = chosen_counts_[v];
    auto& configs = chosen_configs_[v];
    counts.assign(base.begin(), base.end());
    const auto items = problem_.items(family);
    for (std::size_t t = 0; t < items.size(); ++t) {
      const auto holes = problem_.holes(items[t]);
      std::uint32_t cell = items[t].offset;
      for (const auto& hole : holes) cell += hole.stride * completion_[hole.cell];
      counts[cell] += items[t].weight;
      const auto pattern = problem_.cells()[holes[0].cell].pattern;
      item_of_[pattern * problem_.n_vars() + v] = static_cast<std::uint32_t>(t + 1);
    }
    configs.assign(counts.size() / family.child_card, 0);
    for (std::size_t c = 0; c < counts.size(); ++c) configs[c / family.child_card] += counts[c];
  }
  double gain = 0.0;
  for (std::size_t p = 0, idle = 0; idle < problem_.n_patterns() && problem_.n_patterns() > 0;
       p = (p + 1) % problem_.n_patterns()) {
    if ((p & 63) == 0 && deadline_.is_over()) break;
    const double more = improve_pattern(p);
    gain += more;
    idle = more > 0.0 ? 0 : idle + 1;
  }
  return gain > 0.0;
}

double Mender::improve_pattern(std::size_t pattern) {
  const auto cells = problem_.cells_of_pattern(pattern);
  std::size_t n_states = 1;
  for (const auto cell : cells) {
    n_states *= static_cast<std::size_t>(problem_.cells()[cell].card);
    if (n_states > kMaxJointStates) break;
  }
  double gain = 0.0;
  auto improve = [&](std::span<const std::uint32_t> group, std::size_t n) {
    std::size_t now = 0;
    for (const auto cell : group)
      now = now * static_cast<std::size_t>(problem_.cells()[cell].card) + completion_[cell];
    score_states(group, n);
    const auto best = static_cast<std::size_t>(
        std::max_element(state_gain_.begin(), state_gain_.end()) - state_gain_.begin());
    const bool is_better = state_gain_[best] > state_gain_[now] + kTolerance;
    if (is_better) gain += state_gain_[best] - state_gain_[now];
    // Put the rows back where they belong now.
    std::size_t state = is_better ? best : now;
    for (std::size_t g = group.size(); g-- > 0;) {
      const auto card = static_cast<std::size_t>(problem_.cells()[group[g]].card);
      completion_[group[g]] = static_cast<std::uint8_t>(state % card);
      state /= card;
    }
    const auto families = problem_.families();
    for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
      const auto number = item_of_[pattern * problem_.n_vars() + v];
      if (number == 0) continue;
      const auto& family = families[chosen_[v]];
      const auto& item = problem_.items(family)[number - 1];
      std::uint32_t cell = item.offset;
      for (const auto& hole : problem_.holes(item)) cell += hole.stride * completion_[hole.cell];
      chosen_counts_[v][cell] += item.weight;
      chosen_configs_[v][cell / family.child_card] += item.weight;
    }
  };
  if (n_states <= kMaxJointStates) {
    improve(cells, n_states);
  } else {
    for (std::size_t g = 0; g < cells.size(); ++g)
      improve(cells.subspan(g, 1), static_cast<std::size_t>(problem_.cells()[cells[g]].card));
  }
  return gain;
}

// Takes the rows of the pattern out of the chosen tables and scores putting them back in every
// joint state of `cells`.
void Mender::score_states(std::span<const std::uint32_t> cells, std::size_t n_states) {
  const auto pattern = problem_.cells()[cells[0]].pattern;
  const auto families = problem_.families();
  state_gain_.assign(n_states, 0.0);
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    const auto number = item_of_[pattern * problem_.n_vars() + v];
    if (number == 0) continue;
    const auto& family = families[chosen_[v]];
    const auto& item = problem_.items(family)[number - 1];
    const auto holes = problem_.holes(item);
    std::uint32_t cell = item.offset;
    for (const auto& hole : holes) cell += hole.stride * completion_[hole.cell];
    chosen_counts_[v][cell] -= item.weight;
    chosen_configs_[v][cell / family.child_card] -= item.weight;
    for (std::size_t s = 0; s < n_states; ++s) {
      std::uint32_t target = cell;
      std::size_t rest = s;
      for (std::size_t g = cells.size(); g-- > 0;) {
        const auto card = static_cast<std::size_t>(problem_.cells()[cells[g]].card);
        const auto value = static_cast<std::uint32_t>(rest % card);
        rest /= card;
        for (const auto& hole : holes)
          if (hole.cell == cells[g]) target += hole.stride * (value - completion_[cells[g]]);
      }
      const std::uint32_t x = chosen_counts_[v][target];
      const std::uint32_t y = chosen_configs_[v][target / family.child_card];
      state_gain_[s] += (*family.joint)(x + item.weight) - (*family.joint)(x) -
                        ((*family.given)(y + item.weight) - (*family.given)(y));
    }
  }
}

void Mender::note(Move move, std::vector<TraceEntry>* trace) const {
  if (trace != nullptr) trace->push_back({total_, deadline_.seconds(), move});
}

Pair Mender::best_structure(const Completion& completion) {
  load(completion);
  step_structure();
  return {total_, chosen_, completion_};
}

Pair Mender::climb(Completion start, std::vector<TraceEntry>* trace) {
  load(start);
  step_structure();
  note(Move::start, trace);
  while (!deadline_.is_over() && step_completion()) {
    load(completion_);
    double total = 0.0;
    for (const auto f : chosen_) total += scores_[f];
    total_ = total;
    note(Move::completion, trace);
    if (!step_structure()) break;
    note(Move::structure, trace);
  }
  return {total_, chosen_, completion_};
}

Pair Mender::climb_locally(Completion start, std::size_t locality, std::vector<TraceEntry>* trace,
                           bool& is_certified) {
  Pair pair = climb(std::move(start), trace);
  is_certified = false;
  while (!deadline_.is_over()) {
    if (!step_flips(locality, is_certified)) break;
    note(Move::flip, trace);
    const double reached = total_;
    pair = climb(completion_, nullptr);
    if (trace != nullptr && total_ > reached + kTolerance) note(Move::completion, trace);
  }
  return pair;
}

void Mender::prepare_through() {
  const auto families = problem_.families();
  program_.clear();
  for (std::size_t f = 0; f < families.size(); ++f)
    program_.offer(static_cast<std::size_t>(families[f].child), families[f].parents, scores_[f]);
  program_.solve();
  program_.pass_backward();
  through_.resize(families.size());
  std::vector<double> around;
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    program_.around(v, around);
    const std::uint32_t low = (std::uint32_t{1} << v) - 1;
    for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f) {
      const std::uint32_t mask = families[f].parents;
      through_[f] = scores_[f] + around[(mask & low) | ((mask >> 1) & ~low)];
    }
  }
}

// Looks for a better pair within `locality` changed cells; takes the first one found. Sets
// `is_certified` when there is none and the search was not cut short.
bool Mender::step_flips(std::size_t locality, bool& is_certified) {
  prepare_through();
  changes_.assign(problem_.families().size(), 0.0);
  bool is_complete = true;
  changed_.clear();
  if (try_flips(0, locality, is_complete)) return true;
  is_certified = is_complete;
  return false;
}

bool Mender::try_flips(std::size_t next_cell, std::size_t left, bool& is_complete) {
  if (left == 0) return false;
  for (std::size_t cell = next_cell; cell < problem_.n_cells(); ++cell) {
    const std::uint8_t old = completion_[cell];
    for (std::int32_t value = 0; value < problem_.cells()[cell].card; ++value) {
      if (value == old) continue;
      if (deadline_.is_over()) {
        is_complete = false;
        return false;
      }
      completion_[cell] = static_cast<std::uint8_t>(value);
      changed_.push_back(static_cast<std::uint32_t>(cell));
      if (try_changed() || try_flips(cell + 1, left - 1, is_complete)) return true;
      changed_.pop_back();
      completion_[cell] = old;
      if (!is_complete) return false;
    }
  }
  return false;
}

// Whether some DAG under the changed completion beats the present pair; if so, moves there.
bool Mender::try_changed() {
  const auto families = problem_.families();
  const std::size_t n_vars = problem_.n_vars();
  std::uint32_t mask = 0;
  for (const auto cell : changed_)
    mask |= std::uint32_t{1} << problem_.cells()[cell].variable;
  for (std::size_t f = 0; f < families.size(); ++f)
    changes_[f] = (families[f].members() & mask) == 0
                      ? 0.0
                      : problem_.score(families[f], completion_, count_scratch_) - scores_[f];
  // The most that each variable can gain, over families that could be in a better DAG given what
  // the others can gain: shrinks until it settles.
  std::vector<double> most(n_vars, std::numeric_limits<double>::infinity());
  double sum = 0.0;
  for (std::size_t v = 0; v < n_vars; ++v) {
    most[v] = kMinusInfinity;
    for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f)
      most[v] = std::max(most[v], changes_[f]);
    sum += most[v];
  }
  for (bool shrinks = true; shrinks && sum > kTolerance;) {
    shrinks = false;
    for (std::size_t v = 0; v < n_vars; ++v) {
      double gain = kMinusInfinity;
      for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f)
        if (through_[f] + changes_[f] + (sum - most[v]) > total_ + kTolerance)
          gain = std::max(gain, changes_[f]);
      if (gain == kMinusInfinity) return false;
      if (gain >= most[v] - 1e-12) continue;
      sum += gain - most[v];
      most[v] = gain;
      shrinks = true;
    }
  }
  if (sum <= kTolerance) return false;
  program_.clear();
  for (std::size_t f = 0; f < families.size(); ++f)
    if (through_[f] + changes_[f] + (sum - most[static_cast<std::size_t>(families[f].child)]) >
        total_ + kTolerance)
      program_.offer(static_cast<std::size_t>(families[f].child), families[f].parents,
                     scores_[f] + changes_[f]);
  ++n_solves_;
  if (program_.solve() <= total_ + kTolerance) return false;
  load(completion_);
  step_structure();
  return true;
}

LocalResult mend_from(const AugmentProblem& problem,
                      const std::vector<AugmentProblem::Completion>& starts, std::size_t locality,
                      std::size_t n_threads, const Deadline& deadline, Progress* progress) {
  std::vector<LocalResult> results(starts.size());
  n_threads = std::min(resolve_threads(n_threads), starts.size());
  std::vector<std::unique_ptr<Mender>> menders(n_threads);
  parallel_for(starts.size(), n_threads, {}, [&](std::size_t s, std::size_t thread) {
    // The first start always gives an answer, however little time there is.
    if (s > 0 && deadline.is_over()) return;
    if (!menders[thread]) menders[thread] = std::make_unique<Mender>(problem, deadline);
    auto& result = results[s];
    const std::size_t before = menders[thread]->n_solves();
    result.best = menders[thread]->climb_locally(starts[s], locality, &result.trace,
                                                 result.is_certified);
    result.n_solves = menders[thread]->n_solves() - before;
    if (progress != nullptr) progress->note(result.best.score);
  });
  std::size_t best = 0;
  for (std::size_t s = 1; s < starts.size(); ++s)
    if (!results[s].best.families.empty() &&
        results[s].best.score > results[best].best.score + kTolerance)
      best = s;
  LocalResult result = std::move(results[best]);
  result.best_start = best;
  for (std::size_t s = 0; s < starts.size(); ++s)
    if (s != best) result.n_solves += results[s].n_solves;
  return result;
}

}  // namespace bayesmend
