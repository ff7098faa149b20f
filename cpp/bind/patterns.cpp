#include "core/table/patterns.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind/stop.hpp"

namespace bayesmend::bind {

void bind_patterns(nb::module_& m) {
  m.def(
      "distinct_rows",
      [](In<std::uint8_t, 2> cells, std::size_t n_threads) {
        auto rows = run_whole([&](const Stop& stop) {
          return distinct_rows(view(cells), cells.shape(0), cells.shape(1), n_threads, stop);
        });
        return std::make_tuple(own_signed(std::move(rows.first)), own_signed(std::move(rows.count)),
                               own_signed(std::move(rows.inverse)));
      },
      "cells"_a.noconvert(), "n_threads"_a = 0);
}

}  // namespace bayesmend::bind
