#pragma once

#include <atomic>
#include <chrono>

namespace bayesmend {

// Ends work at a deadline or when asked to; cheap to poll from any thread.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(double seconds) : start_(Clock::now()) {
    if (seconds > 0)
      end_ = start_ +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  bool is_over() const { return asked_.load(std::memory_order_relaxed) || Clock::now() > end_; }
  bool was_asked() const { return asked_.load(std::memory_order_relaxed); }
  void ask() { asked_.store(true, std::memory_order_relaxed); }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  Clock::time_point start_, end_ = Clock::time_point::max();
  std::atomic<bool> asked_{false};
};

}  // namespace bayesmend
