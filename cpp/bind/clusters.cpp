#include "core/structure/clusters.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind/bind.hpp"
#include "core/structure/rounding.hpp"

namespace bayesmend::bind {
namespace {

using Counts = In<std::int64_t, 1>;
using Indices = In<std::int32_t, 1>;
using Values = In<double, 1>;

ParentLists families(const Counts& offsets, const Values& scores, const Counts& member_offsets,
                     const Indices& members) {
  return {view(offsets), view(scores), view(member_offsets), view(members)};
}

}  // namespace

void bind_clusters(nb::module_& m) {
  m.def(
      "violated_clusters",
      [](Counts offsets, Values scores, Counts member_offsets, Indices members, Values weights,
         std::size_t max_clusters, std::size_t steps, std::size_t final_steps, double min_violation,
         double seconds, bool must_find) {
        const auto all = families(offsets, scores, member_offsets, members);
        Ragged clusters;
        ClusterRows rows;
        {
          nb::gil_scoped_release nogil;
          clusters = violated_clusters(all, view(weights),
                                       {max_clusters, steps, final_steps, min_violation, must_find},
                                       Stop(seconds));
          rows = cluster_rows(all, clusters);
        }
        return std::make_tuple(
            own_signed(std::move(clusters.offsets)), own_signed(std::move(clusters.items)),
            own_signed(std::move(rows.candidates.offsets)),
            own_signed(std::move(rows.candidates.items)), own(std::move(rows.misses)));
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "weights"_a.noconvert(), nb::kw_only(), "max_clusters"_a, "steps"_a,
      "final_steps"_a, "min_violation"_a, "seconds"_a, "must_find"_a,
      "Clusters whose inequality the weights violate, and the terms of the inequalities.");
  m.def(
      "order_from_lp",
      [](Counts offsets, Values scores, Counts member_offsets, Indices members, Values weights,
         std::size_t kicks, std::uint64_t seed, double seconds) {
        const auto all = families(offsets, scores, member_offsets, members);
        Selection selection;
        {
          nb::gil_scoped_release nogil;
          selection = order_from_lp(all, view(weights), {kicks, seed}, Stop(seconds));
        }
        return own(std::vector<std::int32_t>(selection.chosen.begin(), selection.chosen.end()));
      },
      "offsets"_a.noconvert(), "scores"_a.noconvert(), "member_offsets"_a.noconvert(),
      "members"_a.noconvert(), "weights"_a.noconvert(), nb::kw_only(), "kicks"_a, "seed"_a,
      "seconds"_a, "An acyclic choice of candidates near the weights (-1: none fits).");
}

}  // namespace bayesmend::bind
