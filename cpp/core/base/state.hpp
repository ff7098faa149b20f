#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace bayesmend {

template <class T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

// Numbers as bytes, of which no other machine has to make sense.
class StateWriter {
 public:
  template <Plain T>
  void put(T value) {
    put_bytes(&value, sizeof value);
  }
  template <Plain T>
  void put(const std::vector<T>& values) {
    put<std::uint64_t>(values.size());
    put_bytes(values.data(), values.size() * sizeof(T));
  }
  std::string take() { return std::exchange(bytes_, {}); }

 private:
  void put_bytes(const void* values, std::size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(values), size);
  }

  std::string bytes_;
};

// Throws std::invalid_argument for bytes that no writer made.
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

  template <Plain T>
  T get() {
    T value;
    get_bytes(&value, sizeof value);
    return value;
  }
  bool get_flag() { return get_below<std::uint8_t>(2) != 0; }
  // What counts something of which there are `end`.
  template <Plain T>
  T get_below(std::size_t end) {
    const T value = get<T>();
    require(static_cast<std::size_t>(value) < end);
    return value;
  }
  template <Plain T>
  std::vector<T> get_all() {
    std::vector<T> values(get_size(sizeof(T)));
    get_bytes(values.data(), values.size() * sizeof(T));
    return values;
  }
  template <Plain T>
  std::vector<T> get_all_below(std::size_t end) {
    auto values = get_all<T>();
    for (const T value : values) require(static_cast<std::size_t>(value) < end);
    return values;
  }
  // How many follow, of at least so many bytes each.
  std::size_t get_size(std::size_t least_bytes) {
    const auto size = get<std::uint64_t>();
    require(size <= bytes_.size() / least_bytes);
    return static_cast<std::size_t>(size);
  }
  void require_end() const { require(bytes_.empty()); }
  static void require(bool makes_sense) {
    if (!makes_sense) throw std::invalid_argument("the state of a search makes no sense");
  }

 private:
  void get_bytes(void* values, std::size_t size) {
    require(size <= bytes_.size());
    if (size > 0) std::memcpy(values, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }

  std::string_view bytes_;
};

// Keeps the state of a long search outside of it, so that another process can go on from there.
class Keeper {
 public:
  using Clock = std::chrono::steady_clock;
  // Returns after how many seconds to come again.
  using Save = std::function<double(const std::string&)>;

  // Keeps nothing.
  Keeper() = default;
  // `earlier`: what an earlier search kept last; empty where there was none.
  Keeper(std::string earlier, double seconds, Save save)
      : earlier_(std::move(earlier)), save_(std::move(save)) {
    wait(seconds);
  }

  bool is_there() const { return static_cast<bool>(save_); }
  const std::string& earlier() const { return earlier_; }
  // From any thread: saves what `state` makes, where it is time to.
  template <class State>
  void offer(State&& state) {
    if (!save_) return;
    const std::lock_guard lock(mutex_);
    if (Clock::now() >= next_) wait(save_(state()));
  }
  // The same when the search is over: at once, where it takes longer to do the rest again.
  template <class State>
  void finish(State&& state) {
    if (!save_) return;
    const std::lock_guard lock(mutex_);
    if (Clock::now() - last_ >= kLeastToSave) wait(save_(state()));
  }

 private:
  static constexpr std::chrono::milliseconds kLeastToSave{10};

  void wait(double seconds) {
    last_ = Clock::now();
    next_ =
        last_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }

  std::string earlier_;
  Save save_;
  Clock::time_point last_, next_;
  std::mutex mutex_;
};

}  // namespace bayesmend
