#include "core/augment/local.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "core/base/bits.hpp"

namespace bayesmend {
namespace {

constexpr double kTolerance = 1e-9;
// Changes tried together: a constant, so that the path does not depend on the threads.
constexpr std::size_t kBatch = 8;
// Below this many variables a dynamic programme costs less than starting a thread.
constexpr std::size_t kParallelVars = 15;
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace

std::vector<std::vector<Var>> parents_of(const AugmentProblem& problem, const Pair& pair) {
  std::vector<std::vector<Var>> parents;
  for (const auto f : pair.families) {
    const auto members = problem.members(problem.families()[f]);
    parents.emplace_back(members.begin(), members.end() - 1);
  }
  return parents;
}

Mender::Mender(const AugmentProblem& problem, const Stop& stop, std::size_t n_threads)
    : problem_(problem),
      stop_(stop),
      scores_(problem.families().size()),
      chosen_(problem.n_vars()),
      climber_(problem, stop) {
  for (std::size_t t = 0; t < std::max<std::size_t>(n_threads, 1); ++t)
    programs_.push_back(std::make_unique<SubsetProgram>(problem.n_vars()));
}

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

// True when the best DAG for the completion beats the present one.
bool Mender::step_structure() {
  if (stop_.is_over()) return false;
  const auto families = problem_.families();
  const double best = best_under({}, *programs_[0]);
  ++n_solves_;
  if (std::isinf(best) || best <= total_ + kTolerance) return false;
  const auto allowed = programs_[0]->predecessors();
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

void Mender::note(Move move, std::vector<TraceEntry>* trace) const {
  if (trace != nullptr) trace->push_back({total_, stop_.seconds(), move});
}

Pair Mender::best_structure(const Completion& completion) {
  load(completion);
  step_structure();
  return {total_, chosen_, completion_};
}

Pair Mender::climb(const Completion& start, std::vector<TraceEntry>* trace) {
  load(start);
  step_structure();
  note(Move::start, trace);
  return climb_on(trace);
}

// Climbs from the present pair.
Pair Mender::climb_on(std::vector<TraceEntry>* trace) {
  while (!stop_.is_over() && climber_.improve(chosen_, completion_)) {
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

Pair Mender::climb_locally(const Pair& start, std::size_t locality, std::vector<TraceEntry>* trace,
                           bool& is_certified) {
  load(start.completion);
  chosen_ = start.families;
  total_ = start.score;
  is_certified = false;
  while (!stop_.is_over() && step_flips(locality, is_certified)) {
    note(Move::flip, trace);
    climb_on(trace);
  }
  return {total_, chosen_, completion_};
}

bool Mender::prepare_through() {
  const auto families = problem_.families();
  through_.resize(families.size());
  if (std::isinf(best_under({}, *programs_[0])) || !programs_[0]->pass_backward(stop_))
    return false;
  std::vector<double> around;
  for (std::size_t v = 0; v < problem_.n_vars(); ++v) {
    if (stop_.is_over()) return false;
    programs_[0]->around(v, around);
    for (std::size_t f = problem_.first_family(v); f < problem_.last_family(v); ++f)
      through_[f] = scores_[f] + around[squeeze(families[f].parents, v)];
  }
  return true;
}

// Looks for a better pair within `locality` changed cells; takes the first one found. Sets
// `is_certified` when there is none and the search was not cut short.
bool Mender::step_flips(std::size_t locality, bool& is_certified) {
  if (!prepare_through()) return false;
  Flips flips;
  pending_.clear();
  bool is_complete = true;
  if (try_flips(0, locality, flips, is_complete) || try_pending(is_complete)) return true;
  // The last change may have been cut short.
  is_certified = is_complete && !stop_.is_over();
  return false;
}

// Changes of up to `left` more cells from `next_cell` on; those that a bound does not rule out wait
// in pending_ to be tried together.
bool Mender::try_flips(std::size_t next_cell, std::size_t left, Flips& flips, bool& is_complete) {
  for (std::size_t cell = next_cell; left > 0 && cell < problem_.n_cells(); ++cell) {
    for (std::uint32_t value = 0; value < problem_.cells()[cell].card; ++value) {
      if (value == completion_[cell]) continue;
      if (stop_.is_over()) is_complete = false;
      if (!is_complete) return false;
      flips.push_back({static_cast<std::uint32_t>(cell), static_cast<std::uint8_t>(value)});
      if (can_gain(flips)) pending_.push_back(flips);
      if (pending_.size() == kBatch && try_pending(is_complete)) return true;
      if (try_flips(cell + 1, left - 1, flips, is_complete)) return true;
      flips.pop_back();
    }
  }
  return false;
}

// Finds the best DAG for each pending change, in parallel where that takes long; moves to the
// first that beats the present pair.
bool Mender::try_pending(bool& is_complete) {
  std::vector<double> best(pending_.size(), kMinusInfinity);
  const std::size_t n_threads = problem_.n_vars() >= kParallelVars ? programs_.size() : 1;
  parallel_for(pending_.size(), n_threads, {}, [&](std::size_t n, std::size_t thread) {
    best[n] = best_under(pending_[n], *programs_[thread]);
  });
  n_solves_ += pending_.size();
  for (std::size_t n = 0; n < pending_.size(); ++n) {
    if (best[n] == -kMinusInfinity) is_complete = false;
    if (std::isinf(best[n]) || best[n] <= total_ + kTolerance) continue;
    const Pair before{total_, chosen_, completion_};
    Completion changed;
    apply(pending_[n], changed);
    load(changed);
    step_structure();
    if (total_ > before.score + kTolerance) return true;
    // Time ran out before the better DAG could be read off.
    load(before.completion);
    chosen_ = before.families;
    total_ = before.score;
    is_complete = false;
    return false;
  }
  pending_.clear();
  return false;
}

// The present completion with some cells changed; returns the variables of these as a mask.
std::uint32_t Mender::apply(const Flips& flips, Completion& changed) const {
  changed = completion_;
  std::uint32_t mask = 0;
  for (const auto& flip : flips) {
    changed[flip.cell] = flip.value;
    mask |= std::uint32_t{1} << problem_.cells()[flip.cell].variable;
  }
  return mask;
}

// Score of the best DAG when these cells change.
double Mender::best_under(const Flips& flips, SubsetProgram& program) const {
  const auto families = problem_.families();
  Completion changed;
  const std::uint32_t mask = apply(flips, changed);
  std::vector<std::uint32_t> scratch;
  if (stop_.is_over()) return -kMinusInfinity;
  program.clear();
  for (std::size_t f = 0; f < families.size(); ++f) {
    const bool changes = (families[f].members() & mask) != 0;
    program.offer(families[f].child, families[f].parents,
                  changes ? problem_.score(families[f], changed, scratch) : scores_[f]);
  }
  return program.solve(stop_);
}

// Fills changes_ for a change of cells; false when a bound shows that no DAG gains by it.
bool Mender::can_gain(const Flips& flips) {
  const auto families = problem_.families();
  Completion& changed = changed_completion_;
  const std::uint32_t mask = apply(flips, changed);
  changes_.resize(families.size());
  for (std::size_t f = 0; f < families.size(); ++f)
    changes_[f] = (families[f].members() & mask) == 0
                      ? 0.0
                      : problem_.score(families[f], changed, count_scratch_) - scores_[f];
  return std::popcount(mask) == 1 ? can_gain_by(static_cast<std::size_t>(std::countr_zero(mask)))
                                  : can_gain_by_any();
}

// The most that each variable can gain, over families that could be in a better DAG given what
// the others can gain: shrinks until it settles. False when nothing is left to gain.
bool Mender::can_gain_by_any() {
  const std::size_t n_vars = problem_.n_vars();
  std::vector<double> most(n_vars, kMinusInfinity);
  double sum = 0.0;
  for (std::size_t v = 0; v < n_vars; ++v) {
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
  return sum > kTolerance;
}

// The same where cells of one variable change: of two variables only one can be the parent of the
// other, so what a child gains by `changed` as its parent and what `changed` gains by the child as
// its own never add up.
bool Mender::can_gain_by(std::size_t changed) {
  const auto families = problem_.families();
  const std::size_t n_vars = problem_.n_vars();
  const std::uint32_t bit = std::uint32_t{1} << changed;
  // Of each other variable with `changed` as a parent; at least nothing, without it.
  std::vector<double> as_child(n_vars, 0.0), without(n_vars);
  for (std::size_t c = 0; c < n_vars; ++c)
    for (std::size_t f = problem_.first_family(c); c != changed && f < problem_.last_family(c); ++f)
      as_child[c] = std::max(as_child[c], changes_[f]);
  double own = kMinusInfinity;
  for (bool shrinks = true; shrinks;) {
    shrinks = false;
    double sum = 0.0;
    for (const auto gain : as_child) sum += gain;
    own = kMinusInfinity;
    std::fill(without.begin(), without.end(), kMinusInfinity);
    for (std::size_t f = problem_.first_family(changed); f < problem_.last_family(changed); ++f) {
      double others = sum;
      for_each_bit(families[f].parents, [&](Var parent) { others -= as_child[parent]; });
      if (through_[f] + changes_[f] + others <= total_ + kTolerance) continue;
      own = std::max(own, changes_[f]);
      for (std::size_t c = 0; c < n_vars; ++c)
        if ((families[f].parents >> c & 1) == 0) without[c] = std::max(without[c], changes_[f]);
    }
    if (own == kMinusInfinity) return false;
    for (std::size_t c = 0; c < n_vars; ++c) {
      if (as_child[c] == 0.0) continue;
      double gain = 0.0;
      for (std::size_t f = problem_.first_family(c); f < problem_.last_family(c); ++f)
        if ((families[f].parents & bit) != 0 && changes_[f] > gain &&
            through_[f] + changes_[f] + without[c] + (sum - as_child[c]) > total_ + kTolerance)
          gain = changes_[f];
      if (gain >= as_child[c] - 1e-12) continue;
      as_child[c] = gain;
      shrinks = true;
    }
  }
  return true;
}

Mender& Menders::operator[](std::size_t thread) {
  if (!menders_[thread])
    menders_[thread] = std::make_unique<Mender>(problem_, stop_, threads_each_);
  return *menders_[thread];
}

std::size_t Menders::n_solves() const {
  std::size_t total = 0;
  for (const auto& mender : menders_)
    if (mender) total += mender->n_solves();
  return total;
}

namespace {

// The starts that gave an answer, best first; those that met, once.
std::vector<LocalResult> distinct_by_score(std::vector<LocalResult> results) {
  std::erase_if(results, [](const LocalResult& r) { return r.best.families.empty(); });
  std::ranges::stable_sort(results, std::greater<>(),
                           [](const LocalResult& r) { return r.best.score; });
  std::vector<LocalResult> distinct;
  for (auto& result : results)
    if (std::ranges::none_of(distinct, [&](const LocalResult& other) {
          return other.best.completion == result.best.completion;
        }))
      distinct.push_back(std::move(result));
  return distinct;
}

}  // namespace

LocalResult mend_from(const AugmentProblem& problem,
                      const std::vector<AugmentProblem::Completion>& starts, std::size_t locality,
                      std::size_t n_threads, const Stop& stop, Progress* progress) {
  n_threads = resolve_threads(n_threads);
  // Large problems share the threads within a start, small ones between starts.
  const bool is_large = problem.n_vars() >= kParallelVars;
  const std::size_t n_outer = is_large ? 1 : std::min(n_threads, starts.size());
  Menders menders(problem, stop, n_outer, is_large ? n_threads : 1);
  std::vector<LocalResult> results(starts.size());
  parallel_for(starts.size(), n_outer, {}, [&](std::size_t s, std::size_t thread) {
    // The first start always gives an answer, however little time there is.
    if (s > 0 && stop.is_over()) return;
    results[s].best_start = s;
    results[s].best = menders[thread].climb(starts[s], &results[s].trace);
    if (progress != nullptr) progress->note(results[s].best.score);
  });
  results = distinct_by_score(std::move(results));
  // The check costs a dynamic programme for many a change: in large problems it is for the best
  // only.
  const std::size_t n_checked = is_large ? 1 : results.size();
  parallel_for(n_checked, n_outer, {}, [&](std::size_t s, std::size_t thread) {
    if (stop.is_over()) return;
    auto& result = results[s];
    result.best =
        menders[thread].climb_locally(result.best, locality, &result.trace, result.is_certified);
    if (progress != nullptr) progress->note(result.best.score);
  });
  std::size_t best = 0;
  for (std::size_t s = 1; s < results.size(); ++s)
    if (results[s].best.score > results[best].best.score + kTolerance) best = s;
  LocalResult result = std::move(results[best]);
  result.n_solves = menders.n_solves();
  result.parents = parents_of(problem, result.best);
  result.stopped = stop.look();
  return result;
}

}  // namespace bayesmend
