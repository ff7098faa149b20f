#include "core/table/utf8.hpp"

namespace bayesmend {
namespace {

struct Lead {
  std::size_t n_bytes;       // of the whole sequence, 0 for a byte that cannot lead
  unsigned char low = 0x80;  // bounds of the second byte
  unsigned char high = 0xBF;
};

Lead classify(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte < 0xC2) return {0};
  if (byte < 0xE0) return {2};
  if (byte < 0xF0) {
    return {3, static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : 0x80),
            static_cast<unsigned char>(byte == 0xED ? 0x9F : 0xBF)};
  }
  if (byte < 0xF5) {
    return {4, static_cast<unsigned char>(byte == 0xF0 ? 0x90 : 0x80),
            static_cast<unsigned char>(byte == 0xF4 ? 0x8F : 0xBF)};
  }
  return {0};
}

}  // namespace

std::size_t first_invalid_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const Lead lead = classify(byte(i));
    if (lead.n_bytes == 0 || i + lead.n_bytes > text.size()) return i;
    for (std::size_t k = 1; k < lead.n_bytes; ++k) {
      const unsigned char low = k == 1 ? lead.low : 0x80;
      const unsigned char high = k == 1 ? lead.high : 0xBF;
      if (byte(i + k) < low || byte(i + k) > high) return i;
    }
    i += lead.n_bytes;
  }
  return text.size();
}

}  // namespace bayesmend
