#include "core/structure/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/rng.hpp"

namespace bayesmend {
namespace {

using Indices = std::vector<std::size_t>;
using Vars = std::vector<Var>;

constexpr double kGain = 1e-9;  // nats; a smaller gain is rounding
constexpr double kNone = 1e300;

// Repeatedly places the variable with the largest share of weight on candidates among the
// variables placed before it; ties go to the smallest loss against the best candidate.
Vars order_by_weight(const ParentLists& families, std::span<const double> weights) {
  const std::size_t n = families.n_vars();
  std::vector<Indices> waiting(n);  // candidates by member
  Indices owner(families.n_sets()), unplaced(families.n_sets());
  std::vector<double> share(n, 0.0), loss(n, kNone);
  // A variable without a candidate among the placed ones waits: so every variable gets one
  // whenever an acyclic selection exists.
  const auto before = [&](std::size_t i, std::size_t j) {
    if ((loss[i] < kNone) != (loss[j] < kNone)) return loss[i] < kNone;
    if (std::abs(share[i] - share[j]) > kGain) return share[i] > share[j];
    return loss[i] < loss[j];
  };
  const auto admit = [&](std::size_t c) {
    const std::size_t i = owner[c];
    share[i] += weights[c];
    loss[i] = std::min(loss[i], families.scores[families.begin(i)] - families.scores[c]);
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t c = families.begin(i); c < families.end(i); ++c) {
      owner[c] = i;
      unplaced[c] = families.of(c).size();
      for (const auto m : families.of(c)) {
        waiting[m].push_back(c);
      }
      if (unplaced[c] == 0) admit(c);
    }
  }
  Vars order;
  std::vector<std::uint8_t> placed(n, 0);
  while (order.size() < n) {
    std::size_t best = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (placed[i]) continue;
      if (best == n || before(i, best)) best = i;
    }
    placed[best] = 1;
    order.push_back(static_cast<Var>(best));
    for (const auto c : waiting[best]) {
      if (--unplaced[c] == 0) admit(c);
    }
  }
  return order;
}

// The best family of every variable given an order, kept up to date under moves.
//
// Moving v past u changes only the families of v and u, and u only by whether v precedes
// it, so the value of every place for v follows from one pass over the candidates of v and
// over the candidates that contain v.
class OrderState {
 public:
  explicit OrderState(const ParentLists& families)
      : families_(families), position_(families.n_vars()), containing_(families.n_vars()) {
    double range = 1.0;
    for (std::size_t i = 0; i < families.n_vars(); ++i) {
      range += families.scores[families.begin(i)] - families.scores[families.end(i) - 1];
      for (std::size_t c = families.begin(i); c < families.end(i); ++c) {
        for (const auto m : families.of(c)) {
          containing_[m].push_back({i, c});
        }
      }
    }
    penalty_ = range;  // more than any choice of families can make up for
  }

