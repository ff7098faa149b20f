#include "bind/bind.hpp"

namespace bayesmend::bind {}  // namespace bayesmend::bind

NB_MODULE(_core, m) { m.doc() = "The compiled core: encoded integers in, numbers out."; }
