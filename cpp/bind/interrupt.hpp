#pragma once

#include <chrono>

#include "bind/bind.hpp"
#include "core/base/parallel.hpp"

namespace bayesmend::bind {

// Polled by a search that answers Ctrl-C with the best it has: the interrupt is remembered,
// not raised. Any other exception of a signal handler is raised once the search is over.
class Interrupt {
 public:
  // `report`: None, or a callable that is told (best score, steps) a few times a second.
  // `seconds`: a time limit for searches that keep none themselves; 0 for none.
  explicit Interrupt(nb::object report, double seconds = 0.0) : report_(std::move(report)) {
    if (seconds > 0)
      deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(seconds));
  }

  Stop stop() {
    return [this] { return poll(); };
  }
  // Runs `work` in a thread of its own while this one polls; calls `ask` when work should end.
  template <class Work, class Ask>
  void run(Work&& work, Ask&& ask) {
    nb::gil_scoped_release nogil;
    parallel_for(
        1, 1,
        [&] {
          if (poll()) ask();
          return false;
        },
        [&](std::size_t, std::size_t) { work(); }, Caller::waits);
  }
  Progress* progress() { return &progress_; }
  bool was_hit() const { return hit_; }
  void raise_others() {
    if (PyErr_Occurred()) throw nb::python_error();
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool poll() {
    if (hit_ || failed_ || Clock::now() > deadline_) return true;
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return note_exception();
    if (!report_.is_none() && Clock::now() - last_ > std::chrono::milliseconds(200)) {
      last_ = Clock::now();
      PyObject* answer = PyObject_CallFunction(report_.ptr(), "dn", progress_.best(),
                                               static_cast<Py_ssize_t>(progress_.steps()));
      if (answer == nullptr) return note_exception();
      Py_DECREF(answer);
    }
    return false;
  }

  bool note_exception() {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) {
      PyErr_Clear();
      hit_ = true;
    } else {
      failed_ = true;
    }
    return true;
  }

  nb::object report_;
  Progress progress_;
  Clock::time_point last_ = Clock::now();
  Clock::time_point deadline_ = Clock::time_point::max();
  bool hit_ = false, failed_ = false;
};

}  // namespace bayesmend::bind
