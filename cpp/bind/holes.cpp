#include "bind/holes.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <tuple>

#include "bind/stop.hpp"
#include "core/inference/answers.hpp"
#include "core/inference/em.hpp"

namespace bayesmend::bind {
namespace {

using Doubles = In<double, 1>;
using Threads = std::size_t;

// Calls answer(holes, cpts, stop) without the interpreter lock; raises when Ctrl-C ended it.
template <class Answer>
auto ask(const HoleTable& self, const Doubles& cpts, Answer&& answer) {
  const auto entries = self.check(cpts);
  return run_whole([&](const Stop& stop) { return answer(self.holes(), entries, stop); });
}

}  // namespace

void bind_holes(nb::module_& m) {
  m.attr("MAX_TREE_ENTRIES") = kMaxTreeEntries;
  nb::class_<HoleTable>(m, "Holes", "A table with holes, compiled for the structure of a network.")
      .def(nb::init<In<std::int32_t, 1>, In<std::int64_t, 1>, In<std::int32_t, 1>,
                    In<std::uint8_t, 2>, Doubles, In<std::uint8_t, 1>>(),
           "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
           "columns"_a.noconvert(), "weights"_a.noconvert(), "targets"_a.noconvert())
      .def_prop_ro(
          "largest_factor",
          [](const HoleTable& self) {
            return std::pair(self.holes().largest_table(), self.holes().largest_scope());
          },
          "Entries of the largest table that an answer needs, and its variables.")
      .def_prop_ro(
          "tree_entries",
          [](const HoleTable& self) {
            double most = 0.0;
            for (const Piece& piece : self.holes().pieces())
              most = std::max(most, piece.elimination->tree().n_entries);
            return most;
          },
          "Entries of all tables that a thread holds at a time.")
      .def_prop_ro("n_pieces", [](const HoleTable& self) { return self.holes().pieces().size(); })
      .def_prop_ro("n_instances",
                   [](const HoleTable& self) { return self.holes().instances().size(); })
      .def(
          "log_evidence",
          [](const HoleTable& self, Doubles cpts, Threads n_threads) {
            return own(
                ask(self, cpts,
                    [&](const Holes& holes, std::span<const double> entries, const Stop& stop) {
                      return log_evidence(holes, entries, n_threads, stop);
                    }));
          },
          "cpts"_a.noconvert(), "n_threads"_a)
      .def(
          "explain",
          [](const HoleTable& self, Doubles cpts, Threads n_threads) {
            auto found =
                ask(self, cpts,
                    [&](const Holes& holes, std::span<const double> entries, const Stop& stop) {
                      return explain(holes, entries, n_threads, stop);
                    });
            const Table& table = self.holes().table();
            return nb::make_tuple(own(std::move(found.cells), {table.n_vars, table.n_rows}),
                                  own(std::move(found.log_probability)));
          },
          "cpts"_a.noconvert(), "n_threads"_a,
          "Completed table of shape (n_vars, n_rows), and the log-probability of each row.")
      .def(
          "marginals",
          [](const HoleTable& self, Doubles cpts, Threads n_threads) {
            return own(
                ask(self, cpts,
                    [&](const Holes& holes, std::span<const double> entries, const Stop& stop) {
                      return marginals(holes, entries, n_threads, stop);
                    }));
          },
          "cpts"_a.noconvert(), "n_threads"_a,
          "Distributions of the holes asked for: variable by variable, rows ascending.")
      .def(
          "draw",
          [](const HoleTable& self, Doubles cpts, std::size_t n_draws, std::uint64_t seed,
             Threads n_threads) {
            auto cells =
                ask(self, cpts,
                    [&](const Holes& holes, std::span<const double> entries, const Stop& stop) {
                      return draw_completions(holes, entries, n_draws, seed, n_threads, stop);
                    });
            const Table& table = self.holes().table();
            return own(std::move(cells), {n_draws, table.n_vars, table.n_rows});
          },
          "cpts"_a.noconvert(), "n_draws"_a, "seed"_a, "n_threads"_a,
          "Completed tables of shape (n_draws, n_vars, n_rows).")
      .def(
          "joint",
          [](const HoleTable& self, Doubles cpts, std::vector<std::int32_t> variables) {
            return own(ask(self, cpts,
                           [&](const Holes& holes, std::span<const double> entries, const Stop&) {
                             return joint_distribution(holes, entries, variables);
                           }));
          },
          "cpts"_a.noconvert(), "variables"_a,
          "Joint distribution of some variables given the first row, the first varying fastest.")
      .def(
          "joint_size",
          [](const HoleTable& self, std::vector<std::int32_t> variables) {
            auto size = joint_size(self.holes(), variables);
            return std::tuple(size.largest, std::move(size.scope), size.total);
          },
          "variables"_a,
          "Entries of the largest table that joint() needs, its variables, entries in all.")
      .def(
          "expect",
          [](const HoleTable& self, Doubles cpts, Threads n_threads) {
            auto found =
                ask(self, cpts,
                    [&](const Holes& holes, std::span<const double> entries, const Stop& stop) {
                      return expect(holes, entries, n_threads, stop);
                    });
            return nb::make_tuple(own(std::move(found.counts)), found.log_likelihood);
          },
          "cpts"_a.noconvert(), "n_threads"_a,
          "Expected counts, laid out as cpts, and the log-likelihood of what is observed.")
      .def(
          "fit",
          [](const HoleTable& self, Doubles cpts, double ess, std::size_t max_iter, double tol,
             double time_limit, Threads n_threads) {
            SearchCall call(time_limit);
            const auto entries = self.check(cpts);
            auto run = call.run([&](const Stop& stop) {
              return fit_parameters(self.holes(), entries, ess, max_iter, tol, n_threads, stop);
            });
            return nb::make_tuple(own(std::move(run.cpts)), own(std::move(run.counts)),
                                  own(std::move(run.log_likelihood)), own(std::move(run.objective)),
                                  run.converged, run.stopped, call.was_interrupted());
          },
          "cpts"_a.noconvert(), "ess"_a, "max_iter"_a, "tol"_a, "time_limit"_a, "n_threads"_a,
          "Expectation-maximisation: cpts, expected counts, log-likelihood and objective per "
          "iteration, whether it converged, was stopped, was interrupted.");
}

}  // namespace bayesmend::bind
