#include <nanobind/stl/vector.h>

#include <utility>

#include "bind/holes.hpp"
#include "bind/results.hpp"
#include "core/inference/answers.hpp"
#include "core/inference/em.hpp"
#include "core/inference/evidence.hpp"
#include "core/inference/weighting.hpp"

namespace bayesmend::bind {
namespace {

using Bytes = In<std::uint8_t, 1>;
using ByteTable = In<std::uint8_t, 2>;
using Ints = In<std::int32_t, 1>;
using Longs = In<std::int64_t, 1>;
using Doubles = In<double, 1>;
using Threads = std::size_t;

// answer(holes, cpts, more..., stop), as a call without an answer half-way.
template <class Answer, class... More>
auto ask(const HoleTable& self, const Doubles& cpts, Answer&& answer, More... more) {
  const auto entries = self.check(cpts);
  return run_whole([&](const Stop& stop) { return answer(self.holes(), entries, more..., stop); });
}

// Likelihood weighting of the rows of one table under one network.
class Weigher {
 public:
  Weigher(Ints card, Longs parent_offsets, Ints parents, Longs cpt_offsets, Doubles cpts,
          Ints order, ByteTable columns, std::size_t n_samples, std::uint64_t seed,
          Threads n_threads)
      : card_(std::move(card)),
        parent_offsets_(std::move(parent_offsets)),
        parents_(std::move(parents)),
        cpt_offsets_(std::move(cpt_offsets)),
        cpts_(std::move(cpts)),
        order_(std::move(order)),
        columns_(std::move(columns)),
        n_samples_(n_samples),
        seed_(seed),
        n_threads_(n_threads) {}

  Weighted marginals(const Bytes& targets, const std::vector<Var>& together) const {
    return run_whole([&](const Stop& stop) {
      return weigh(network(), view(order_), table_of(columns_, card_), view(targets), together,
                   n_samples_, seed_, n_threads_, stop);
    });
  }
  WeightedDraws draw(std::size_t n_draws) const {
    return run_whole([&](const Stop& stop) {
      return weighted_draws(network(), view(order_), table_of(columns_, card_), n_samples_, n_draws,
                            seed_, n_threads_, stop);
    });
  }

 private:
  FlatNetwork network() const {
    return {view(card_), view(parent_offsets_), view(parents_), view(cpt_offsets_), view(cpts_)};
  }

