#include "bind/stop.hpp"
#include "core/network/sample.hpp"

namespace bayesmend::bind {
namespace {

using Ints = In<std::int32_t, 1>;
using Longs = In<std::int64_t, 1>;
using Doubles = In<double, 1>;

FlatNetwork flat(const Ints& card, const Longs& parent_offsets, const Ints& parents,
                 const Longs& cpt_offsets, const Doubles& cpts) {
  return {.card = view(card),
          .parent_offsets = view(parent_offsets),
          .parents = view(parents),
          .cpt_offsets = view(cpt_offsets),
          .cpts = view(cpts)};
}

}  // namespace

void bind_network(nb::module_& m) {
  m.def(
      "sample",
      [](Ints card, Longs parent_offsets, Ints parents, Longs cpt_offsets, Doubles cpts, Ints order,
         std::size_t n_rows, std::uint64_t seed, std::size_t n_threads) {
        const FlatNetwork network = flat(card, parent_offsets, parents, cpt_offsets, cpts);
        auto cells = run_whole([&](const Stop& stop) {
          return sample(network, view(order), n_rows, seed, n_threads, stop);
        });
        return own(std::move(cells), {network.n_vars(), n_rows});
      },
      "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
      "cpt_offsets"_a.noconvert(), "cpts"_a.noconvert(), "order"_a.noconvert(), "n_rows"_a,
      "seed"_a, "n_threads"_a, "Draw rows; the result has shape (n_vars, n_rows).");
  m.def(
      "log_likelihood",
      [](Ints card, Longs parent_offsets, Ints parents, Longs cpt_offsets, Doubles cpts,
         In<std::uint8_t, 2> cells, std::size_t n_threads) {
        const FlatNetwork network = flat(card, parent_offsets, parents, cpt_offsets, cpts);
        const Table table = table_of(cells, card);
        return own(run_whole(
            [&](const Stop& stop) { return log_likelihood(network, table, n_threads, stop); }));
      },
      "card"_a.noconvert(), "parent_offsets"_a.noconvert(), "parents"_a.noconvert(),
      "cpt_offsets"_a.noconvert(), "cpts"_a.noconvert(), "cells"_a.noconvert(), "n_threads"_a,
      "Log-probability of each row of a complete table of shape (n_vars, n_rows).");
}

}  // namespace bayesmend::bind
