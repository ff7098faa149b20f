#include "bind/bind.hpp"

namespace bayesmend::bind {

void bind_csv(nb::module_& m);
void bind_patterns(nb::module_& m);

}  // namespace bayesmend::bind

NB_MODULE(_core, m) {
  m.doc() = "The compiled core: encoded integers in, numbers out.";
  bayesmend::bind::bind_csv(m);
  bayesmend::bind::bind_patterns(m);
}
