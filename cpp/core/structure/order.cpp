#include "core/structure/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/base/rng.hpp"

namespace bayesmend {
namespace {

// Minus infinity forbids a candidate; such ones come last.
bool is_possible(const ParentLists& lists, std::size_t candidate) {
  return lists.scores[candidate] > -std::numeric_limits<double>::infinity();
}

// A sum of scores where some variables may be without any candidate: they count first, and apart,
// so that the sum keeps its digits.
struct Total {
  std::int64_t n_without = 0;
  double score = 0.0;

  void add(const Total& other, int sign) {
    n_without += sign * other.n_without;
    score += sign * other.score;
  }
  bool beats(const Total& other, double tolerance) const {
    if (n_without != other.n_without) return n_without < other.n_without;
    return score > other.score + tolerance;
  }
};

// For each variable, its candidates by member: which better set does a new predecessor open?
class MemberIndex {
 public:
  explicit MemberIndex(const ParentLists& lists) : first_(lists.n_vars() + 1, 0) {
    std::vector<std::pair<Var, std::size_t>> pairs;
    for (std::size_t v = 0; v < lists.n_vars(); ++v) {
      pairs.clear();
      for (std::size_t c = lists.begin(v); c < lists.end(v) && is_possible(lists, c); ++c)
        for (const auto member : lists.of(c)) pairs.emplace_back(member, c);
      std::sort(pairs.begin(), pairs.end());
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        if (p == 0 || pairs[p].first != pairs[p - 1].first) {
          members_.push_back(pairs[p].first);
          starts_.push_back(candidates_.size());
        }
        candidates_.push_back(pairs[p].second);
      }
      first_[v + 1] = members_.size();
    }
    starts_.push_back(candidates_.size());
  }

