#include "core/order.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/rng.hpp"

namespace bayesmend {
namespace {

using Clock = std::chrono::steady_clock;

// For each variable, its candidates by member: which better set does a new predecessor open?
class MemberIndex {
 public:
  explicit MemberIndex(const ParentLists& lists) : first_(lists.n_vars() + 1, 0) {
    std::vector<std::pair<std::int32_t, std::int64_t>> pairs;
    for (std::size_t v = 0; v < lists.n_vars(); ++v) {
      pairs.clear();
      for (std::size_t c = lists.begin(v); c < lists.end(v); ++c)
        for (const auto member : lists.of(c))
          pairs.emplace_back(member, static_cast<std::int64_t>(c));
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
  std::span<const std::int64_t> holding(std::size_t variable, std::int32_t member) const {
    const auto begin = members_.begin() + static_cast<std::ptrdiff_t>(first_[variable]);
    const auto end = members_.begin() + static_cast<std::ptrdiff_t>(first_[variable + 1]);
    const auto found = std::lower_bound(begin, end, member);
    if (found == end || *found != member) return {};
    const auto m = static_cast<std::size_t>(found - members_.begin());
    return {candidates_.data() + starts_[m], starts_[m + 1] - starts_[m]};
  }

 private:
  std::vector<std::size_t> first_;
  std::vector<std::int32_t> members_;
  std::vector<std::size_t> starts_;
  std::vector<std::int64_t> candidates_;
};

class Chain {
 public:
  Chain(const ParentLists& lists, const MemberIndex& index, const OrderOptions& options, Rng rng,
        const std::atomic<bool>& stopped, Clock::time_point deadline)
      : lists_(lists),
        index_(index),
        options_(options),
        rng_(rng),
        stopped_(stopped),
        deadline_(deadline),
        n_vars_(lists.n_vars()),
        position_(n_vars_),
        choice_(n_vars_, -1),
        dirty_(n_vars_, 0) {}

  OrderResult run(std::vector<std::int32_t> order) {
    set_order(std::move(order));
    std::fill(dirty_.begin(), dirty_.end(), 1);
    climb();
    Snapshot best{order_, position_, choice_};
    double best_score = score();
    if (options_.progress) options_.progress->note(best_score);
    std::size_t idle = 0, n_perturbations = 0;
    while (n_vars_ > 2 && idle < options_.patience && !is_over()) {
      perturb();
      climb();
      ++n_perturbations;
      ++idle;
      const double now = score();
      if (options_.progress) options_.progress->note(now);
      if (now > best_score + 1e-9) idle = 0;
      if (now >= best_score) {
        best_score = now;
        best = {order_, position_, choice_};
      } else {
        order_ = best.order;
        position_ = best.position;
        choice_ = best.choice;
      }
    }
    return {best_score, best.choice, n_perturbations, is_over()};
  }

 private:
  struct Snapshot {
    std::vector<std::int32_t> order;
    std::vector<std::size_t> position;
    std::vector<std::int64_t> choice;
  };

  bool is_over() {
    if (over_) return true;
    if ((++ticks_ & 15) == 0 && (stopped_.load(std::memory_order_relaxed) || Clock::now() > deadline_))
      over_ = true;
    return over_;
  }

  bool is_open(std::size_t variable, std::int64_t candidate) const {
    for (const auto member : lists_.of(static_cast<std::size_t>(candidate)))
      if (position_[static_cast<std::size_t>(member)] > position_[variable]) return false;
    return true;
  }

  double value(std::int64_t candidate) const {
    return candidate < 0 ? kNone : lists_.scores[static_cast<std::size_t>(candidate)];
  }

  // First candidate from `from` on that the predecessors allow; -1 when there is none.
  std::int64_t first_open(std::size_t variable, std::int64_t from) const {
    for (auto c = from; c < lists_.offsets[variable + 1]; ++c)
      if (is_open(variable, c)) return c;
    return -1;
  }

  void set_order(std::vector<std::int32_t> order) {
    order_ = std::move(order);
    for (std::size_t q = 0; q < n_vars_; ++q) position_[static_cast<std::size_t>(order_[q])] = q;
    const auto before = choice_;
    for (std::size_t v = 0; v < n_vars_; ++v) choice_[v] = first_open(v, lists_.offsets[v]);
    mark_changes(before);
  }

  // A variable is worth moving again when its own choice changed or that of a child or parent.
  void mark_changes(const std::vector<std::int64_t>& before) {
    for (std::size_t v = 0; v < n_vars_; ++v) {
      if (choice_[v] == before[v]) continue;
      dirty_[v] = 1;
      for (const auto choice : {choice_[v], before[v]}) {
        if (choice < 0) continue;
        for (const auto member : lists_.of(static_cast<std::size_t>(choice)))
          dirty_[static_cast<std::size_t>(member)] = 1;
      }
    }
  }

  double score() const {
    double total = 0.0;
    for (const auto choice : choice_) total += value(choice);
    return total;
  }

  // Exchanges the variables at q and q + 1; returns the change of the total.
  double swap(std::size_t q) {
    const auto left = static_cast<std::size_t>(order_[q]);
    const auto right = static_cast<std::size_t>(order_[q + 1]);
    std::swap(order_[q], order_[q + 1]);
    position_[left] = q + 1;
    position_[right] = q;
    double change = 0.0;
    // `right` loses a predecessor.
    if (const auto old = choice_[right]; old >= 0) {
      const auto members = lists_.of(static_cast<std::size_t>(old));
      if (std::ranges::find(members, static_cast<std::int32_t>(left)) != members.end()) {
        choice_[right] = first_open(right, old + 1);
        change += value(choice_[right]) - value(old);
      }
    }
    // `left` gains one: only sets that hold it are new.
    const auto old = choice_[left];
    for (const auto c : index_.holding(left, static_cast<std::int32_t>(right))) {
      if (old >= 0 && c >= old) break;
      if (!is_open(left, c)) continue;
      choice_[left] = c;
      change += value(c) - value(old);
      break;
    }
    return change;
  }

  // Moves the window of `width` variables that starts at q one place to the left or right.
  double shift_left(std::size_t q, std::size_t width) {
    double change = 0.0;
    for (std::size_t w = 0; w < width; ++w) change += swap(q - 1 + w);
    return change;
  }
  double shift_right(std::size_t q, std::size_t width) {
    double change = 0.0;
    for (std::size_t w = width; w-- > 0;) change += swap(q + w);
    return change;
  }

  // Tries every place for the window and leaves it at the best; true when the total rose.
  bool reinsert(std::size_t start, std::size_t width) {
    double change = 0.0, best_change = 1e-9;
    std::size_t best = start, q = start;
    auto note = [&] {
      if (change > best_change) best_change = change, best = q;
    };
    for (; q > 0; --q) {
      change += shift_left(q, width);
      --q;
      note();
      ++q;
    }
    while (q < start) change += shift_right(q, width), ++q;
    change = 0.0;
    while (q + width < n_vars_) {
      change += shift_right(q, width);
      ++q;
      note();
    }
    while (q > best) shift_left(q, width), --q;
    return best != start;
  }

  // Moves variables and windows until none that changed can be moved to advantage.
  void climb() {
    std::vector<std::uint8_t> touched(n_vars_, 0);
    std::vector<std::int32_t> sequence;
    for (std::size_t width = 1; width <= options_.max_window && width < n_vars_;) {
      sequence.clear();
      for (std::size_t v = 0; v < n_vars_; ++v) {
        touched[v] |= dirty_[v];
        if (width == 1 ? dirty_[v] : touched[v]) sequence.push_back(static_cast<std::int32_t>(v));
      }
      if (width == 1) std::fill(dirty_.begin(), dirty_.end(), 0);
      for (std::size_t i = sequence.size(); i > 1; --i)
        std::swap(sequence[i - 1], sequence[rng_.below(i)]);
      bool rose = false;
      for (const auto v : sequence) {
        if (is_over()) return;
        const auto q = position_[static_cast<std::size_t>(v)];
        if (q + width > n_vars_) continue;
        const auto before = choice_;
        if (!reinsert(q, width)) continue;
        mark_changes(before);
        rose = true;
      }
      // Wider windows only where narrower ones no longer help.
      width = rose ? 1 : width + 1;
    }
  }

  void perturb() {
    const std::size_t n_moves = 2 + rng_.below(std::clamp<std::size_t>(n_vars_ / 4, 3, 20));
    std::fill(dirty_.begin(), dirty_.end(), 0);
    auto order = order_;
    for (std::size_t k = 0; k < n_moves; ++k) {
      const std::size_t from = rng_.below(n_vars_), to = rng_.below(n_vars_);
      const auto moved = order[from];
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), moved);
      dirty_[static_cast<std::size_t>(moved)] = 1;
    }
    set_order(std::move(order));
  }

