#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/variable.hpp"

namespace bayesmend {

// Which cells of joint tables the observed rows of an incomplete table show: remembered, since they
// are the same for all of its completions.
class ShownCells {
 public:
  // A bit for each cell, the last variable varying fastest; none at all where every row shows the
  // whole set.
  using Bits = std::vector<std::uint64_t>;

  // The bits of a set, from make() unless they are known. Safe to call from several threads.
  template <class Make>
  std::shared_ptr<const Bits> of(std::span<const Var> set, Make&& make) {
    const std::string key(reinterpret_cast<const char*>(set.data()), set.size_bytes());
    {
      const std::shared_lock lock(mutex_);
      if (const auto known = known_.find(key); known != known_.end()) return known->second;
    }
    auto made = std::make_shared<const Bits>(std::forward<Make>(make)());
    const std::unique_lock lock(mutex_);
    if (n_bytes_ > kMostBytes) return made;
    n_bytes_ += 8 * made->size() + key.size() + 128;
    return known_.try_emplace(key, std::move(made)).first->second;
  }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 26;

  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Bits>> known_;
  std::size_t n_bytes_ = 0;
};

}  // namespace bayesmend
