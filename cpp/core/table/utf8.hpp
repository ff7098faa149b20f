#pragma once

#include <cstddef>
#include <string_view>

namespace bayesmend {

// Position of the first byte that is not part of well-formed UTF-8 (no overlong forms, no
// surrogates, nothing above U+10FFFF); the size of the text when all of it is.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace bayesmend
