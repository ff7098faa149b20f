#pragma once

#include <cstddef>
#include <exception>

#if __has_include(<sys/mman.h>) && __has_include(<sys/resource.h>)
#include <sys/mman.h>
#include <sys/resource.h>
#define BAYESMEND_HAS_LIMITS
#endif

namespace bayesmend {

// Has the data that the runtime keeps for the calling thread made now, while there is memory: where
// there is none, an exception of the thread would end the process instead of being thrown.
inline void make_thread_data() { static_cast<void>(std::current_exception()); }

// Whether the process may not grow as it likes. Cheap.
inline bool is_memory_limited() {
#ifdef BAYESMEND_HAS_LIMITS
  for (const auto kind : {RLIMIT_AS, RLIMIT_DATA})
    if (rlimit limit{}; getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      return true;
#endif
  return false;
}

// Address space that is held and then given back, so that it is known to be there.
class Room {
 public:
  explicit Room([[maybe_unused]] std::size_t n_bytes) {
#ifdef BAYESMEND_HAS_LIMITS
    n_bytes_ = n_bytes;
    place_ = mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() {
#ifdef BAYESMEND_HAS_LIMITS
    if (is_there()) munmap(place_, n_bytes_);
#endif
  }
  bool is_there() const {
#ifdef BAYESMEND_HAS_LIMITS
    return place_ != MAP_FAILED;
#else
    return true;
#endif
  }

#ifdef BAYESMEND_HAS_LIMITS
 private:
  std::size_t n_bytes_;
  void* place_;
#endif
};

}  // namespace bayesmend
