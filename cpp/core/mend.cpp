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

}  // namespace

Mender::Mender(const AugmentProblem& problem, const Deadline& deadline)
    : problem_(problem),
      deadline_(deadline),
      program_(problem.n_vars()),
      scores_(problem.families().size()),
      chosen_(problem.n_vars()),
      climber_(problem, deadline) {}

// Scores every family under the completion; those that see none of the changed cells keep theirs.
void Mender::load(const Completion& completion) {
  std::uint32_t changed = ~std::uint32_t{0};
  if (!loaded_.empty()) {
    changed = 0;
    for (std::size_t cell = 0; cell < completion.size(); ++cell)
      if (completion[cell] != loaded_[cell])
        changed |= std::uint32_t{1} << problem_.cells()[cell].variable;
  }
  const auto families = problem_.families();
  for (std::size_t f = 0; f < families.size(); ++f)
    if ((families[f].members() & changed) != 0)
      scores_[f] = problem_.score(families[f], completion, count_scratch_);
  loaded_ = completion;
  completion_ = completion;
  // Only the required arcs, until the best DAG is known; it may not be in time.
  total_ = 0.0;
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    chosen_[v] = static_cast<std::uint32_t>(problem_.first_family(v));
    total_ += scores_[chosen_[v]];
  }
}

// Gives each variable its best family among the predecessors allowed.
void Mender::choose_families(const std::vector<std::uint32_t>& allowed) {
  const auto families = problem_.families();
  total_ = 0.0;
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    double most = kMinusInfinity;
    for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f)
      if ((families[f].parents & ~allowed[v]) == 0 && scores_[f] > most)
        most = scores_[f], chosen_[v] = static_cast<std::uint32_t>(f);
    total_ += most;
  }
}

// True when the best DAG for the completion beats the present one.
bool Mender::step_structure() {
  if (deadline_.is_over()) return false;
  const auto families = problem_.families();
  program_.clear();
  for (std::size_t f = 0; f < families.size(); ++f)
    program_.offer(static_cast<std::size_t>(families[f].child), families[f].parents, scores_[f]);
  const double best = program_.solve(deadline_);
  ++n_solves_;
  if (std::isinf(best) || best <= total_ + kTolerance) return false;
  choose_families(program_.predecessors());
  return true;
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
  while (!deadline_.is_over() && climber_.improve(chosen_, completion_)) {
    const auto chosen = chosen_;
    load(completion_);
    chosen_ = chosen;
    total_ = 0.0;
    for (const auto f : chosen_) total_ += scores_[f];
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
    is_certified = false;
    note(Move::flip, trace);
    pair = {total_, chosen_, completion_};
    Pair higher = climb(completion_, nullptr);
    // Not so when there was no time for the structure.
    if (higher.score <= pair.score + kTolerance) continue;
    pair = std::move(higher);
    note(Move::completion, trace);
  }
  return pair;
}

bool Mender::prepare_through() {
  const auto families = problem_.families();
  program_.clear();
  for (std::size_t f = 0; f < families.size(); ++f)
    program_.offer(static_cast<std::size_t>(families[f].child), families[f].parents, scores_[f]);
  through_.resize(families.size());
  if (std::isinf(program_.solve(deadline_)) || !program_.pass_backward(deadline_)) return false;
  std::vector<double> around;
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    if (deadline_.is_over()) return false;
    program_.around(v, around);
    const std::uint32_t low = (std::uint32_t{1} << v) - 1;
    for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f) {
      const std::uint32_t mask = families[f].parents;
      through_[f] = scores_[f] + around[(mask & low) | ((mask >> 1) & ~low)];
    }
  }
  return true;
}

// Looks for a better pair within `locality` changed cells; takes the first one found. Sets
// `is_certified` when there is none and the search was not cut short.
bool Mender::step_flips(std::size_t locality, bool& is_certified) {
  if (!prepare_through()) return false;
  changes_.assign(problem_.families().size(), 0.0);
  bool is_complete = true;
  changed_.clear();
  if (try_flips(0, locality, is_complete)) return true;
  // The last change may have been cut short.
  is_certified = is_complete && !deadline_.is_over();
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
  for (const auto cell : changed_) mask |= std::uint32_t{1} << problem_.cells()[cell].variable;
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
  const double best = program_.solve(deadline_);
  if (std::isinf(best) || best <= total_ + kTolerance) return false;
  const auto allowed = program_.predecessors();
  load(completion_);
  choose_families(allowed);
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
    result.best =
        menders[thread]->climb_locally(starts[s], locality, &result.trace, result.is_certified);
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
