#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bind/results.hpp"
#include "bind/scorer.hpp"
#include "bind/stop.hpp"
#include "core/structure/candidates.hpp"
#include "core/structure/clusters.hpp"
#include "core/structure/greedy.hpp"
#include "core/structure/order.hpp"
#include "core/structure/partition.hpp"
#include "core/structure/posterior.hpp"
#include "core/structure/rounding.hpp"
#include "core/structure/subsets.hpp"

namespace bayesmend::bind {
namespace {

using Offsets = In<std::int64_t, 1>;
using Numbers = In<double, 1>;
using Vars = In<std::int32_t, 1>;
using Rules = In<std::uint8_t, 2>;
using ParentsOfEach = std::vector<std::vector<Var>>;

ParentLists lists_of(const Offsets& offsets, const Numbers& scores, const Offsets& member_offsets,
                     const Vars& members) {
  return {.offsets = view(offsets),
          .scores = view(scores),
          .member_offsets = view(member_offsets),
          .members = view(members)};
}

ParentRules rules_of(const Rules& allowed, const Rules& required, const Vars& limit) {
  return {.allowed = view(allowed), .required = view(required), .limit = view(limit)};
}

void bind_candidates(nb::module_& m) {
  nb::class_<OwnedParentLists>(m, "ParentLists", "Candidate parent sets as compressed rows.")
      .def_prop_ro("offsets", signed_array_of(&OwnedParentLists::offsets))
      .def_prop_ro("scores", array_of(&OwnedParentLists::scores))
      .def_prop_ro("member_offsets", signed_array_of(&OwnedParentLists::member_offsets))
      .def_prop_ro("members", signed_array_of(&OwnedParentLists::members));
  m.def(
      "all_candidates",
      [](const Scorer& scorer, Rules allowed, Rules required, Vars limit, std::size_t n_threads) {
        return run_whole([&](const Stop& stop) {
          return all_candidates(scorer.scorer(), rules_of(allowed, required, limit), n_threads,
                                stop);
        });
      },
      "scorer"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "limit"_a.noconvert(),
      "n_threads"_a);
  m.def(
      "promising_candidates",
      [](const Scorer& scorer, Rules allowed, Rules required, Vars limit,
         const ParentsOfEach& seeds, std::size_t max_sets, double seconds_per_child,
         std::size_t n_threads) {
        return run_whole([&](const Stop& stop) {
          return promising_candidates(scorer.scorer(), rules_of(allowed, required, limit), seeds,
                                      max_sets, seconds_per_child, n_threads, stop);
        });
      },
      "scorer"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "limit"_a.noconvert(),
      "seeds"_a, "max_sets"_a, "seconds_per_child"_a, "n_threads"_a);
}

void bind_subsets(nb::module_& m) {
  nb::class_<SubsetSolution>(m, "SubsetSolution", "The best DAG, by subsets of the variables.")
      .def_ro("score", &SubsetSolution::score)
      .def_prop_ro("choices", signed_array_of(&SubsetSolution::choices))
      .def_prop_ro("best_through", array_of(&SubsetSolution::best_through))
      .def_ro("stopped", &SubsetSolution::stopped);
  m.def("subsets_memory", &SubsetProgram::memory, "n_vars"_a, "through"_a);
  m.def(
      "solve_subsets",
      [](Offsets offsets, Numbers scores, Offsets member_offsets, Vars members, bool through,
         double seconds, std::size_t n_threads) {
        return SearchCall(seconds).run([&](const Stop& stop) {
          return solve_subsets(lists_of(offsets, scores, member_offsets, members), through,
                               n_threads, stop);
        });
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "through"_a, "seconds"_a, "n_threads"_a);
}

void bind_posterior(nb::module_& m) {
  nb::class_<DagAverage>(m, "DagAverage", "What all DAGs say together, weighted by their scores.")
      .def_ro("log_total", &DagAverage::log_total)
      .def_prop_ro("families", array_of(&DagAverage::families))
      .def_prop_ro("arcs", array_of(&DagAverage::arcs))
      .def_prop_ro("paths", array_of(&DagAverage::paths))
      .def_prop_ro("draws", signed_array_of(&DagAverage::draws))
      .def_ro("stopped", &DagAverage::stopped);
  m.def("dag_average_memory", &dag_average_memory, "n_vars"_a, "n_threads"_a);
  m.def(
      "average_dags",
      [](Offsets offsets, Numbers scores, Offsets member_offsets, Vars members, std::size_t n_draws,
         double seconds, std::uint64_t seed, std::size_t n_threads) {
        return SearchCall(seconds).run([&](const Stop& stop) {
          return average_dags(lists_of(offsets, scores, member_offsets, members),
                              {.n_draws = n_draws, .seed = seed}, n_threads, stop);
        });
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "n_draws"_a, "seconds"_a, "seed"_a, "n_threads"_a);
  nb::class_<PartitionSamples>(m, "PartitionSamples", "DAGs drawn by chains over partitions.")
      .def_prop_ro("choices", signed_array_of(&PartitionSamples::choices))
      .def_prop_ro("scores", array_of(&PartitionSamples::scores))
      .def_prop_ro("layers", signed_array_of(&PartitionSamples::layers))
      .def_ro("n_samples", &PartitionSamples::n_samples)
      .def_ro("stopped", &PartitionSamples::stopped);
  m.attr("MAX_PARTITION_VARS") = kMostPartitionVars;
  m.def(
      "sample_partitions",
      [](Offsets offsets, Numbers scores, Offsets member_offsets, Vars members, Vars start,
         std::size_t n_chains, std::size_t n_samples, std::size_t n_steps, std::size_t burn_in,
         double seconds, std::uint64_t seed, std::size_t n_threads, nb::object report) {
        SearchCall call(seconds, std::move(report));
        return call.run([&](const Stop& stop) {
          return sample_partitions(lists_of(offsets, scores, member_offsets, members), view(start),
                                   {.n_chains = n_chains,
                                    .n_samples = n_samples,
                                    .n_steps = n_steps,
                                    .burn_in = burn_in,
                                    .seed = seed,
                                    .progress = call.progress()},
                                   n_threads, stop);
        });
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "start"_a.noconvert(), "n_chains"_a, "n_samples"_a, "n_steps"_a,
      "burn_in"_a, "seconds"_a, "seed"_a, "n_threads"_a, "report"_a.none());
}

void bind_orders(nb::module_& m) {
  nb::class_<OrderResult>(m, "OrderResult", "The best DAG that a search over orders met.")
      .def_ro("score", &OrderResult::score)
      .def_prop_ro("choices", signed_array_of(&OrderResult::choices))
      .def_ro("n_perturbations", &OrderResult::n_perturbations)
      .def_ro("stopped", &OrderResult::stopped);
  m.def(
      "search_orders",
      [](Offsets offsets, Numbers scores, Offsets member_offsets, Vars members, Vars start,
         std::size_t n_chains, std::size_t patience, std::size_t max_window, double seconds,
         std::uint64_t seed, std::size_t n_threads, nb::object report) {
        SearchCall call(seconds, std::move(report));
        return call.run([&](const Stop& stop) {
          const auto order = view(start);
          return search_orders(lists_of(offsets, scores, member_offsets, members),
                               {order.begin(), order.end()},
                               {.n_chains = n_chains,
                                .patience = patience,
                                .max_window = max_window,
                                .seed = seed,
                                .progress = call.progress()},
                               n_threads, stop);
        });
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "start"_a.noconvert(), "n_chains"_a, "patience"_a, "max_window"_a,
      "seconds"_a, "seed"_a, "n_threads"_a, "report"_a.none());
}

void bind_greedy(nb::module_& m) {
  nb::class_<GreedyResult>(m, "GreedyResult", "The best DAG that hill climbing met.")
      .def_ro("score", &GreedyResult::score)
      .def_ro("parents", &GreedyResult::parents)
      .def_prop_ro("others",
                   [](const GreedyResult& result) {
                     std::vector<std::pair<double, ParentsOfEach>> found;
                     for (const auto& [score, parents] : result.others)
                       found.emplace_back(score, parents);
                     return found;
                   })
      .def_ro("promising", &GreedyResult::promising)
      .def_ro("n_changes", &GreedyResult::n_changes)
      .def_ro("n_restarts", &GreedyResult::n_restarts)
      .def_ro("stopped", &GreedyResult::stopped);
  m.def(
      "climb_greedily",
      [](const Scorer& scorer, Rules allowed, Rules required, Vars limit,
         const ParentsOfEach& start, std::size_t tabu_length, std::size_t tabu_moves,
         std::size_t restarts, double near, std::size_t n_promising, std::size_t max_remembered,
         double seconds, std::uint64_t seed, std::size_t n_threads, nb::object report) {
        SearchCall call(seconds, std::move(report));
        return call.run([&](const Stop& stop) {
          return climb_greedily(scorer.scorer(), rules_of(allowed, required, limit), start,
                                {.tabu_length = tabu_length,
                                 .tabu_moves = tabu_moves,
                                 .restarts = restarts,
                                 .near = near,
                                 .n_promising = n_promising,
                                 .max_remembered = max_remembered,
                                 .seed = seed,
                                 .progress = call.progress()},
                                n_threads, stop);
        });
      },
      "scorer"_a, "allowed"_a.noconvert(), "required"_a.noconvert(), "limit"_a.noconvert(),
      "start"_a, "tabu_length"_a, "tabu_moves"_a, "restarts"_a, "near"_a, "n_promising"_a,
      "max_remembered"_a, "seconds"_a, "seed"_a, "n_threads"_a, "report"_a.none());
}

void bind_relaxation(nb::module_& m) {
  nb::class_<Ragged>(m, "Ragged", "Rows of integers of unequal length.")
      .def_prop_ro("offsets", signed_array_of(&Ragged::offsets))
      .def_prop_ro("items", signed_array_of(&Ragged::items));
  nb::class_<ClusterCuts>(m, "ClusterCuts", "Clusters of variables and their inequalities.")
      .def_ro("clusters", &ClusterCuts::clusters)
      .def_ro("candidates", &ClusterCuts::candidates, "The terms of each inequality.")
      .def_prop_ro("misses", array_of(&ClusterCuts::misses),
                   "1: their sum is at least 1; 0: at most the size of the cluster less 1.");
  m.def(
      "violated_clusters",
      [](Offsets offsets, Numbers scores, Offsets member_offsets, Vars members, Numbers weights,
         std::size_t max_clusters, std::size_t steps, std::size_t final_steps, double min_violation,
         double seconds, bool must_find) {
        nb::gil_scoped_release nogil;
        return violated_clusters(lists_of(offsets, scores, member_offsets, members), view(weights),
                                 {.max_clusters = max_clusters,
                                  .steps = steps,
                                  .final_steps = final_steps,
                                  .min_violation = min_violation,
                                  .must_find = must_find},
                                 Stop(seconds));
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "weights"_a.noconvert(), nb::kw_only(), "max_clusters"_a, "steps"_a,
      "final_steps"_a, "min_violation"_a, "seconds"_a, "must_find"_a,
      "Clusters whose inequality the weights violate, and the terms of the inequalities.");
  m.def(
      "order_from_lp",
      [](Offsets offsets, Numbers scores, Offsets member_offsets, Vars members, Numbers weights,
         std::size_t kicks, std::uint64_t seed, double seconds) {
        std::vector<std::int32_t> chosen;
        {
          nb::gil_scoped_release nogil;
          const auto found =
              order_from_lp(lists_of(offsets, scores, member_offsets, members), view(weights),
                            {.kicks = kicks, .seed = seed}, Stop(seconds));
          chosen.assign(found.chosen.begin(), found.chosen.end());
        }
        return own(std::move(chosen));
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "weights"_a.noconvert(), nb::kw_only(), "kicks"_a, "seed"_a,
      "seconds"_a, "An acyclic choice of candidates near the weights (-1: none fits).");
}

}  // namespace

void bind_structure(nb::module_& m) {
  bind_candidates(m);
  bind_subsets(m);
  bind_posterior(m);
  bind_orders(m);
  bind_greedy(m);
  bind_relaxation(m);
}

}  // namespace bayesmend::bind
