#include "core/table/patterns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>

#include "core/base/hash.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kBlock = 512;  // rows turned at a time, so that they stay in cache

// Rows one after the other, each padded with zeros to whole words, and a hash of each.
struct Rows {
  Rows(std::size_t n_vars, std::size_t n_rows)
      : n_words((n_vars + 7) / 8),
        words(std::make_unique_for_overwrite<std::uint64_t[]>(n_words * n_rows)),
        hashes(std::make_unique_for_overwrite<std::uint64_t[]>(n_rows)) {}

  bool equal(std::size_t a, std::size_t b) const {
    const std::uint64_t* one = words.get() + a * n_words;
    return std::equal(one, one + n_words, words.get() + b * n_words);
  }

  void prepare(std::span<const std::uint8_t> cells, std::size_t n_vars, std::size_t n_rows,
               std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) hashes[row] = n_vars;
    for (std::size_t word = 0; word < n_words; ++word) {
      std::uint64_t block[kBlock] = {};
      for (std::size_t variable = 8 * word; variable < std::min(n_vars, 8 * word + 8); ++variable) {
        const std::uint8_t* column = cells.data() + variable * n_rows;
        const std::size_t shift = 8 * (variable % 8);
        for (std::size_t row = begin; row < end; ++row) {
          block[row - begin] |= std::uint64_t{column[row]} << shift;
        }
      }
      for (std::size_t row = begin; row < end; ++row) {
        words[row * n_words + word] = block[row - begin];
        hashes[row] = extend_hash(hashes[row], block[row - begin]);
      }
    }
  }

  std::size_t n_words;
  std::unique_ptr<std::uint64_t[]> words;
  std::unique_ptr<std::uint64_t[]> hashes;
};

// Open addressing over the distinct rows found so far.
class Index {
 public:
  explicit Index(const Rows& rows) : rows_(rows), slots_(1024, kFree) {}

  std::uint64_t find_or_add(std::size_t row, std::vector<std::uint64_t>& first) {
    const std::uint64_t hash = rows_.hashes[row];
    std::size_t i = hash & (slots_.size() - 1);
    for (; slots_[i] != kFree; i = (i + 1) & (slots_.size() - 1)) {
      const auto known = first[slots_[i]];
      if (rows_.hashes[known] == hash && rows_.equal(known, row)) return slots_[i];
    }
    const std::uint64_t added = slots_[i] = first.size();
    first.push_back(row);
    if (2 * first.size() > slots_.size()) grow(first);
    return added;
  }

 private:
  void grow(const std::vector<std::uint64_t>& first) {
    slots_.assign(4 * slots_.size(), kFree);
    for (std::size_t k = 0; k < first.size(); ++k) {
      std::size_t i = rows_.hashes[first[k]] & (slots_.size() - 1);
      while (slots_[i] != kFree) i = (i + 1) & (slots_.size() - 1);
      slots_[i] = k;
    }
  }

  static constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();

  const Rows& rows_;
  std::vector<std::uint64_t> slots_;
};

}  // namespace

DistinctRows distinct_rows(std::span<const std::uint8_t> cells, std::size_t n_vars,
                           std::size_t n_rows, std::size_t n_threads, const Stop& stop) {
  DistinctRows result;
  Rows rows(n_vars, n_rows);
  const std::size_t n_blocks = (n_rows + kBlock - 1) / kBlock;
  const bool finished = parallel_for(
      n_blocks, n_blocks < 8 ? 1 : n_threads, stop, [&](std::size_t block, std::size_t) {
        const std::size_t begin = block * kBlock;
        rows.prepare(cells, n_vars, n_rows, begin, std::min(n_rows, begin + kBlock));
      });
  if (!finished) return result;
  Index index(rows);
  result.inverse.resize(n_rows);
  for (std::size_t row = 0; row < n_rows; ++row) {
    if (row % (std::size_t{1} << 20) == (std::size_t{1} << 20) - 1 && stop.poll()) return result;
    const std::uint64_t pattern = index.find_or_add(row, result.first);
    result.inverse[row] = pattern;
    result.count.resize(result.first.size());
    ++result.count[pattern];
  }
  return result;
}

}  // namespace bayesmend
