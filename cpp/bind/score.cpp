#include "core/score/score.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>

#include "bind/scorer.hpp"
#include "core/base/bits.hpp"
#include "core/score/whole.hpp"

namespace bayesmend::bind {
void bind_score(nb::module_& m) {
  nb::enum_<ScoreKind>(m, "ScoreKind", "The name of a score.")
      .value("bdeu", ScoreKind::bdeu)
      .value("bds", ScoreKind::bds)
      .value("k2", ScoreKind::k2)
      .value("bic", ScoreKind::bic)
      .value("aic", ScoreKind::aic)
      .value("qnml", ScoreKind::qnml)
      .value("loglik", ScoreKind::loglik);
  nb::class_<ScoreRule>(m, "ScoreRule", "How families are scored.")
      .def(
          "__init__",
          [](ScoreRule* self, ScoreKind kind, double ess, double arc_penalty, double support,
             const In<std::int32_t, 2>& choices) {
            std::vector<ParentChoices> listed;
            for (std::size_t v = 0; v < choices.shape(0); ++v)
              listed.push_back({.n_optional = static_cast<std::uint32_t>(choices(v, 0)),
                                .n_required = static_cast<std::uint32_t>(choices(v, 1))});
            new (self) ScoreRule{kind, ess, arc_penalty, support, std::move(listed)};
          },
          "kind"_a, "ess"_a, "arc_penalty"_a, "support"_a, "choices"_a.noconvert(),
          "Choices: per variable how many parents it may have and how many it must, for the fair "
          "prior; of no length for no prior.");
  nb::class_<ShownCells>(m, "ShownCells",
                         "Remembers what observed rows show, for scorers of completions of one "
                         "table.")
      .def(nb::init<>());
  nb::class_<Scorer>(m, "Scorer", "Scores families of one complete table under one rule.")
      .def(nb::init<In<std::uint8_t, 2>, In<std::int32_t, 1>, In<double, 1>, const ScoreRule&,
                    const In<std::uint8_t, 2>&, std::shared_ptr<ShownCells>>(),
           "columns"_a.noconvert(), "card"_a.noconvert(), "weights"_a.noconvert(), "rule"_a,
           "was_missing"_a.noconvert(), "shown"_a.none())
      .def_static(
          "expecting",
          [](nb::object holes, In<double, 1> cpts, const ScoreRule& rule, std::size_t n_threads,
             double max_bytes) {
            const auto& table = nb::cast<const HoleTable&>(holes);
            return std::make_unique<Scorer>(holes, table, std::move(cpts), rule, n_threads,
                                            max_bytes);
          },
          "holes"_a, "cpts"_a.noconvert(), "rule"_a, "n_threads"_a, "max_bytes"_a,
          "Scores what is expected of a table with holes under a network.")
      .def("limit_tables", &Scorer::limit_tables, "max_bytes"_a, "passes_by_larger"_a,
           "Have tables that would take more be counted by what occurs in them, and searches pass "
           "them by where that is asked for.")
      .def_static(
          "known",
          [](In<std::int32_t, 1> card, double total, const ScoreRule& rule,
             const In<std::int64_t, 1>& first_member, const In<std::int32_t, 1>& members,
             const In<std::int64_t, 1>& first_count, const In<double, 1>& counts,
             const In<double, 1>& unsupported) {
            KnownCounts known;
            const auto sets = view(members);
            const auto all = view(counts);
            const auto part = [](auto whole, const In<std::int64_t, 1>& first, std::size_t s) {
              const auto starts = view(first);
              return whole.subspan(starts[s], starts[s + 1] - starts[s]);
            };
            for (std::size_t s = 0; s < unsupported.size(); ++s) {
              const auto set = part(sets, first_member, s);
              const auto own = part(all, first_count, s);
              known.add({set.begin(), set.end()},
                        {.counts = {own.begin(), own.end()}, .unsupported = unsupported.data()[s]});
            }
            return std::make_unique<Scorer>(std::move(card), total, rule, std::move(known));
          },
          "card"_a.noconvert(), "total"_a, "rule"_a, "first_member"_a.noconvert(),
          "members"_a.noconvert(), "first_count"_a.noconvert(), "counts"_a.noconvert(),
          "unsupported"_a.noconvert(),
          "Scores counts of some sets of variables, each ascending, without those that are zero.")
      .def(
          "expected_counts",
          [](const Scorer& self, In<std::int64_t, 1> parent_offsets, In<std::int32_t, 1> parents) {
            if (self.expected() == nullptr)
              throw std::invalid_argument("this scorer counts a complete table.");
            auto counts = run_whole([&](const Stop& stop) {
              std::vector<double> entries;
              ExpectedCounts::Scratch scratch;
              std::vector<Var> set;
              for (std::size_t child = 0; child + 1 < parent_offsets.size(); ++child) {
                // First parent fastest after the child: the set runs the other way.
                const auto first = parents.data() + parent_offsets.data()[child];
                set.assign(first, parents.data() + parent_offsets.data()[child + 1]);
                std::ranges::reverse(set);
                set.push_back(static_cast<Var>(child));
                if (stop.poll()) break;
                const auto table = self.expected()->table(set, scratch);
                entries.insert(entries.end(), table.begin(), table.end());
              }
              return entries;
            });
            return own(std::move(counts));
          },
          "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
          "Expected counts of the families of a graph, laid out as its probabilities.")
      .def(
          "families",
          [](const Scorer& self, In<std::int32_t, 1> child, In<std::int64_t, 1> first_parent,
             In<std::int32_t, 1> parents, std::size_t n_threads) {
            return own(run_whole([&](const Stop& stop) {
              return score_families(self.scorer(),
                                    {.child = view(child),
                                     .first_parent = view(first_parent),
                                     .parents = view(parents)},
                                    n_threads, stop);
            }));
          },
          "child"_a.noconvert(), "first_parent"_a.noconvert(), "parents"_a.noconvert(),
          "n_threads"_a);
  m.def(
      "family_counts",
      [](In<std::uint8_t, 2> columns, In<std::int32_t, 1> card, In<double, 1> weights, Var child,
         In<std::int32_t, 1> parents) {
        const Table table = table_of(columns, card);
        std::vector<double> counts;
        {
          nb::gil_scoped_release nogil;
          counts = family_counts(table, view(weights), child, view(parents));
        }
        const auto n_states = static_cast<std::size_t>(card.data()[child]);
        const std::size_t n_configs = counts.size() / n_states;
        return own(std::move(counts), {n_configs, n_states});
      },
      "columns"_a.noconvert(), "card"_a.noconvert(), "weights"_a.noconvert(), "child"_a,
      "parents"_a.noconvert());
  m.def(
      "whole_counts",
      [](In<std::uint8_t, 2> columns, In<std::int32_t, 1> card, In<double, 1> weights,
         In<std::int64_t, 1> first, In<std::int32_t, 1> members, std::size_t n_threads) {
        const Table table = table_of(columns, card);
        return own(run_whole([&](const Stop& stop) {
          return whole_counts(table, view(weights), view(first), view(members), n_threads, stop);
        }));
      },
      "columns"_a.noconvert(), "card"_a.noconvert(), "weights"_a.noconvert(), "first"_a.noconvert(),
      "members"_a.noconvert(), "n_threads"_a,
      "How many rows show all variables of each set, per cell, the first variable fastest.");
  m.def(
      "regret",
      [](double n_rows, In<double, 1> n_cells) {
        const Regret regret(n_rows);
        std::vector<double> values;
        for (const double cells : view(n_cells)) values.push_back(regret(cells));
        return own(std::move(values));
      },
      "n_rows"_a, "n_cells"_a.noconvert(), "The regret of multinomials with so many cells.");
  m.def("n_cores", &n_cores);
  m.def(
      "limit_cores", [](std::size_t n_cores) { core_limit() = n_cores; }, "n_cores"_a,
      "Use at most so many cores by default; 0 for all that there are.");
  m.def("max_threads", &max_threads, "The most threads that any call makes.");
  m.def(
      "limit_calls", [](double seconds) { call_deadline = Stop::after(Clock::now(), seconds); },
      "seconds"_a,
      "From now on, calls of this thread that can be interrupted raise TimeoutError after so many "
      "seconds; 0 for none.");
  m.def(
      "check_calls",
      [] {
        const WholeCall call;
        call.stop().poll();
        call.raise_if_stopped();
      },
      "Raise what such a call of this thread would: TimeoutError, or what a signal handler "
      "raises.");
  m.def(
      "bit_kernel", [] { return bit_kernels().name; },
      "Name of the counting kernel chosen for this processor.");
}

}  // namespace bayesmend::bind