  Ints card_;
  Longs parent_offsets_;
  Ints parents_;
  Longs cpt_offsets_;
  Doubles cpts_;
  Ints order_;
  ByteTable columns_;
  std::size_t n_samples_;
  std::uint64_t seed_;
  Threads n_threads_;
};

void bind_answers(nb::module_& m) {
  nb::class_<TableSize>(m, "TableSize", "What tables an answer needs.")
      .def_ro("largest", &TableSize::largest, "Entries of the largest.")
      .def_ro("scope", &TableSize::scope, "Its variables.")
      .def_ro("total", &TableSize::total, "Entries of all that a thread holds at a time.");
  nb::class_<Explanation>(m, "Explanation", "The most probable completion of each row.")
      .def_prop_ro(
          "cells",
          [](nb::handle_t<Explanation> self) {
            auto& found = nb::cast<Explanation&>(self);
            return share(self, found.cells, found.n_vars, found.log_probability.size());
          },
          "Completed table of shape (n_vars, n_rows).")
      .def_prop_ro("log_probability", array_of(&Explanation::log_probability), "Of each row.");
  nb::class_<Expectation>(m, "Expectation", "What a network expects of a table.")
      .def_prop_ro("counts", array_of(&Expectation::counts), "Laid out as cpts.")
      .def_ro("log_likelihood", &Expectation::log_likelihood, "Of what is observed.");
  nb::class_<EmRun>(m, "EmRun", "Expectation-maximisation of the parameters.")
      .def_prop_ro("cpts", array_of(&EmRun::cpts))
      .def_prop_ro("counts", array_of(&EmRun::counts), "Expected under cpts.")
      .def_prop_ro("objective", array_of(&EmRun::objective), "Per iteration.")
      .def_prop_ro("log_likelihood", array_of(&EmRun::log_likelihood), "Per iteration.")
      .def_ro("converged", &EmRun::converged)
      .def_ro("stopped", &EmRun::stopped);
}

void bind_weigher(nb::module_& m) {
  nb::class_<Weighted>(m, "Weighted", "Distributions of missing cells by likelihood weighting.")
      .def_prop_ro("probabilities", array_of(&Weighted::probabilities), "Variable by variable.")
      .def_prop_ro("errors", array_of(&Weighted::errors), "Standard errors, in the same order.")
      .def_prop_ro("joint", array_of(&Weighted::joint), "The last variable varying fastest.")
      .def_prop_ro("joint_errors", array_of(&Weighted::joint_errors), "In the same order.")
      .def_prop_ro("log_evidence", array_of(&Weighted::log_evidence), "Of each row.")
      .def_prop_ro("effective", array_of(&Weighted::effective), "Number of draws of each row.");
  nb::class_<WeightedDraws>(m, "WeightedDraws", "Completed tables by likelihood weighting.")
      .def_prop_ro("cells", array_of(&WeightedDraws::cells), "One table after the other.")
      .def_prop_ro("log_evidence", array_of(&WeightedDraws::log_evidence), "Of each row.")
      .def_prop_ro("effective", array_of(&WeightedDraws::effective),
                   "Number of draws of each row.");
  nb::class_<Weigher>(m, "Weigher", "Answers about the rows of one table by likelihood weighting.")
      .def(nb::init<Ints, Longs, Ints, Longs, Doubles, Ints, ByteTable, std::size_t, std::uint64_t,
                    Threads>(),
           "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
           "cpt_offsets"_a.noconvert(), "cpts"_a.noconvert(), "order"_a.noconvert(),
           "columns"_a.noconvert(), "n_samples"_a, "seed"_a, "n_threads"_a)
      .def("marginals", &Weigher::marginals, "targets"_a.noconvert(),
           "together"_a = std::vector<Var>{})
      .def("draw", &Weigher::draw, "n_draws"_a);
}

FamilyGraph graph_of(const Ints& card, const Longs& parent_offsets, const Ints& parents) {
  return {view(card), view(parent_offsets), view(parents)};
}

// Each sum as two words, the lower one first.
auto words_of(std::vector<ExactSum>&& sums) {
  std::vector<std::uint64_t> words;
  words.reserve(2 * sums.size());
  for (const auto& sum : sums) words.insert(words.end(), {sum.low, sum.high});
  return own(std::move(words), {sums.size(), 2});
}

void bind_evidence(nb::module_& m) {
  m.attr("GRID") = kGrid;
  nb::class_<Evidence>(m, "Evidence", "What a table of any length says of a structure.")
      .def(
          "__init__",
          [](Evidence* self, const Ints& card, const Longs& parent_offsets, const Ints& parents,
             const ByteTable& columns, const Doubles& weights, double grid, Threads n_threads) {
            new (self) Evidence(run_whole([&](const Stop& stop) {
              return Evidence(graph_of(card, parent_offsets, parents), table_of(columns, card),
                              view(weights), grid, n_threads, stop);
            }));
          },
          "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
          "columns"_a.noconvert(), "weights"_a.noconvert(), "grid"_a, "n_threads"_a)
      .def_prop_ro(
          "observed_counts",
          [](const Evidence& self) { return own(std::vector<double>(self.observed_counts())); },
          nb::rv_policy::move, "Weights of rows that show a family whole, laid out as cpts.")
      .def_prop_ro("n_instances", &Evidence::n_instances, "How many distinct pieces there are.")
      .def_prop_ro("size", &Evidence::size)
      .def(
          "expect",
          [](const Evidence& self, const Doubles& cpts, Threads n_threads) {
            if (cpts.size() != self.observed_counts().size())
              throw std::invalid_argument("cpts must have one entry per cell of every table.");
            return words_of(run_whole(
                [&](const Stop& stop) { return self.expect(view(cpts), n_threads, stop); }));
          },
          "cpts"_a.noconvert(), "n_threads"_a,
          "Exact sums, two words each: expected counts of what is not observed whole, minus the "
          "log-probability of it, weight of what is impossible.");
  nb::class_<Ascent>(m, "Ascent", "Expectation-maximisation, whoever counts.")
      .def(
          "__init__",
          [](Ascent* self, const Ints& card, const Longs& parent_offsets, const Ints& parents,
             const Doubles& cpts, double ess, std::size_t max_iter, double tol) {
            const auto graph = graph_of(card, parent_offsets, parents);
            if (cpts.size() != graph.n_entries())
              throw std::invalid_argument("cpts must have one entry per cell of every table.");
            new (self) Ascent(graph, view(cpts), ess, max_iter, tol);
          },
          "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
          "cpts"_a.noconvert(), "ess"_a, "max_iter"_a, "tol"_a)
      .def_prop_ro(
          "asked", [](const Ascent& self) { return own(std::vector<double>(self.asked())); },
          nb::rv_policy::move, "The probabilities under which to count next.")
      .def(
          "tell",
          [](Ascent& self, const Doubles& counts, double log_likelihood) {
            if (counts.size() != self.graph().n_entries())
              throw std::invalid_argument("counts must have one entry per cell of every table.");
            const auto told = view(counts);
            return self.tell({told.begin(), told.end()}, log_likelihood);
          },
          "counts"_a.noconvert(), "log_likelihood"_a,
          "Take what is expected; tell whether that was the last question.")
      .def_prop_ro(
          "run", [](Ascent& self) -> EmRun& { return self.run(); },
          nb::rv_policy::reference_internal, "How far it has come.");
}

}  // namespace

void bind_inference(nb::module_& m) {
  m.attr("MAX_TREE_ENTRIES") = kMaxTreeEntries;
  bind_answers(m);
  bind_evidence(m);
  bind_weigher(m);
  nb::class_<HoleTable>(m, "Holes", "A table with holes, compiled for the structure of a network.")
      .def(nb::init<Ints, Longs, Ints, ByteTable, Doubles, Bytes>(), "card"_a.noconvert(),
           "parent_offsets"_a.noconvert(), "parents"_a.noconvert(), "columns"_a.noconvert(),
           "weights"_a.noconvert(), "targets"_a.noconvert())
      .def_prop_ro("size", [](const HoleTable& self) { return self.holes().size(); })
      .def(
          "log_evidence",
          [](const HoleTable& self, const Doubles& cpts, Threads n_threads) {
            return own(ask(self, cpts, log_evidence, n_threads));
          },
          "cpts"_a.noconvert(), "n_threads"_a)
      .def(
          "explain",
          [](const HoleTable& self, const Doubles& cpts, Threads n_threads) {
            return ask(self, cpts, explain, n_threads);
          },
          "cpts"_a.noconvert(), "n_threads"_a)
      .def(
          "marginals",
          [](const HoleTable& self, const Doubles& cpts, Threads n_threads) {
            return own(ask(self, cpts, marginals, n_threads));
          },
          "cpts"_a.noconvert(), "n_threads"_a,
          "Distributions of the holes asked for: variable by variable, rows ascending.")
      .def(
          "draw",
          [](const HoleTable& self, const Doubles& cpts, std::size_t n_draws, std::uint64_t seed,
             Threads n_threads) {
            const Table& table = self.holes().table();
            return own(ask(self, cpts, draw_completions, n_draws, seed, n_threads),
                       {n_draws, table.n_vars, table.n_rows});
          },
          "cpts"_a.noconvert(), "n_draws"_a, "seed"_a, "n_threads"_a,
          "Completed tables of shape (n_draws, n_vars, n_rows).")
      .def(
          "joint",
          [](const HoleTable& self, const Doubles& cpts, const std::vector<Var>& variables) {
            const auto entries = self.check(cpts);
            return own(run_whole(
                [&](const Stop&) { return joint_distribution(self.holes(), entries, variables); }));
          },
          "cpts"_a.noconvert(), "variables"_a,
          "Joint distribution of some variables given the first row, the first varying fastest.")
      .def(
          "joint_size",
          [](const HoleTable& self, const std::vector<Var>& variables) {
            return joint_size(self.holes(), variables);
          },
          "variables"_a, "What joint() needs.")
      .def(
          "expect",
          [](const HoleTable& self, const Doubles& cpts, Threads n_threads) {
            return ask(self, cpts, expect, n_threads);
          },
          "cpts"_a.noconvert(), "n_threads"_a)
      .def(
          "fit",
          [](const HoleTable& self, const Doubles& cpts, double ess, std::size_t max_iter,
             double tol, double time_limit, Threads n_threads) {
            const auto entries = self.check(cpts);
            return SearchCall(time_limit).run([&](const Stop& stop) {
              return fit_parameters(self.holes(), entries, ess, max_iter, tol, n_threads, stop);
            });
          },
          "cpts"_a.noconvert(), "ess"_a, "max_iter"_a, "tol"_a, "time_limit"_a, "n_threads"_a);
}

}  // namespace bayesmend::bind