  // A variable without an open candidate costs more than any score, yet sums stay finite.
  static constexpr double kNone = -1e12;

  const ParentLists& lists_;
  const MemberIndex& index_;
  const OrderOptions& options_;
  Rng rng_;
  const std::atomic<bool>& stopped_;
  Clock::time_point deadline_;
  std::size_t n_vars_;
  std::vector<std::int32_t> order_;
  std::vector<std::size_t> position_;
  std::vector<std::int64_t> choice_;
  std::vector<std::uint8_t> dirty_;  // worth moving again
  std::size_t ticks_ = 0;
  bool over_ = false;
};

}  // namespace

OrderResult search_orders(const ParentLists& lists, const std::vector<std::int32_t>& start,
                          const OrderOptions& options, std::size_t n_threads, const Stop& stop) {
  const MemberIndex index(lists);
  const std::size_t n_chains = std::max<std::size_t>(options.n_chains, 1);
  n_threads = std::min(resolve_threads(n_threads), n_chains);
  const auto began = Clock::now();
  std::atomic<bool> stopped{false};
  std::vector<OrderResult> results(n_chains);
  // Chains that share a thread share its time.
  const std::size_t rounds = (n_chains + n_threads - 1) / n_threads;
  auto run = [&](std::size_t chain) {
    auto deadline = Clock::time_point::max();
    if (options.seconds > 0) {
      const double share = options.seconds / static_cast<double>(rounds) *
                           static_cast<double>(chain / n_threads + 1);
      deadline = began + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(share));
    }
    Rng rng(options.seed, chain);
    std::vector<std::int32_t> order(start);
    if (order.empty() || chain > 0) {
      order.resize(lists.n_vars());
      std::iota(order.begin(), order.end(), 0);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    }
    results[chain] = Chain(lists, index, options, rng, stopped, deadline).run(std::move(order));
  };
  // The work of a chain ends through `stopped`, not by leaving later chains out.
  parallel_for(
      n_chains, n_threads,
      [&] {
        if (stop && stop()) stopped = true;
        return false;
      },
      [&](std::size_t chain, std::size_t) { run(chain); }, Caller::waits);
  std::size_t best = 0;
  for (std::size_t c = 1; c < n_chains; ++c)
    if (results[c].score > results[best].score) best = c;
  OrderResult result = results[best];
  result.n_perturbations = 0;
  for (const auto& each : results) {
    result.n_perturbations += each.n_perturbations;
    result.stopped |= each.stopped;
  }
  return result;
}

}  // namespace bayesmend
