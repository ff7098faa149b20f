#include "core/inference/cliques.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/bits.hpp"
#include "core/base/rng.hpp"

namespace bayesmend {
namespace {

// Above so many entries a better order is worth so many tries.
constexpr double kWorthTries = 1e6;
constexpr std::size_t kTries = 30;

// The graph in which two positions are linked when a factor holds both.
class Links {
 public:
  explicit Links(std::size_t n) : n_words_((n + 63) / 64), bits_(n * n_words_, 0), is_left_(n, 1) {}

  void link(std::uint32_t a, std::uint32_t b) {
    if (a == b) return;
    bits_[a * n_words_ + b / 64] |= std::uint64_t{1} << (b % 64);
    bits_[b * n_words_ + a / 64] |= std::uint64_t{1} << (a % 64);
  }
  bool is_left(std::uint32_t v) const { return is_left_[v] != 0; }
  std::vector<std::uint32_t> neighbours(std::uint32_t v) const {
    std::vector<std::uint32_t> found;
    for (std::size_t w = 0; w < n_words_; ++w)
      for_each_bit(bits_[v * n_words_ + w], [&](std::uint32_t bit) {
        found.push_back(static_cast<std::uint32_t>(w * 64) + bit);
      });
    return found;
  }
  // Links that eliminating v would add.
  std::size_t fill(std::uint32_t v) const {
    const std::uint64_t* mine = &bits_[v * n_words_];
    std::size_t missing = 0;
    for (const auto u : neighbours(v)) {
      const std::uint64_t* theirs = &bits_[u * n_words_];
      for (std::size_t w = 0; w < n_words_; ++w)
        missing += static_cast<std::size_t>(std::popcount(mine[w] & ~theirs[w]));
      --missing;  // u itself
    }
    return missing / 2;
  }
  void eliminate(std::uint32_t v) {
    const auto around = neighbours(v);
    for (const auto u : around) {
      for (std::size_t w = 0; w < n_words_; ++w) bits_[u * n_words_ + w] |= bits_[v * n_words_ + w];
      bits_[u * n_words_ + u / 64] &= ~(std::uint64_t{1} << (u % 64));
      bits_[u * n_words_ + v / 64] &= ~(std::uint64_t{1} << (v % 64));
    }
    std::fill_n(bits_.begin() + static_cast<std::ptrdiff_t>(v * n_words_), n_words_, 0);
    is_left_[v] = 0;
  }