  // Candidates of `variable` that contain `member`, best first.
  std::span<const std::size_t> holding(std::size_t variable, Var member) const {
    const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(first_[variable]);
    const auto end = members_.begin() + static_cast<std::ptrdiff_t>(first_[variable + 1]);
    const auto found = std::lower_bound(begin, end, member);
    if (found == end || *found != member) return {};
    const auto m = static_cast<std::size_t>(found - members_.begin());
    return {candidates_.data() + starts_[m], starts_[m + 1] - starts_[m]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<Var> members_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> candidates_;
};

class Chain {
 public:
  Chain(const ParentLists& lists, const MemberIndex& index, const OrderOptions& options, Rng rng,
        const Stop& stop)
      : lists_(lists),
        index_(index),
        options_(options),
        rng_(rng),
        stop_(stop),
        n_vars_(lists.n_vars()),
        position_(n_vars_),
        choice_(n_vars_, kNoSet),
        dirty_(n_vars_, 0) {
    double best = 0.0;
    for (std::size_t v = 0; v < n_vars_; ++v)
      if (is_possible(lists, lists.begin(v))) best += std::abs(lists.scores[lists.begin(v)]);
    // More than sums of such numbers lose by rounding.
    tolerance_ = std::max(1e-9, 1e-13 * best);
  }

  OrderResult run(std::vector<Var> order) {
    set_order(std::move(order));
    std::fill(dirty_.begin(), dirty_.end(), 1);
    climb();
    Snapshot best{order_, position_, choice_};
    Total best_total = total();
    note(best_total);
    std::size_t idle = 0, n_perturbations = 0;
    while (n_vars_ > 2 && idle < options_.patience && !is_over()) {
      perturb();
      climb();
      ++n_perturbations;
      ++idle;
      const Total now = total();
      note(now);
      if (now.beats(best_total, tolerance_)) idle = 0;
      if (!best_total.beats(now, 0.0)) {
        best_total = now;
        best = {order_, position_, choice_};
      } else {
        order_ = best.order;
        position_ = best.position;
        choice_ = best.choice;
      }
    }
    return {.score = best_total.n_without > 0 ? kMinusInfinity : best_total.score,
            .choices = best.choice,
            .n_perturbations = n_perturbations,
            .stopped = stop_.reason()};
  }

 private:
  struct Snapshot {
    std::vector<Var> order;
    std::vector<std::size_t> position;
    std::vector<std::size_t> choice;
  };

  bool is_over() { return stop_.has_ended() || ((++ticks_ & 15) == 0 && stop_.is_over()); }

  bool is_open(std::size_t variable, std::size_t candidate) const {
    for (const auto member : lists_.of(candidate))
      if (position_[member] > position_[variable]) return false;
    return true;
  }

  Total value(std::size_t candidate) const {
    if (candidate == kNoSet) return {1, 0.0};
    return {0, lists_.scores[candidate]};
  }

  void note(const Total& now) const {
    if (options_.progress && now.n_without == 0) options_.progress->note(now.score);
  }

  // First candidate from `from` on that the predecessors allow, or kNoSet.
  std::size_t first_open(std::size_t variable, std::size_t from) const {
    for (auto c = from; c < lists_.offsets[variable + 1]; ++c)
      if (!is_possible(lists_, c))
        break;
      else if (is_open(variable, c))
        return c;
    return kNoSet;
  }

  void set_order(std::vector<Var> order) {
    order_ = std::move(order);
    for (std::size_t q = 0; q < n_vars_; ++q) position_[order_[q]] = q;
    const auto before = choice_;
    for (std::size_t v = 0; v < n_vars_; ++v) choice_[v] = first_open(v, lists_.offsets[v]);
    mark_changes(before);
  }

  // A variable is worth moving again when its own choice changed or that of a child or parent.
  void mark_changes(const std::vector<std::size_t>& before) {
    for (std::size_t v = 0; v < n_vars_; ++v) {
      if (choice_[v] == before[v]) continue;
      dirty_[v] = 1;
      for (const auto choice : {choice_[v], before[v]}) {
        if (choice == kNoSet) continue;
        for (const auto member : lists_.of(choice)) dirty_[member] = 1;
      }
    }
  }

  Total total() const {
    Total sum;
    for (const auto choice : choice_) sum.add(value(choice), 1);
    return sum;
  }

  // From the variables that changed alone, so that no rounding of the others enters.
  Total gain_over(const std::vector<std::size_t>& before) const {
    Total gain;
    for (std::size_t v = 0; v < n_vars_; ++v) {
      if (choice_[v] == before[v]) continue;
      gain.add(value(choice_[v]), 1);
      gain.add(value(before[v]), -1);
    }
    return gain;
  }

  // Exchanges the variables at q and q + 1, and adds to `change` what that brings.
  void swap(std::size_t q, Total& change) {
    const Var left = order_[q], right = order_[q + 1];
    std::swap(order_[q], order_[q + 1]);
    position_[left] = q + 1;
    position_[right] = q;
    // `right` loses a predecessor.
    if (const auto old = choice_[right]; old != kNoSet) {
      const auto members = lists_.of(old);
      if (std::ranges::find(members, left) != members.end()) {
        choice_[right] = first_open(right, old + 1);
        change.add(value(choice_[right]), 1);
        change.add(value(old), -1);
      }
    }
    // `left` gains one: only sets that hold it are new.
    const auto old = choice_[left];
    for (const auto c : index_.holding(left, right)) {
      if (c >= old) break;
      if (!is_open(left, c)) continue;
      choice_[left] = c;
      change.add(value(c), 1);
      change.add(value(old), -1);
      break;
    }
  }

  // Moves the window of `width` variables that starts at q one place to the left or right.
  void shift_left(std::size_t q, std::size_t width, Total& change) {
    for (std::size_t w = 0; w < width; ++w) swap(q - 1 + w, change);
  }
  void shift_right(std::size_t q, std::size_t width, Total& change) {
    for (std::size_t w = width; w-- > 0;) swap(q + w, change);
  }

  // Tries every place for the window and leaves it at the best.
  void reinsert(std::size_t start, std::size_t width) {
    Total change, best_change;
    std::size_t best = start, q = start;
    auto note_place = [&] {
      if (change.beats(best_change, tolerance_)) best_change = change, best = q;
    };
    while (q > 0) {
      shift_left(q, width, change);
      --q;
      note_place();
    }
    for (; q < start; ++q) shift_right(q, width, change);
    change = {};
    while (q + width < n_vars_) {
      shift_right(q, width, change);
      ++q;
      note_place();
    }
    for (; q > best; --q) shift_left(q, width, change);
  }

  // Moves variables and windows until none that changed can be moved to advantage.
  void climb() {
    std::vector<std::uint8_t> touched(n_vars_, 0);
    std::vector<Var> sequence;
    for (std::size_t width = 1; width <= options_.max_window && width < n_vars_;) {
      sequence.clear();
      for (Var v = 0; v < n_vars_; ++v) {
        touched[v] |= dirty_[v];
        if (width == 1 ? dirty_[v] : touched[v]) sequence.push_back(v);
      }
      if (width == 1) std::fill(dirty_.begin(), dirty_.end(), 0);
      for (std::size_t i = sequence.size(); i > 1; --i)
        std::swap(sequence[i - 1], sequence[rng_.below(i)]);
      bool rose = false;
      for (const auto v : sequence) {
        if (is_over()) return;
        const auto q = position_[v];
        if (q + width > n_vars_) continue;
        const auto before = choice_;
        reinsert(q, width);
        if (!gain_over(before).beats({}, tolerance_)) continue;
        mark_changes(before);
        rose = true;
      }
      // Wider windows only where narrower ones no longer help.
      width = rose ? 1 : width + 1;
    }
  }

  void perturb() {
    const std::size_t n_moves = 1 + rng_.below(5);
    std::fill(dirty_.begin(), dirty_.end(), 0);
    auto order = order_;
    for (std::size_t k = 0; k < n_moves; ++k) {
      const std::size_t from = rng_.below(n_vars_), to = rng_.below(n_vars_);
      const auto moved = order[from];
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), moved);
      dirty_[moved] = 1;
    }
    set_order(std::move(order));
  }

