#include "bind/bind.hpp"

namespace bayesmend::bind {
void bind_augment(nb::module_& m);
void bind_clusters(nb::module_& m);
void bind_csv(nb::module_& m);
void bind_holes(nb::module_& m);
void bind_patterns(nb::module_& m);
void bind_sample(nb::module_& m);
void bind_score(nb::module_& m);
void bind_structure(nb::module_& m);
void bind_weighting(nb::module_& m);
}  // namespace bayesmend::bind

NB_MODULE(_core, m) {
  using namespace bayesmend::bind;
  m.doc() = "The compiled core: encoded integers in, numbers out.";
  bind_augment(m);
  bind_clusters(m);
  bind_csv(m);
  bind_holes(m);
  bind_patterns(m);
  bind_sample(m);
  bind_score(m);
  bind_structure(m);
  bind_weighting(m);
}
