#include "core/network/weighting.hpp"

#include "bind/stop.hpp"

namespace bayesmend::bind {
namespace {

using Ints = In<std::int32_t, 1>;
using Longs = In<std::int64_t, 1>;
using Doubles = In<double, 1>;
using Bytes = In<std::uint8_t, 1>;
using Cells = In<std::uint8_t, 2>;

}  // namespace

void bind_weighting(nb::module_& m) {
  m.def(
      "weigh",
      [](Ints card, Longs parent_offsets, Ints parents, Longs cpt_offsets, Doubles cpts, Ints order,
         Cells columns, Bytes targets, std::size_t n_samples, std::uint64_t seed,
         std::size_t n_threads) {
        const FlatNetwork network{view(card), view(parent_offsets), view(parents),
                                  view(cpt_offsets), view(cpts)};
        const Table table{view(columns), view(card), columns.shape(0), columns.shape(1)};
        auto found = run_whole([&](const Stop& stop) {
          return weigh(network, view(order), table, view(targets), n_samples, seed, n_threads,
                       stop);
        });
        return nb::make_tuple(own(std::move(found.probabilities)), own(std::move(found.errors)),
                              own(std::move(found.log_evidence)), own(std::move(found.effective)));
      },
      "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
      "cpt_offsets"_a.noconvert(), "cpts"_a.noconvert(), "order"_a.noconvert(),
      "columns"_a.noconvert(), "targets"_a.noconvert(), "n_samples"_a, "seed"_a, "n_threads"_a,
      "Likelihood weighting: probabilities and standard errors of the missing cells, variable by "
      "variable; log-probability and effective number of draws of each row.");
  m.def(
      "weighted_draws",
      [](Ints card, Longs parent_offsets, Ints parents, Longs cpt_offsets, Doubles cpts, Ints order,
         Cells columns, std::size_t n_samples, std::size_t n_draws, std::uint64_t seed,
         std::size_t n_threads) {
        const FlatNetwork network{view(card), view(parent_offsets), view(parents),
                                  view(cpt_offsets), view(cpts)};
        const Table table{view(columns), view(card), columns.shape(0), columns.shape(1)};
        auto found = run_whole([&](const Stop& stop) {
          return weighted_draws(network, view(order), table, n_samples, n_draws, seed, n_threads,
                                stop);
        });
        return nb::make_tuple(own(std::move(found.cells), {n_draws, table.n_vars, table.n_rows}),
                              own(std::move(found.log_evidence)), own(std::move(found.effective)));
      },
      "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
      "cpt_offsets"_a.noconvert(), "cpts"_a.noconvert(), "order"_a.noconvert(),
      "columns"_a.noconvert(), "n_samples"_a, "n_draws"_a, "seed"_a, "n_threads"_a,
      "Completed tables by likelihood weighting; log-probability and effective number of draws of "
      "each row.");
}

}  // namespace bayesmend::bind
