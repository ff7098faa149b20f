#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace bayesmend {

// Why work ended early. A stop knows time and interrupt, of which the latter counts for more;
// searches have limits of their own.
enum class StopReason : std::uint8_t { nothing, time, memory, nodes, interrupt };

// Tells work when to end: at a time limit, when a hook says so, or with the work it is a part of.
// Whoever was told that it is over finds the reason remembered.
class Stop {
 public:
  using Clock = std::chrono::steady_clock;
  using Hook = std::function<bool()>;

  static constexpr auto kNever = Clock::time_point::max();
  // 0 seconds are no limit; neither are thirty years, since more would overflow the clock.
  static Clock::time_point after(Clock::time_point start, double seconds) {
    if (!(seconds > 0.0 && seconds < 1e9)) return kNever;
    return start +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  Stop() = default;
  // `seconds`: 0 for no limit. `hook`: returns true when the work should end; run by poll(), in
  // the thread that made the stop and in no other.
  explicit Stop(double seconds, Hook hook = {})
      : end_(after(start_, seconds)), hook_(std::move(hook)) {}
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  // For a part of the work, which ends with the whole or after seconds of its own.
  Stop part(double seconds) const {
    const auto now = Clock::now();
    return {*this, now, after(now, seconds)};
  }
  // For a part of the work, which ends once this fraction of the whole's time has passed.
  Stop share(double fraction) const {
    if (end_ == kNever) return {*this, start_, kNever};
    const std::chrono::duration<double> limit = end_ - start_;
    return {*this, start_, after(start_, fraction * limit.count())};
  }

  // Cheap, from any thread.
  bool is_over() const {
    if (has_ended()) return true;
    if (end_ != kNever && Clock::now() > end_)
      remember(StopReason::time);
    else if (whole_ != nullptr && whole_->is_over())
      remember(whole_->reason());
    return has_ended();
  }
  // The same, and runs the hook: takes long enough to be called a few times a second only. Beyond
  // the time limit the hook is still asked, since an interrupt may come while work winds up.
  bool poll() const {
    if (whole_ != nullptr) whole_->poll();
    if (hook_ && reason() != StopReason::interrupt && owner_ == std::this_thread::get_id() &&
        hook_())
      reason_.store(StopReason::interrupt, std::memory_order_relaxed);
    return is_over();
  }

  // For a step that takes long: whether to leave it half-way. What the work gives is of no use
  // then, and says so by was_cut().
  bool cuts() const {
    if (!is_over()) return false;
    was_cut_.store(true, std::memory_order_relaxed);
    return true;
  }
  bool was_cut() const { return was_cut_.load(std::memory_order_relaxed); }

  // Whether somebody has been told that it is over; does not look at the clock.
  bool has_ended() const { return reason() != StopReason::nothing; }
  // Why it is over, if it is.
  StopReason look() const { return is_over(), reason(); }
  StopReason reason() const { return reason_.load(std::memory_order_relaxed); }
  // Since the work began.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Stop(const Stop& whole, Clock::time_point start, Clock::time_point end)
      : start_(start), end_(end), whole_(&whole) {}

  // An interrupt is not forgotten for a time limit.
  void remember(StopReason reason) const {
    auto nothing = StopReason::nothing;
    reason_.compare_exchange_strong(nothing, reason, std::memory_order_relaxed);
  }

  Clock::time_point start_ = Clock::now();
  Clock::time_point end_ = kNever;
  Hook hook_;
  const Stop* whole_ = nullptr;
  std::thread::id owner_ = std::this_thread::get_id();
  mutable std::atomic<StopReason> reason_{StopReason::nothing};
  mutable std::atomic<bool> was_cut_{false};
};

// The stop of the work that the calling thread does, for steps far below it that take long.
class Watched {
 public:
  explicit Watched(const Stop& stop) : before_(std::exchange(current(), &stop)) {}
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { current() = before_; }

  // Whether to leave a step half-way.
  static bool cuts() { return current() != nullptr && current()->cuts(); }

 private:
  static const Stop*& current() {
    static thread_local const Stop* stop = nullptr;
    return stop;
  }

  const Stop* before_;
};

}  // namespace bayesmend
