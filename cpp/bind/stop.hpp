#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "bind/bind.hpp"
#include "core/base/parallel.hpp"
#include "core/base/state.hpp"

namespace bayesmend::bind {

using Clock = Stop::Clock;

// When calls from this thread that have no answer half-way raise TimeoutError.
inline thread_local auto call_deadline = Stop::kNever;

// A call without an answer half-way: what a signal handler raises, Ctrl-C among it, ends the call
// and is raised, and so is TimeoutError.
class WholeCall {
 public:
  WholeCall() : stop_(seconds_left(), &WholeCall::has_signal) {}

  const Stop& stop() const { return stop_; }
  // With the interpreter lock, once the work is over.
  void raise_if_stopped() const {
    if (PyErr_Occurred()) throw nb::python_error();
    if (!stop_.has_ended()) return;
    PyErr_SetString(PyExc_TimeoutError, "the time limit is over");
    throw nb::python_error();
  }

 private:
  static bool has_signal() {
    nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  }
  static double seconds_left() {
    if (call_deadline == Stop::kNever) return 0.0;
    return std::max(std::chrono::duration<double>(call_deadline - Clock::now()).count(), 1e-9);
  }

  Stop stop_;
};

// work(stop) without the interpreter lock, as a call without an answer half-way.
template <class Work>
auto run_whole(Work&& work) {
  const WholeCall call;
  auto result = [&] {
    nb::gil_scoped_release nogil;
    return work(call.stop());
  }();
  call.raise_if_stopped();
  return result;
}

// A call that answers Ctrl-C and the end of its time with the best it has: the interrupt is
// remembered, not raised. Any other exception of a signal handler is raised once the work is over.
class SearchCall {
 public:
  // `seconds`: 0 for no limit. `report`: None, or a callable that is told (best score, steps,
  // bound) a few times a second.
  explicit SearchCall(double seconds, nb::object report = nb::none())
      : report_(std::move(report)), stop_(seconds, [this] { return must_end(); }) {}

  // Runs work(stop) in this thread, which must poll the stop.
  template <class Work>
  auto run(Work&& work) {
    auto result = [&] {
      nb::gil_scoped_release nogil;
      return work(stop_);
    }();
    raise_others();
    return result;
  }
  // Runs work(stop) in a thread of its own while this one polls.
  template <class Work>
  void run_aside(Work&& work) {
    // Work begins however little time there is: it may always give some answer.
    const Stop watch(0.0, [this] { return stop_.poll(), false; });
    {
      nb::gil_scoped_release nogil;
      parallel_for(1, 1, watch, [&](std::size_t, std::size_t) { work(stop_); }, Caller::waits);
    }
    raise_others();
  }

  const Stop& stop() const { return stop_; }
  StopReason reason() const { return stop_.reason(); }
  bool was_interrupted() const { return reason() == StopReason::interrupt; }
  Progress* progress() { return &progress_; }

 private:
  bool must_end() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) return note_exception();
    if (!report_.is_none() && Clock::now() - last_ > std::chrono::milliseconds(200)) {
      last_ = Clock::now();
      PyObject* answer =
          PyObject_CallFunction(report_.ptr(), "dnd", progress_.best(),
                                static_cast<Py_ssize_t>(progress_.steps()), progress_.bound());
      if (answer == nullptr) return note_exception();
      Py_DECREF(answer);
    }
    return false;
  }
  bool note_exception() {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_Clear();
    return true;
  }
  void raise_others() {
    if (PyErr_Occurred()) throw nb::python_error();
  }

  nb::object report_;
  Progress progress_;
  Clock::time_point last_ = Clock::now();
  Stop stop_;
};

// What keeps the state of a search: None, or an object with `load()`, which returns the latest
// state as bytes or None; `save(state)`; and `wait()`, after how many seconds to save again.
// Searches save from threads of their own.
inline Keeper keeper_of(const nb::object& kept) {
  if (kept.is_none()) return {};
  const nb::object earlier = kept.attr("load")();
  const auto bytes = earlier.is_none() ? nb::bytes("", 0) : nb::cast<nb::bytes>(earlier);
  const nb::object save = kept.attr("save"), wait = kept.attr("wait");
  return {{bytes.c_str(), bytes.size()},
          nb::cast<double>(wait()),
          [save, wait](const std::string& state) {
            const nb::gil_scoped_acquire gil;
            save(nb::bytes(state.data(), state.size()));
            return nb::cast<double>(wait());
          }};
}

}  // namespace bayesmend::bind