 private:
  std::size_t n_words_;
  std::vector<std::uint64_t> bits_;
  std::vector<char> is_left_;
};

double size_of(std::span<const std::uint32_t> card, std::span<const std::uint32_t> scope) {
  double size = 1.0;
  for (const auto v : scope) size *= card[v];
  return size;
}

enum class Rule { fill, size };

struct Order {
  std::vector<std::uint32_t> positions;
  std::vector<std::vector<std::uint32_t>> neighbours;  // when the position goes
  double n_entries = 0.0;
};

// Greedy: always the position that is cheapest now. Ties go to the lowest, or, with a generator, to
// any: a few tries at random find better orders of large graphs.
Order eliminate_all(std::span<const std::uint32_t> card, Links links, std::span<const char> is_kept,
                    Rule rule, Rng* rng = nullptr) {
  const std::size_t n = card.size();
  std::vector<double> cost(n, std::numeric_limits<double>::infinity());
  auto refresh = [&](std::uint32_t v) {
    if (is_kept[v] || !links.is_left(v)) return;
    const double size = card[v] * size_of(card, links.neighbours(v));
    // The other measure breaks ties, scaled so that it cannot do more.
    const auto fill = static_cast<double>(links.fill(v));
    const double tie = rng == nullptr ? size / (size + 1.0) : 0.0;
    cost[v] = rule == Rule::fill ? fill + tie : size * (1.0 + 1e-9 * fill);
  };
  for (std::uint32_t v = 0; v < n; ++v) refresh(v);
  Order order;
  const auto n_kept = static_cast<std::size_t>(std::ranges::count(is_kept, char{1}));
  while (order.positions.size() + n_kept < n) {
    auto v = static_cast<std::uint32_t>(std::ranges::min_element(cost) - cost.begin());
    if (rng != nullptr) {
      std::vector<std::uint32_t> equals;
      for (std::uint32_t u = v; u < n; ++u)
        if (cost[u] <= cost[v]) equals.push_back(u);
      v = equals[rng->below(equals.size())];
    }
    const auto around = links.neighbours(v);
    order.n_entries += card[v] * size_of(card, around);
    order.positions.push_back(v);
    order.neighbours.push_back(around);
    links.eliminate(v);
    cost[v] = std::numeric_limits<double>::infinity();
    std::vector<char> is_stale(n, 0);
    for (const auto u : around) {
      is_stale[u] = 1;
      // New links between neighbours change the fill of those who see both.
      if (rule == Rule::fill)
        for (const auto w : links.neighbours(u)) is_stale[w] = 1;
    }
    for (std::uint32_t u = 0; u < n; ++u)
      if (is_stale[u]) refresh(u);
  }
  return order;
}

void link_up(CliqueTree& tree, std::span<const std::uint32_t> card,
             const std::vector<std::vector<std::uint32_t>>& scopes) {
  auto& cliques = tree.cliques;
  std::vector<std::uint32_t> home(card.size());  // the clique that eliminates a position
  for (std::uint32_t c = 0; c < cliques.size(); ++c)
    for (std::size_t p = 0; p < cliques[c].n_own; ++p) home[cliques[c].scope[p]] = c;
  for (std::uint32_t c = 0; c < cliques.size(); ++c) {
    auto& clique = cliques[c];
    for (std::size_t p = clique.n_own; p < clique.scope.size(); ++p)
      clique.parent = std::min(clique.parent, home[clique.scope[p]]);
    if (clique.parent != Clique::kRoot) cliques[clique.parent].children.push_back(c);
    clique.n_entries = size_of(card, clique.scope);
    clique.n_own_entries = size_of(card, std::span(clique.scope).first(clique.n_own));
    tree.n_entries += clique.n_entries;
    if (clique.n_entries > cliques[tree.largest].n_entries) tree.largest = c;
  }
  for (std::uint32_t f = 0; f < scopes.size(); ++f) {
    auto first = static_cast<std::uint32_t>(cliques.size() - 1);
    for (const auto v : scopes[f]) first = std::min(first, home[v]);
    cliques[first].factors.push_back(f);
  }
}

// The best of a few orders, with the positions to keep left over.
Order find_order(std::span<const std::uint32_t> card, const Links& links,
                 std::span<const std::uint32_t> keep) {
  std::vector<char> is_kept(card.size(), 0);
  for (const auto v : keep) is_kept[v] = 1;
  Order order = eliminate_all(card, links, is_kept, Rule::fill);
  auto improve = [&](Order other) {
    if (other.n_entries < order.n_entries) order = std::move(other);
  };
  improve(eliminate_all(card, links, is_kept, Rule::size));
  Rng rng(card.size(), 0);
  for (std::size_t t = 0; t < kTries && order.n_entries > kWorthTries; ++t)
    improve(eliminate_all(card, links, is_kept, t % 2 == 0 ? Rule::fill : Rule::size, &rng));
  return order;
}

}  // namespace

CliqueTree make_clique_tree(std::span<const std::uint32_t> card,
                            const std::vector<std::vector<std::uint32_t>>& scopes,
                            std::span<const std::uint32_t> keep, double max_joint) {
  CliqueTree tree;
  const auto add = [&](std::vector<std::uint32_t> scope, std::size_t n_own) {
    auto& clique = tree.cliques.emplace_back();
    clique.scope = std::move(scope);
    clique.n_own = n_own;
  };
  std::vector<std::uint32_t> all(card.size());
  std::iota(all.rbegin(), all.rend(), 0);
  if (keep.empty() && size_of(card, all) <= max_joint) {
    add(std::move(all), card.size());
  } else {
    Links links(card.size());
    const auto link_all = [&](std::span<const std::uint32_t> scope) {
      for (const auto a : scope)
        for (const auto b : scope) links.link(a, b);
    };
    for (const auto& scope : scopes) link_all(scope);
    link_all(keep);
    auto order = find_order(card, links, keep);
    for (std::size_t k = 0; k < order.positions.size(); ++k) {
      auto& scope = order.neighbours[k];
      scope.insert(scope.begin(), order.positions[k]);
      add(std::move(scope), 1);
    }
    if (!keep.empty()) add({keep.begin(), keep.end()}, keep.size());
  }
  link_up(tree, card, scopes);
  return tree;
}

}  // namespace bayesmend