  void assign(Vars order) {
    order_ = std::move(order);
    chosen.assign(order_.size(), kNoSet);
    for (std::size_t p = 0; p < order_.size(); ++p) position_[order_[p]] = p;
    loss = 0.0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      chosen[i] = first_fit(i);
      loss += cost(i, chosen[i]);
    }
  }

  // Moves v to its best place; true when that gained.
  bool improve(std::size_t v) {
    const std::size_t n = order_.size();
    const auto here = position_[v];
    change_.assign(n + 1, 0.0);
    add_own_places(v, here);
    add_children_left(v, here);
    add_children_right(v, here);
    std::size_t best = here;
    double running = 0.0, best_change = -kGain;
    for (std::size_t p = here; p-- > 0;) {
      running += change_[p];
      if (running + own_[p] < best_change) best_change = running + own_[p], best = p;
    }
    running = 0.0;
    for (std::size_t p = here + 1; p < n; ++p) {
      running += change_[p];
      if (running + own_[p] < best_change) best_change = running + own_[p], best = p;
    }
    if (best == here) return false;
    move(v, best);
    return true;
  }

  void move(std::size_t v, std::size_t to) {
    const auto from = position_[v];
    const auto first = std::min(from, to), last = std::max(from, to);
    const auto begin = order_.begin();
    if (from < to) {
      std::rotate(begin + diff(from), begin + diff(from) + 1, begin + diff(to) + 1);
    } else {
      std::rotate(begin + diff(to), begin + diff(from), begin + diff(from) + 1);
    }
    for (std::size_t p = first; p <= last; ++p) position_[order_[p]] = p;
    for (std::size_t p = first; p <= last; ++p) {
      const auto u = order_[p];
      loss -= cost(u, chosen[u]);
      chosen[u] = first_fit(u);
      loss += cost(u, chosen[u]);
    }
  }

  const Vars& order() const { return order_; }

  Indices chosen;
  double loss = 0.0;  // against the best candidate of every variable

 private:
  static std::ptrdiff_t diff(std::size_t p) { return static_cast<std::ptrdiff_t>(p); }

  double cost(std::size_t i, std::size_t candidate) const {
    if (candidate == kNoSet) return penalty_;
    return families_.scores[families_.begin(i)] - families_.scores[candidate];
  }

  // The best candidate of i among its predecessors; `without` does not count as one.
  std::size_t first_fit(std::size_t i, std::size_t without = kNoSet) const {
    for (std::size_t c = families_.begin(i); c < families_.end(i); ++c) {
      const auto members = families_.of(c);
      const bool fits = std::all_of(members.begin(), members.end(), [&](auto m) {
        return m != without && position_[m] < position_[i];
      });
      if (fits) return c;
    }
    return kNoSet;
  }

  // own_[p]: change of the loss of v itself when it stands at place p.
  void add_own_places(std::size_t v, std::size_t here) {
    const std::size_t n = order_.size();
    own_.assign(n, penalty_);
    std::size_t filled = n;  // places from here on are settled
    for (std::size_t c = families_.begin(v); c < families_.end(v) && filled > 0; ++c) {
      std::size_t place = 0;
      for (const auto m : families_.of(c)) place = std::max(place, position_[m] + 1);
      // Past its old place v has one fewer variable before it.
      if (place > here) --place;
      for (; filled > place; --filled) own_[filled - 1] = cost(v, c);
    }
    const double now = cost(v, chosen[v]);
    for (double& value : own_) value -= now;
  }

  // Children of v that stand before it would gain a candidate with v.
  void add_children_left(std::size_t v, std::size_t here) {
    const auto& all = containing_[v];
    for (std::size_t k = 0; k < all.size();) {
      const auto u = all[k].child;
      const auto place = position_[u];
      const double now = cost(u, chosen[u]);
      bool done = place > here;
      for (; k < all.size() && all[k].child == u; ++k) {
        if (done) continue;
        const double with = cost(u, all[k].candidate);
        if (with >= now) {
          done = true;
          continue;
        }
        const auto members = families_.of(all[k].candidate);
        done = std::all_of(members.begin(), members.end(),
                           [&](auto m) { return m == v || position_[m] < place; });
        if (done) change_[place] += with - now;
      }
    }
  }

  // Children of v that stand after it would lose a family with v.
  void add_children_right(std::size_t v, std::size_t here) {
    for (std::size_t k = 0; k < containing_[v].size(); ++k) {
      const auto [u, candidate] = containing_[v][k];
      if (chosen[u] != candidate || position_[u] < here) continue;
      const double without = cost(u, first_fit(u, v));
      change_[position_[u]] += without - cost(u, candidate);
    }
  }

  struct Use {
    std::size_t child, candidate;
  };

  const ParentLists& families_;
  Vars order_;
  Indices position_;
  std::vector<std::vector<Use>> containing_;
  std::vector<double> own_, change_;
  double penalty_ = 0.0;
};

}  // namespace

Selection order_from_lp(const ParentLists& families, std::span<const double> weights,
                        const RoundingLimits& limits, const Stop& stop) {
  const std::size_t n = families.n_vars();
  OrderState state(families);
  state.assign(order_by_weight(families, weights));
  Rng random(limits.seed);
  const auto climb = [&] {
    for (bool gained = true; gained;) {
      gained = false;
      for (std::size_t v = 0; v < n; ++v) {
        if (stop.is_over()) return;
        gained |= state.improve(v);
      }
    }
  };
  climb();
  Selection best{state.chosen, state.order()};
  double best_loss = state.loss;
  for (std::size_t kick = 0; kick < limits.kicks && n > 1; ++kick) {
    if (stop.is_over()) break;
    for (std::size_t moves = 2 + random.below(3); moves > 0; --moves) {
      const std::size_t v = random.below(n);
      state.move(v, random.below(n));
    }
    climb();
    if (state.loss > best_loss + kGain) {
      state.assign(best.order);
    } else {
      best = {state.chosen, state.order()};
      best_loss = state.loss;
    }
  }
  return best;
}

}  // namespace bayesmend
