#include "core/augment/local.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

#include "core/augment/state.hpp"
#include "core/base/bits.hpp"

namespace bayesmend {
namespace {

constexpr double kTolerance = 1e-9;
// Changes tried together: a constant, so that the path does not depend on the threads.
constexpr std::size_t kBatch = 8;
// Below this many variables a dynamic programme costs less than starting a thread.
constexpr std::size_t kParallelVars = 15;
// How often the bound for a completion is improved, and then that for one with changed cells, by
// engines that do.
constexpr std::size_t kFirstSteps = 15, kFlipSteps = 5;
constexpr double kFirstHeat = 16.0, kFlipHeat = 0.5;
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

Mender::Mender(const AugmentProblem& problem, const Stop& stop, std::size_t n_threads,
               bool is_relaxed)
    : problem_(problem),
      stop_(stop),
      scores_(problem.families().size()),
      chosen_(problem.n_vars()),
      climber_(problem, stop) {
  for (std::size_t t = 0; t < std::max<std::size_t>(n_threads, 1); ++t)
    engines_.push_back(make_engine(problem, is_relaxed));
  numbers_.resize(problem.families().size());
  std::iota(numbers_.begin(), numbers_.end(), 0);
}

// Scores every family under the completion; those that see none of the changed cells keep theirs.
void Mender::load(const Completion& completion) {
  std::uint64_t changed = ~std::uint64_t{0};
  if (!loaded_.empty()) {
    changed = 0;
    for (std::size_t cell = 0; cell < completion.size(); ++cell)
      if (completion[cell] != loaded_[cell])
        changed |= std::uint64_t{1} << problem_.cells()[cell].variable;
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

void Mender::guide(std::vector<std::uint32_t> numbers,
                   std::shared_ptr<const ClusterPrices> prices) {
  numbers_ = std::move(numbers);
  guiding_ = std::move(prices);
}

// An engine that is not exact looks near what its bound rests on, which it improves from one
// structure of a climb to the next.
double Mender::find_structure(std::vector<std::uint32_t>& chosen) {
  auto& engine = *engines_[0];
  if (!engine.is_exact()) {
    const bool is_warm = has_bound_ || guiding_ != nullptr;
    if (!has_bound_) engine.load(guiding_.get());
    engine.set_steps(is_warm ? kFlipSteps : kFirstSteps, is_warm ? kFlipHeat : kFirstHeat);
    has_bound_ = true;
    if (engine.bound(numbers_, scores_, total_ + kTolerance, stop_) <= total_ + kTolerance)
      return total_;
  }
  return engine.find(numbers_, scores_, chosen, stop_);
}

// True when the best DAG for the completion beats the present one.
bool Mender::step_structure() {
  if (stop_.is_over()) return false;
  std::vector<std::uint32_t> chosen;
  const double best = find_structure(chosen);
  ++n_solves_;
  if (std::isinf(best) || best <= total_ + kTolerance) return false;
  chosen_.swap(chosen);
  total_ = 0.0;
  for (const auto f : chosen_) total_ += scores_[f];
  return true;
}

void Mender::note(Move move, std::vector<TraceEntry>* trace) const {
  if (trace != nullptr) trace->push_back({total_, stop_.seconds(), move});
}

Pair Mender::best_structure(const Completion& completion) {
  has_bound_ = false;
  load(completion);
  step_structure();
  return {total_, chosen_, completion_};
}

Pair Mender::climb(const Completion& start, std::vector<TraceEntry>* trace) {
  has_bound_ = false;
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
                           bool& is_certified, const std::function<void(const Pair&)>& meet) {
  has_bound_ = false;
  load(start.completion);
  chosen_ = start.families;
  total_ = start.score;
  is_certified = false;
  while (!stop_.is_over() && step_flips(locality, is_certified)) {
    note(Move::flip, trace);
    const Pair met = climb_on(trace);
    if (meet && !stop_.is_over()) meet(met);
  }
  return {total_, chosen_, completion_};
}

// The best total through each family under completion_, or a bound of it.
bool Mender::prepare_through() {
  auto& engine = *engines_[0];
  engine.load(nullptr);
  engine.set_steps(kFirstSteps, kFirstHeat);
  if (std::isinf(engine.bound(numbers_, scores_, total_ + kTolerance, stop_)) ||
      !engine.bound_through(numbers_, scores_, through_, stop_))
    return false;
  prices_ = engine.prices();
  has_bound_ = true;
  return !stop_.is_over();
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
  const std::size_t n_threads = problem_.n_vars() >= kParallelVars ? engines_.size() : 1;
  parallel_for(pending_.size(), n_threads, {}, [&](std::size_t n, std::size_t thread) {
    best[n] = bound_under(pending_[n], *engines_[thread]);
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
    // No better DAG is known: time ran out, or the bound is above the best.
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
std::uint64_t Mender::apply(const Flips& flips, Completion& changed) const {
  changed = completion_;
  std::uint64_t mask = 0;
  for (const auto& flip : flips) {
    changed[flip.cell] = flip.value;
    mask |= std::uint64_t{1} << problem_.cells()[flip.cell].variable;
  }
  return mask;
}

// Of the best DAG when these cells change.
double Mender::bound_under(const Flips& flips, DagEngine& engine) const {
  const auto families = problem_.families();
  Completion changed;
  const std::uint64_t mask = apply(flips, changed);
  std::vector<std::uint32_t> scratch;
  if (stop_.is_over()) return -kMinusInfinity;
  std::vector<double> scores(scores_);
  for (std::size_t f = 0; f < families.size(); ++f)
    if ((families[f].members() & mask) != 0)
      scores[f] = problem_.score(families[f], changed, scratch);
  engine.load(prices_.get());
  engine.set_steps(kFlipSteps, kFlipHeat);
  return engine.bound(numbers_, scores, total_ + kTolerance, stop_);
}

// Fills changes_ for a change of cells; false when a bound shows that no DAG gains by it.
bool Mender::can_gain(const Flips& flips) {
  const auto families = problem_.families();
  Completion& changed = changed_completion_;
  const std::uint64_t mask = apply(flips, changed);
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
  const std::uint64_t bit = std::uint64_t{1} << changed;
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
    menders_[thread] = std::make_unique<Mender>(problem_, stop_, threads_each_, is_relaxed_);
  return *menders_[thread];
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

// The climbs from all starts: first each by itself, then those that ended in different places.
class Climbs {
 public:
  Climbs(const AugmentProblem& problem, const std::vector<AugmentProblem::Completion>& starts,
         std::size_t n_threads, bool is_relaxed, const Stop& stop, Progress* progress,
         Keeper& keeper)
      : problem_(problem),
        starts_(starts),
        // Large problems share the threads within a start, small ones between starts.
        is_large_(problem.n_vars() >= kParallelVars),
        n_outer_(is_large_ ? 1 : std::min(n_threads, starts.size())),
        stop_(stop),
        progress_(progress),
        keeper_(keeper),
        menders_(problem, stop, n_outer_, is_large_ ? n_threads : 1, is_relaxed) {
    if (keeper.earlier().empty())
      begin(Stage::climbing, std::vector<LocalResult>(starts.size()));
    else
      load();
  }

  LocalResult run(std::size_t locality) {
    if (stage_ == Stage::climbing) {
      climb();
      for (const auto& result : results_) n_solves_ += result.n_solves;
      // Which of them there are depends on the time there was.
      begin(Stage::checking, distinct_by_score(std::move(results_)));
    }
    check(locality);
    if (!stop_.is_over()) keeper_.finish([&] { return state(); });
    std::size_t best = 0;
    for (std::size_t s = 0; s < results_.size(); ++s) {
      n_solves_ += results_[s].n_solves;
      if (results_[s].best.score > results_[best].best.score + kTolerance) best = s;
    }
    LocalResult result = std::move(results_[best]);
    result.n_solves = n_solves_;
    result.parents = parents_of(problem_, result.best);
    result.stopped = stop_.look();
    return result;
  }

 private:
  enum class Stage : std::uint8_t { climbing, checking };

  void begin(Stage stage, std::vector<LocalResult> results) {
    stage_ = stage;
    results_ = std::move(results);
    is_done_.assign(results_.size(), 0);
    if (stage == Stage::climbing) return;
    for (auto& result : results_) result.n_solves = 0;
  }

  void climb() {
    parallel_for(starts_.size(), n_outer_, {}, [&](std::size_t s, std::size_t thread) {
      // The first start always gives an answer, however little time there is.
      if (is_done_[s] != 0 || (s > 0 && stop_.is_over())) return;
      LocalResult result;
      result.best_start = s;
      auto& mender = menders_[thread];
      const std::size_t n_before = mender.n_solves();
      result.best = mender.climb(starts_[s], &result.trace);
      result.n_solves = mender.n_solves() - n_before;
      note(s, std::move(result), true);
    });
  }

  void check(std::size_t locality) {
    // The check costs a dynamic programme for many a change: in large problems it is for the best
    // only.
    const std::size_t n_checked = is_large_ ? 1 : results_.size();
    parallel_for(n_checked, n_outer_, {}, [&](std::size_t s, std::size_t thread) {
      if (is_done_[s] != 0 || stop_.is_over()) return;
      LocalResult result = results_[s];
      auto& mender = menders_[thread];
      const std::size_t n_before = mender.n_solves() - result.n_solves;
      const auto meet = [&](const Pair& met) {
        result.best = met;
        result.n_solves = mender.n_solves() - n_before;
        note(s, result, false);
      };
      result.best =
          mender.climb_locally(result.best, locality, &result.trace, result.is_certified, meet);
      result.n_solves = mender.n_solves() - n_before;
      note(s, std::move(result), true);
    });
  }

  void note(std::size_t place, LocalResult result, bool is_done) {
    if (progress_ != nullptr) progress_->note(result.best.score);
    // What time has cut short is an answer, and nothing to go on from.
    const bool is_whole = !stop_.is_over();
    const std::lock_guard lock(mutex_);
    results_[place] = std::move(result);
    if (!is_whole) return;
    is_done_[place] = is_done ? 1 : 0;
    keeper_.offer([&] { return state(); });
  }

  std::string state() const {
    StateWriter out;
    out.put(kLocalState);
    out.put(stage_);
    out.put(n_solves_);
    out.put(is_done_);
    for (const auto& result : results_) {
      out.put(!result.best.families.empty());
      if (!result.best.families.empty()) save(out, result);
    }
    return out.take();
  }

  void load() {
    StateReader in(keeper_.earlier());
    StateReader::require(in.get<std::uint64_t>() == kLocalState);
    stage_ = in.get_below<Stage>(2);
    n_solves_ = in.get<std::size_t>();
    is_done_ = in.get_all_below<std::uint8_t>(2);
    const std::size_t size = is_done_.size();
    StateReader::require(stage_ == Stage::climbing ? size == starts_.size()
                                                   : size > 0 && size <= starts_.size());
    results_.resize(size);
    for (std::size_t s = 0; s < size; ++s) {
      const bool is_there = in.get_flag();
      if (is_there) results_[s] = read_local_result(in, problem_);
      StateReader::require(is_there || (stage_ == Stage::climbing && is_done_[s] == 0));
    }
    in.require_end();
  }

  const AugmentProblem& problem_;
  const std::vector<AugmentProblem::Completion>& starts_;
  bool is_large_;
  std::size_t n_outer_;
  const Stop& stop_;
  Progress* progress_;
  Keeper& keeper_;
  Menders menders_;
  Stage stage_ = Stage::climbing;
  std::vector<LocalResult> results_;
  std::vector<std::uint8_t> is_done_;
  std::size_t n_solves_ = 0;  // of the stages that are over
  std::mutex mutex_;
};

}  // namespace

LocalResult mend_from(const AugmentProblem& problem,
                      const std::vector<AugmentProblem::Completion>& starts, std::size_t locality,
                      std::size_t n_threads, bool is_relaxed, const Stop& stop, Progress* progress,
                      Keeper& keeper) {
  return Climbs(problem, starts, resolve_threads(n_threads), is_relaxed, stop, progress, keeper)
      .run(locality);
}

}  // namespace bayesmend
