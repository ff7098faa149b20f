#pragma once

#include <utility>

#include "bind/bind.hpp"
#include "core/score.hpp"

namespace bayesmend::bind {

// Owns what the core only views: the arrays and the counter over them.
class Scorer {
 public:
  Scorer(In<std::uint8_t, 2> columns, In<std::int32_t, 1> card, In<double, 1> weights, int kind,
         double ess, double arc_penalty)
      : columns_(std::move(columns)),
        card_(std::move(card)),
        weights_(std::move(weights)),
        counter_(Table{view(columns_), view(card_), columns_.shape(0), columns_.shape(1)},
                 view(weights_)),
        scorer_(counter_, ScoreRule{static_cast<ScoreKind>(kind), ess, arc_penalty}) {}

  const FamilyScorer& scorer() const { return scorer_; }

 private:
  In<std::uint8_t, 2> columns_;
  In<std::int32_t, 1> card_;
  In<double, 1> weights_;
  JointCounter counter_;
  FamilyScorer scorer_;
};

}  // namespace bayesmend::bind
