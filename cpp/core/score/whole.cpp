#include "core/score/whole.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "core/base/require.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kBlock = 8192;  // rows at a time: what is known of them stays in cache
constexpr double kMostCells = 0x1.0p31;

struct Block {
  std::vector<std::uint32_t> cells;  // of the rows, in the table of a set
  std::vector<std::uint8_t> lacks;   // whether they miss one of its variables

  void note(const Table& table, std::span<const Var> set, std::size_t begin, std::size_t end) {
    cells.assign(end - begin, 0);
    lacks.assign(end - begin, 0);
    std::uint32_t stride = 1;
    for (const Var v : set) {
      const std::uint8_t* column = table.column(v).data() + begin;
      for (std::size_t k = 0; k < cells.size(); ++k) cells[k] += stride * column[k];
      for (std::size_t k = 0; k < cells.size(); ++k)
        lacks[k] |= static_cast<std::uint8_t>(column[k] == kMissing);
      stride *= table.card[v];
    }
  }
};

}  // namespace

std::vector<double> whole_counts(const Table& table, std::span<const double> weights,
                                 std::span<const std::uint64_t> first, std::span<const Var> members,
                                 std::size_t n_threads, const Stop& stop) {
  require(!first.empty() && first.back() <= members.size(),
          "sets must name the first of their members.");
  require(weights.empty() || weights.size() == table.n_rows, "there must be one weight per row.");
  std::vector<std::size_t> start{0};
  for (std::size_t s = 0; s + 1 < first.size(); ++s) {
    double n_cells = 1.0;
    for (const Var v : members.subspan(first[s], first[s + 1] - first[s])) {
      require(v < table.n_vars, "a set names an unknown variable.");
      n_cells *= table.card[v];
    }
    if (static_cast<double>(start.back()) + n_cells > kMostCells)
      throw std::length_error("the tables of these sets have more than 2^31 cells.");
    start.push_back(start.back() + static_cast<std::size_t>(n_cells));
  }
  const std::size_t n_blocks = (table.n_rows + kBlock - 1) / kBlock;
  const std::size_t n_used = std::clamp<std::size_t>(n_blocks / 4, 1, resolve_threads(n_threads));
  std::vector<std::vector<double>> counts(n_used);
  std::vector<Block> blocks(n_used);
  const bool is_done = parallel_for(n_blocks, n_used, stop, [&](std::size_t b, std::size_t thread) {
    auto& own = counts[thread];
    auto& block = blocks[thread];
    own.resize(start.back(), 0.0);
    const std::size_t begin = b * kBlock, end = std::min(table.n_rows, begin + kBlock);
    for (std::size_t s = 0; s + 1 < first.size(); ++s) {
      block.note(table, members.subspan(first[s], first[s + 1] - first[s]), begin, end);
      double* to = own.data() + start[s];
      for (std::size_t k = 0; k < end - begin; ++k)
        if (!block.lacks[k]) to[block.cells[k]] += weights.empty() ? 1.0 : weights[begin + k];
    }
  });
  if (!is_done) return {};
  counts[0].resize(start.back(), 0.0);
  for (std::size_t t = 1; t < n_used; ++t)
    for (std::size_t c = 0; c < counts[t].size(); ++c) counts[0][c] += counts[t][c];
  return std::move(counts[0]);
}

}  // namespace bayesmend