  static constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

  const ParentLists& lists_;
  const MemberIndex& index_;
  const OrderOptions& options_;
  Rng rng_;
  const Stop& stop_;
  std::size_t n_vars_;
  std::vector<Var> order_;
  std::vector<std::size_t> position_;
  std::vector<std::size_t> choice_;
  std::vector<std::uint8_t> dirty_;  // worth moving again
  double tolerance_ = 0.0;
  std::size_t ticks_ = 0;
};

}  // namespace

OrderResult search_orders(const ParentLists& lists, const std::vector<Var>& start,
                          const OrderOptions& options, std::size_t n_threads, const Stop& stop) {
  // Among more variables a climb from a random order takes long and ends low.
  constexpr std::size_t kFewVars = 100;
  const MemberIndex index(lists);
  const std::size_t n_chains = std::max<std::size_t>(options.n_chains, 1);
  n_threads = std::min(resolve_threads(n_threads), n_chains);
  std::vector<OrderResult> results(n_chains);
  // Chains that share a thread share its time.
  const std::size_t rounds = (n_chains + n_threads - 1) / n_threads;
  auto run = [&](std::size_t chain) {
    const std::size_t round = 1 + chain / n_threads;
    const Stop share = stop.share(static_cast<double>(round) / static_cast<double>(rounds));
    Rng rng(options.seed, chain);
    std::vector<Var> order(start);
    if (order.empty() || (chain > 0 && lists.n_vars() <= kFewVars)) {
      order.resize(lists.n_vars());
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    }
    results[chain] = Chain(lists, index, options, rng, share).run(std::move(order));
  };
  parallel_for(
      n_chains, n_threads, stop, [&](std::size_t chain, std::size_t) { run(chain); },
      Caller::waits);
  // On a busy machine the time may be over before the first chain has begun.
  if (results[0].choices.empty()) run(0);
  std::size_t best = 0;
  for (std::size_t c = 1; c < n_chains; ++c)
    if (!results[c].choices.empty() && results[c].score > results[best].score) best = c;
  OrderResult result = results[best];
  result.n_perturbations = 0;
  for (const auto& each : results) {
    result.n_perturbations += each.n_perturbations;
    result.stopped = std::max(result.stopped, each.stopped);
  }
  return result;
}

}  // namespace bayesmend
