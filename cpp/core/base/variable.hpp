#pragma once

#include <cstdint>

namespace bayesmend {

// The number of a variable. Unsigned, so that it indexes without a cast; half of std::size_t, so
// that long lists of parents stay short in memory.
using Var = std::uint32_t;

}  // namespace bayesmend
