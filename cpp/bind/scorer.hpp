#pragma once

#include <utility>

#include "bind/bind.hpp"
#include "bind/holes.hpp"
#include "bind/stop.hpp"
#include "core/inference/expected.hpp"
#include "core/score/known.hpp"
#include "core/score/score.hpp"

namespace bayesmend::bind {

// Owns what the core only views: the arrays and the counter over them.
class Scorer {
 public:
  Scorer(In<std::uint8_t, 2> columns, In<std::int32_t, 1> card, In<double, 1> weights,
         const ScoreRule& rule, const In<std::uint8_t, 2>& was_missing,
         std::shared_ptr<ShownCells> shown)
      : columns_(std::move(columns)),
        card_(std::move(card)),
        weights_(std::move(weights)),
        counter_(table_of(columns_, card_), view(weights_), flags_of(was_missing, columns_),
                 std::move(shown)),
        scorer_(counter_, rule) {}

  // Scores what is expected of a table with holes; `owner` keeps `holes` alive.
  Scorer(nb::object owner, const HoleTable& holes, In<double, 1> cpts, const ScoreRule& rule,
         std::size_t n_threads, double max_bytes, const WholeCall& call = {})
      : weights_(std::move(cpts)),
        owner_(std::move(owner)),
        expected_(std::make_unique<ExpectedCounts>(holes.holes(), holes.check(weights_), n_threads,
                                                   max_bytes, rule.support > 0.0, call.stop())),
        counter_(holes.holes().table(), holes.holes().total_weight(), *expected_),
        scorer_(counter_, rule) {
    call.raise_if_stopped();
  }
  // Scores counts of sets that are known, of a table that is not here.
  Scorer(In<std::int32_t, 1> card, double total, const ScoreRule& rule, KnownCounts known)
      : card_(std::move(card)),
        known_(std::make_unique<KnownCounts>(std::move(known))),
        counter_(Table{{}, view(card_), card_.size(), 0}, total, *known_),
        scorer_(counter_, rule) {}
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  void limit_tables(double max_bytes, bool passes_by_larger) {
    counter_.limit_tables(max_bytes, passes_by_larger);
  }
  const FamilyScorer& scorer() const { return scorer_; }
  // Null for a complete table.
  const ExpectedCounts* expected() const { return expected_.get(); }

 private:
  // Per variable and row whether the cell was missing before; of no size where none was.
  static std::span<const std::uint8_t> flags_of(const In<std::uint8_t, 2>& was_missing,
                                                const In<std::uint8_t, 2>& columns) {
    if (was_missing.size() == 0) return {};
    if (was_missing.shape(0) != columns.shape(0) || was_missing.shape(1) != columns.shape(1))
      throw std::invalid_argument("the marks of missing cells must have the shape of the table.");
    return view(was_missing);
  }

  In<std::uint8_t, 2> columns_;
  In<std::int32_t, 1> card_;
  In<double, 1> weights_;  // of rows; or the probabilities of a network
  nb::object owner_;
  std::unique_ptr<ExpectedCounts> expected_;
  std::unique_ptr<KnownCounts> known_;
  JointCounter counter_;
  FamilyScorer scorer_;
};

}  // namespace bayesmend::bind
