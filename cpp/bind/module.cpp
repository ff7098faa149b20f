#include "bind/bind.hpp"
#include "core/base/room.hpp"
#include "core/base/stop.hpp"

namespace bayesmend::bind {
void bind_table(nb::module_& m);
void bind_score(nb::module_& m);
void bind_structure(nb::module_& m);
void bind_network(nb::module_& m);
void bind_inference(nb::module_& m);
void bind_augment(nb::module_& m);
}  // namespace bayesmend::bind

NB_MODULE(_core, m) {
  using namespace bayesmend::bind;
  using bayesmend::StopReason;
  bayesmend::make_thread_data();
  m.doc() = "The compiled core: encoded integers in, numbers out.";
  nb::enum_<StopReason>(m, "StopReason", "What ended a search before it was done.")
      .value("nothing", StopReason::nothing)
      .value("time", StopReason::time)
      .value("memory", StopReason::memory)
      .value("nodes", StopReason::nodes)
      .value("interrupt", StopReason::interrupt);
  bind_table(m);
  bind_score(m);
  bind_structure(m);
  bind_network(m);
  bind_inference(m);
  bind_augment(m);
}
