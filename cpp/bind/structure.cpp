#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <tuple>

#include "bind/scorer.hpp"
#include "bind/stop.hpp"
#include "core/structure/candidates.hpp"
#include "core/structure/greedy.hpp"
#include "core/structure/order.hpp"
#include "core/structure/subsets.hpp"

namespace bayesmend::bind {
namespace {

using Offsets = In<std::int64_t, 1>;
using Scores = In<double, 1>;
using Members = In<std::int32_t, 1>;
using Rules = In<std::uint8_t, 2>;

ParentLists lists_of(const Offsets& offsets, const Scores& scores, const Offsets& member_offsets,
                     const Members& members) {
  return {view(offsets), view(scores), view(member_offsets), view(members)};
}

auto candidates_tuple(OwnedParentLists&& lists, const CandidateCount& count) {
  return std::make_tuple(own_signed(std::move(lists.offsets)), own(std::move(lists.scores)),
                         own_signed(std::move(lists.member_offsets)),
                         own_signed(std::move(lists.members)), count.n_scored, count.n_skipped);
}

void bind_candidates(nb::module_& m) {
  m.def(
      "all_candidates",
      [](const Scorer& scorer, Rules allowed, Rules required, Members limit,
         std::size_t n_threads) {
        CandidateCount count;
        auto lists = run_whole([&](const Stop& stop) {
          return all_candidates(scorer.scorer(), {view(allowed), view(required), view(limit)},
                                n_threads, stop, count);
        });
        return candidates_tuple(std::move(lists), count);
      },
      "scorer"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "limit"_a.noconvert(),
      "n_threads"_a);
  m.def(
      "promising_candidates",
      [](const Scorer& scorer, Rules allowed, Rules required, Members limit,
         const std::vector<std::vector<Var>>& seeds, std::size_t max_sets, double seconds_per_child,
         std::size_t n_threads) {
        CandidateCount count;
        auto lists = run_whole([&](const Stop& stop) {
          return promising_candidates(scorer.scorer(), {view(allowed), view(required), view(limit)},
                                      seeds, max_sets, seconds_per_child, n_threads, stop, count);
        });
        return candidates_tuple(std::move(lists), count);
      },
      "scorer"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "limit"_a.noconvert(),
      "seeds"_a, "max_sets"_a, "seconds_per_child"_a, "n_threads"_a);
}

void bind_subsets(nb::module_& m) {
  m.def("subsets_memory", &SubsetProgram::memory, "n_vars"_a, "through"_a);
  m.def(
      "solve_subsets",
      [](Offsets offsets, Scores scores, Offsets member_offsets, Members members, bool through,
         double seconds, std::size_t n_threads) {
        SearchCall call(seconds);
        auto found = call.run([&](const Stop& stop) {
          return solve_subsets(lists_of(offsets, scores, member_offsets, members), through,
                               n_threads, stop);
        });
        return std::make_tuple(own_signed(std::move(found.choices)), found.score,
                               own(std::move(found.best_through)),
                               found.stopped == StopReason::nothing, call.was_interrupted());
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "through"_a, "seconds"_a, "n_threads"_a);
}

void bind_searches(nb::module_& m) {
  m.def(
      "search_orders",
      [](Offsets offsets, Scores scores, Offsets member_offsets, Members members, Members start,
         std::size_t n_chains, std::size_t patience, std::size_t max_window, double seconds,
         std::uint64_t seed, std::size_t n_threads, nb::object report) {
        SearchCall call(seconds, std::move(report));
        auto result = call.run([&](const Stop& stop) {
          const std::vector<Var> order(start.data(), start.data() + start.size());
          return search_orders(lists_of(offsets, scores, member_offsets, members), order,
                               {n_chains, patience, max_window, seed, call.progress()}, n_threads,
                               stop);
        });
        return std::make_tuple(own(std::move(result.choices)), result.n_perturbations,
                               result.stopped != StopReason::nothing, call.was_interrupted());
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "start"_a.noconvert(), "n_chains"_a, "patience"_a, "max_window"_a,
      "seconds"_a, "seed"_a, "n_threads"_a, "report"_a.none());
  m.def(
      "climb_greedily",
      [](const Scorer& scorer, Rules allowed, Rules required, Members limit,
         const std::vector<std::vector<Var>>& start, std::size_t tabu_length,
         std::size_t tabu_moves, std::size_t restarts, double seconds, std::uint64_t seed,
         std::size_t n_threads, nb::object report) {
        SearchCall call(seconds, std::move(report));
        const auto result = call.run([&](const Stop& stop) {
          return climb_greedily(scorer.scorer(), {view(allowed), view(required), view(limit)},
                                start, {tabu_length, tabu_moves, restarts, seed, call.progress()},
                                n_threads, stop);
        });
        return std::make_tuple(result.parents, result.score, result.n_changes,
                               call.stop().has_ended(), call.was_interrupted());
      },
      "scorer"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "limit"_a.noconvert(),
      "start"_a, "tabu_length"_a, "tabu_moves"_a, "restarts"_a, "seconds"_a, "seed"_a,
      "n_threads"_a, "report"_a.none());
}

}  // namespace

void bind_structure(nb::module_& m) {
  bind_candidates(m);
  bind_subsets(m);
  bind_searches(m);
}

}  // namespace bayesmend::bind
