#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "core/base/room.hpp"
#include "core/base/stop.hpp"

namespace bayesmend {

// How far a search has come, written by its threads and read by whoever polls.
class Progress {
 public:
  void note(double score) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    double best = best_.load(std::memory_order_relaxed);
    while (score > best && !best_.compare_exchange_weak(best, score)) {
    }
  }
  // No answer scores higher.
  void note_bound(double bound) { bound_.store(bound, std::memory_order_relaxed); }
  double best() const { return best_.load(std::memory_order_relaxed); }
  double bound() const { return bound_.load(std::memory_order_relaxed); }
  std::size_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> best_{-std::numeric_limits<double>::infinity()};
  std::atomic<double> bound_{std::numeric_limits<double>::infinity()};
  std::atomic<std::size_t> steps_{0};
};

// Cores that the process may keep busy, where that is less than the machine has; 0 for no limit.
inline std::atomic<std::size_t>& core_limit() {
  static std::atomic<std::size_t> limit{0};
  return limit;
}

inline std::size_t n_cores() {
  const std::size_t there = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t limit = core_limit();
  return limit == 0 ? there : std::min(there, limit);
}

// Beyond this, threads cost memory and give nothing.
inline std::size_t max_threads() { return 8 * n_cores(); }

inline std::size_t resolve_threads(std::size_t n_threads) {
  return n_threads == 0 ? n_cores() : std::min(n_threads, max_threads());
}

// What must be free, where memory is limited, for one more thread besides its stack: data of the
// runtime, and something to work with, which is better than a thread more.
inline constexpr std::size_t kThreadRoom = std::size_t{32} << 20;

// Whether the calling thread may work itself or only waits and polls `stop`: tasks that run
// for long need it to wait.
enum class Caller { works, waits };

// Runs work(task, thread) for every task. Tasks are handed out one at a time, so their
// results must be stored by task index: then they are the same for any thread count.
// Returns false when the stop, polled every 20 ms, ended the work, or cut a step of it: then not
// every task may have run. Work that takes less time is done even when the time is over.
template <class Work>
bool parallel_for(std::size_t n_tasks, std::size_t n_threads, const Stop& stop, Work&& work,
                  Caller caller = Caller::works) {
  n_threads = std::min(resolve_threads(n_threads), std::max<std::size_t>(n_tasks, 1));
  constexpr std::chrono::milliseconds kPollInterval(20);
  if (n_threads <= 1 && caller == Caller::works) {
    const Watched watched(stop);
    auto last = Stop::Clock::now();
    for (std::size_t task = 0; task < n_tasks; ++task) {
      if (Stop::Clock::now() - last > kPollInterval) {
        if (stop.poll()) return false;
        last = Stop::Clock::now();
      }
      work(task, std::size_t{0});
    }
    return !stop.was_cut();
  }
  std::atomic<std::size_t> next{0};
  bool is_over = false;
  std::mutex mutex;
  std::condition_variable finished;
  std::size_t running = 0;
  std::exception_ptr failure;
  // Where memory is limited, no thread works before all of them have what they need.
  const bool is_limited = is_memory_limited();
  bool is_open = !is_limited;
  std::size_t n_ready = 0;
  std::condition_variable readied, opened;
  const auto get_ready = [&] {
    std::unique_lock lock(mutex);
    make_thread_data();
    ++n_ready;
    readied.notify_one();
    opened.wait(lock, [&] { return is_open; });
  };
  auto run = [&](std::size_t thread) {
    if (is_limited) get_ready();
    const Watched watched(stop);
    try {
      for (std::size_t task; (task = next.fetch_add(1)) < n_tasks;) work(task, thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = n_tasks;
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) finished.notify_one();
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads);
  const auto count = [&](std::ptrdiff_t more) {
    const std::lock_guard lock(mutex);
    running += static_cast<std::size_t>(more);
  };
  const auto add_thread = [&] {
    count(1);
    if (!is_limited) {
      threads.emplace_back(run, threads.size());
      return;
    }
    std::unique_lock lock(mutex);  // holds the thread back until the room is free for it
    {
      const Room room(kThreadRoom);
      if (!room.is_there()) throw std::bad_alloc();
      threads.emplace_back(run, threads.size());
    }
    readied.wait(lock, [&] { return n_ready == threads.size(); });
  };
  try {
    while (threads.size() < n_threads) add_thread();
  } catch (const std::exception&) {  // no memory for one more: the others do its part
    count(-1);
  }
  {
    const std::lock_guard lock(mutex);
    is_open = true;
  }
  opened.notify_all();
  if (threads.empty()) {
    count(1);
    run(0);
  }
  {
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, kPollInterval, [&] { return running == 0; })) {
      lock.unlock();
      if (stop.poll()) {
        is_over = true;
        next = n_tasks;
      }
      lock.lock();
    }
  }
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return !is_over && !stop.was_cut();
}

// The same for short tasks, handed out `n_at_once` at a time.
template <class Work>
bool parallel_for_blocks(std::size_t n_tasks, std::size_t n_at_once, std::size_t n_threads,
                         const Stop& stop, Work&& work) {
  const std::size_t n_blocks = (n_tasks + n_at_once - 1) / n_at_once;
  return parallel_for(n_blocks, n_threads, stop, [&](std::size_t block, std::size_t thread) {
    const std::size_t end = std::min(n_tasks, (block + 1) * n_at_once);
    for (std::size_t task = block * n_at_once; task < end; ++task) work(task, thread);
  });
}

}  // namespace bayesmend
