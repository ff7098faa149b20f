#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace bayesmend {

// True when the work should end early. Called by the calling thread only.
using Stop = std::function<bool()>;

// How far a search has come, written by its threads and read by whoever polls.
class Progress {
 public:
  void note(double score) {
    steps_.fetch_add(1, std::memory_order_relaxed);
    double best = best_.load(std::memory_order_relaxed);
    while (score > best && !best_.compare_exchange_weak(best, score)) {
    }
  }
  double best() const { return best_.load(std::memory_order_relaxed); }
  std::size_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> best_{-std::numeric_limits<double>::infinity()};
  std::atomic<std::size_t> steps_{0};
};

inline std::size_t resolve_threads(std::size_t n_threads) {
  if (n_threads > 0) return n_threads;
  return std::max(1u, std::thread::hardware_concurrency());
}

// Whether the calling thread may work itself or only waits and polls `stop`: tasks that run
// for long need it to wait.
enum class Caller { works, waits };

// Runs work(task, thread) for every task. Tasks are handed out one at a time, so their
// results must be stored by task index: then they are the same for any thread count.
// Returns false when stop() ended the work before every task had run.
template <class Work>
bool parallel_for(std::size_t n_tasks, std::size_t n_threads, const Stop& stop, Work&& work,
                  Caller caller = Caller::works) {
  n_threads = std::min(resolve_threads(n_threads), std::max<std::size_t>(n_tasks, 1));
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stopped{false};
  if (n_threads <= 1 && caller == Caller::works) {
    auto last = std::chrono::steady_clock::now();
    for (std::size_t task = 0; task < n_tasks; ++task) {
      if (stop && std::chrono::steady_clock::now() - last > std::chrono::milliseconds(20)) {
        if (stop()) return false;
        last = std::chrono::steady_clock::now();
      }
      work(task, std::size_t{0});
    }
    return true;
  }
  std::mutex mutex;
  std::condition_variable finished;
  std::size_t running = n_threads;
  std::exception_ptr failure;
  auto run = [&](std::size_t thread) {
    try {
      for (;;) {
        if (stopped.load(std::memory_order_relaxed)) break;
        const std::size_t task = next.fetch_add(1);
        if (task >= n_tasks) break;
        work(task, thread);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stopped = true;
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) finished.notify_one();
  };
  std::vector<std::thread> threads;
  threads.reserve(n_threads);
  for (std::size_t thread = 0; thread < n_threads; ++thread) threads.emplace_back(run, thread);
  bool ended_early = false;
  {
    std::unique_lock lock(mutex);
    while (!finished.wait_for(lock, std::chrono::milliseconds(20), [&] { return running == 0; })) {
      if (!stop || ended_early) continue;
      lock.unlock();
      if (stop()) {
        ended_early = true;
        stopped = true;
      }
      lock.lock();
    }
  }
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return !ended_early;
}

}  // namespace bayesmend
