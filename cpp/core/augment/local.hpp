#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/augment/engine.hpp"
#include "core/augment/patternclimb.hpp"
#include "core/augment/problem.hpp"
#include "core/base/state.hpp"

namespace bayesmend {

enum class Move : std::uint8_t { start, structure, completion, flip };

struct TraceEntry {
  double score;
  double seconds;
  Move move;
};

// A DAG (one family per variable) and a completion.
struct Pair {
  double score = 0.0;
  std::vector<std::uint32_t> families;
  AugmentProblem::Completion completion;
};
// Of each variable, ascending.
std::vector<std::vector<Var>> parents_of(const AugmentProblem& problem, const Pair& pair);

// What every search over pairs hands back.
struct SearchResult {
  Pair best;
  std::vector<std::vector<Var>> parents;  // of each variable in the best DAG
  std::vector<TraceEntry> trace;          // of the way to it
  StopReason stopped = StopReason::nothing;
};

// Local search over pairs of one problem: the best DAG for a completion, or the best one that is
// found where the engine is not exact; the best completion for a DAG pattern by pattern; and
// changes of up to t cells with the DAG free.
class Mender {
 public:
  Mender(const AugmentProblem& problem, const Stop& stop, std::size_t n_threads, bool is_relaxed);

  // Of an engine that is not exact: structures are sought among these families only, and from these
  // prices.
  void guide(std::vector<std::uint32_t> numbers, std::shared_ptr<const ClusterPrices> prices);
  // Climbs from a full completion; ends where neither step alone helps.
  Pair climb(const AugmentProblem::Completion& start, std::vector<TraceEntry>* trace);
  // Climbs on from a pair until no change of up to `locality` cells with any DAG is better. Sets
  // `is_certified` to whether that was checked to the end. `meet` is told each pair on the way,
  // from which it could be begun anew.
  Pair climb_locally(const Pair& start, std::size_t locality, std::vector<TraceEntry>* trace,
                     bool& is_certified, const std::function<void(const Pair&)>& meet = {});
  // The best DAG for a completion.
  Pair best_structure(const AugmentProblem::Completion& completion);

  std::size_t n_solves() const { return n_solves_; }
  // Of the engine of the first thread, since it was last asked.
  double take_work() { return engines_[0]->take_work(); }

 private:
  using Completion = AugmentProblem::Completion;

  void load(const Completion& completion);
  bool step_structure();
  double find_structure(std::vector<std::uint32_t>& chosen);
  Pair climb_on(std::vector<TraceEntry>* trace);
  // Cells and the values they would take.
  struct Flip {
    std::uint32_t cell;
    std::uint8_t value;
  };
  using Flips = std::vector<Flip>;

  bool step_flips(std::size_t locality, bool& is_certified);
  bool try_flips(std::size_t next_cell, std::size_t left, Flips& flips, bool& is_complete);
  bool try_pending(bool& is_complete);
  std::uint64_t apply(const Flips& flips, Completion& changed) const;
  double bound_under(const Flips& flips, DagEngine& engine) const;
  bool can_gain(const Flips& flips);
  bool can_gain_by_any();
  bool can_gain_by(std::size_t changed);
  bool prepare_through();
  void note(Move move, std::vector<TraceEntry>* trace) const;

  const AugmentProblem& problem_;
  const Stop& stop_;
  std::vector<std::unique_ptr<DagEngine>> engines_;  // one per thread
  std::vector<std::uint32_t> numbers_;               // of the families that are looked at
  std::shared_ptr<const ClusterPrices> guiding_;     // of the first structure of a climb
  Completion completion_, loaded_;                   // scores_ belong to loaded_
  std::vector<double> scores_;                       // of every family under loaded_
  std::vector<std::uint32_t> chosen_;                // family of each variable
  double total_ = 0.0;
  bool has_bound_ = false;  // the first engine has prices of this climb
  std::size_t n_solves_ = 0;

  PatternClimber climber_;
  std::vector<std::uint32_t> count_scratch_;
  std::vector<double> through_;                  // best total through each family under completion_
  std::shared_ptr<const ClusterPrices> prices_;  // of the bounds in through_
  std::vector<double> changes_;                  // of every family by the flips at hand
  Completion changed_completion_;
  std::vector<Flips> pending_;
};

// One mender per thread, made when it is first needed.
class Menders {
 public:
  Menders(const AugmentProblem& problem, const Stop& stop, std::size_t n_menders,
          std::size_t threads_each, bool is_relaxed)
      : problem_(problem),
        stop_(stop),
        threads_each_(threads_each),
        is_relaxed_(is_relaxed),
        menders_(n_menders) {}
  Mender& operator[](std::size_t thread);

 private:
  const AugmentProblem& problem_;
  const Stop& stop_;
  std::size_t threads_each_;
  bool is_relaxed_;
  std::vector<std::unique_ptr<Mender>> menders_;
};

struct LocalResult : SearchResult {
  bool is_certified = false;  // no change of up to `locality` cells with any DAG is better
  std::size_t best_start = 0;
  std::size_t n_solves = 0;
};

// The best pair reached from any of the starts, going on from what was kept.
LocalResult mend_from(const AugmentProblem& problem,
                      const std::vector<AugmentProblem::Completion>& starts, std::size_t locality,
                      std::size_t n_threads, bool is_relaxed, const Stop& stop, Progress* progress,
                      Keeper& keeper);

}  // namespace bayesmend
