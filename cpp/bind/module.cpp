#include "bind/bind.hpp"

namespace bayesmend::bind {

void bind_clusters(nb::module_& m);
void bind_sample(nb::module_& m);

}  // namespace bayesmend::bind

NB_MODULE(_core, m) {
  m.doc() = "The compiled core: encoded integers in, numbers out.";
  bayesmend::bind::bind_clusters(m);
  bayesmend::bind::bind_sample(m);
}
