#include "core/inference/beliefs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace bayesmend {
namespace {

// Tables whose largest entry is below this are computed by logarithms.
constexpr double kSmall = 0x1.0p-400;
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

}  // namespace

Elimination::Elimination(std::span<const std::int32_t> card,
                         const std::vector<std::vector<std::uint32_t>>& scopes,
                         const std::vector<std::vector<std::int64_t>>& strides,
                         std::span<const std::uint32_t> keep, double max_joint)
    : card_(card.begin(), card.end()), tree_(make_clique_tree(card, scopes, keep, max_joint)) {
  const auto& cliques = tree_.cliques;
  home_.resize(card.size());
  home_stride_.resize(card.size());
  table_start_.assign(1, 0);
  message_start_.assign(1, 0);
  if (tree_.n_entries > kMaxTreeEntries) return;  // never to be filled
  walks_.resize(cliques.size());
  n_words_ = (card.size() + 63) / 64;
  members_.assign(cliques.size() * n_words_, 0);
  std::vector<std::int64_t> step(card.size(), 0);  // of the positions of the clique at hand
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    const auto& clique = cliques[c];
    auto& walk = walks_[c];
    const std::size_t n_digits = clique.scope.size();
    for (const auto v : clique.scope) {
      walk.sizes.push_back(static_cast<std::uint32_t>(card[v]));
      members_[c * n_words_ + v / 64] |= std::uint64_t{1} << (v % 64);
    }
    walk.n_inputs = clique.factors.size() + clique.children.size();
    walk.strides.assign(walk.n_inputs * n_digits, 0);
    std::size_t input = 0;
    auto fill = [&](std::span<const std::uint32_t> scope, auto&& stride_of) {
      for (std::size_t p = 0; p < scope.size(); ++p) {
        const auto digit = std::ranges::find(clique.scope, scope[p]) - clique.scope.begin();
        walk.strides[input * n_digits + static_cast<std::size_t>(digit)] += stride_of(p);
      }
      ++input;
    };
    for (const auto f : clique.factors)
      fill(scopes[f], [&](std::size_t p) { return strides[f][p]; });
    for (const auto child : clique.children) {
      const auto& below = cliques[child];
      std::int64_t stride = 1;
      fill(std::span(below.scope).subspan(below.n_own), [&](std::size_t p) {
        const std::int64_t own = stride;
        stride *= card[below.scope[below.n_own + p]];
        return own;
      });
    }
    std::int64_t stride = 1;
    for (std::size_t d = 0; d < n_digits; ++d) {
      if (d < clique.n_own) {
        home_[clique.scope[d]] = static_cast<std::uint32_t>(c);
        home_stride_[clique.scope[d]] = stride;
      }
      stride *= card[clique.scope[d]];
    }
    const auto n_entries = static_cast<std::size_t>(clique.n_entries);
    table_start_.push_back(table_start_.back() + n_entries);
    message_start_.push_back(message_start_.back() +
                             n_entries / static_cast<std::size_t>(clique.n_own_entries));
  }
}

std::span<const double> Beliefs::table(std::size_t clique) const {
  const auto& start = shape_->table_start_;
  return std::span(tables_).subspan(start[clique], start[clique + 1] - start[clique]);
}

// Calls visit(entry) for the first entry of every run over the first digit, with `offsets_` where
// it lies in the inputs first .. last - 1.
template <class Visit>
void Beliefs::walk_runs(std::size_t c, std::size_t first, std::size_t last, Visit&& visit) const {
  const auto& steps = shape_->walks_[c];
  const std::size_t n_digits = steps.sizes.size(), n_inputs = last - first;
  const std::size_t n_entries = table(c).size();
  const std::int64_t* strides = steps.strides.data() + first * n_digits;
  digits_.assign(n_digits, 0);
  offsets_.assign(n_inputs, 0);
  for (std::size_t entry = 0;;) {
    visit(entry);
    entry += steps.sizes[0];
    if (entry == n_entries) return;
    std::size_t d = 1;
    while (++digits_[d] == steps.sizes[d]) {
      for (std::size_t i = 0; i < n_inputs; ++i)
        offsets_[i] -= strides[i * n_digits + d] * (steps.sizes[d] - 1);
      digits_[d++] = 0;
    }
    for (std::size_t i = 0; i < n_inputs; ++i) offsets_[i] += strides[i * n_digits + d];
  }
}

void Beliefs::multiply(std::size_t c, std::span<const double* const> factors) {
  const auto& clique = shape_->tree().cliques[c];
  const auto& steps = shape_->walks_[c];
  const std::size_t n_digits = steps.sizes.size();
  inputs_.clear();
  for (const auto f : clique.factors) inputs_.push_back(factors[f]);
  for (const auto child : clique.children)
    inputs_.push_back(messages_.data() + shape_->message_start_[child]);
  double* out = tables_.data() + shape_->table_start_[c];
  const std::size_t n_entries = table(c).size();
  std::fill_n(out, n_entries, 1.0);
  if (n_digits == 0) return;
  const std::size_t inner = steps.sizes[0];
  walk_runs(c, 0, inputs_.size(), [&](std::size_t entry) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const double* from = inputs_[i] + offsets_[i];
      const std::int64_t stride = steps.strides[i * n_digits];
      for (std::size_t k = 0; k < inner; ++k) {
        out[entry + k] *= *from;
        from += stride;
      }
    }
  });
  // Beside a larger one, an entry that vanished counts for nothing; if all are small, none may.
  const double top = *std::max_element(out, out + n_entries);
  if (top < kSmall && (top > 0.0 || is_possible(c))) multiply_logs(c);
}

// Whether some entry is a product of positive numbers.
bool Beliefs::is_possible(std::size_t c) {
  const auto& steps = shape_->walks_[c];
  const std::size_t n_digits = steps.sizes.size();
  bool found = false;
  walk_runs(c, 0, inputs_.size(), [&](std::size_t) {
    for (std::size_t k = 0; k < steps.sizes[0] && !found; ++k) {
      found = true;
      for (std::size_t i = 0; i < inputs_.size() && found; ++i)
        found = input_at(i, k, steps.strides[i * n_digits]) > 0.0;
    }
  });
  return found;
}

// The same product by sums of logarithms, the largest entry scaled to 1.
void Beliefs::multiply_logs(std::size_t c) {
  const auto& steps = shape_->walks_[c];
  const std::size_t n_digits = steps.sizes.size(), n_entries = table(c).size();
  double* out = tables_.data() + shape_->table_start_[c];
  walk_runs(c, 0, inputs_.size(), [&](std::size_t entry) {
    for (std::size_t k = 0; k < steps.sizes[0]; ++k) {
      out[entry + k] = 0.0;
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        out[entry + k] += std::log(input_at(i, k, steps.strides[i * n_digits]));
    }
  });
  const double top = *std::max_element(out, out + n_entries);
  for (std::size_t entry = 0; entry < n_entries; ++entry) out[entry] = std::exp(out[entry] - top);
  log_scale_ += top;
}

void Beliefs::apply_clamp(std::size_t c, std::span<const std::int32_t> clamp) {
  const auto& clique = shape_->tree().cliques[c];
  double* out = tables_.data() + shape_->table_start_[c];
  const std::size_t n_entries = shape_->table_start_[c + 1] - shape_->table_start_[c];
  for (std::size_t d = 0; d < clique.n_own; ++d) {
    const auto position = clique.scope[d];
    if (clamp[position] < 0) continue;
    const auto stride = static_cast<std::size_t>(shape_->home_stride_[position]);
    const auto size = static_cast<std::size_t>(shape_->card_[position]);
    for (std::size_t entry = 0; entry < n_entries; ++entry)
      if (entry / stride % size != static_cast<std::size_t>(clamp[position])) out[entry] = 0.0;
  }
}

double Beliefs::send(std::size_t c) {
  const auto entries = table(c);
  const auto n_own = static_cast<std::size_t>(shape_->tree().cliques[c].n_own_entries);
  double* message = messages_.data() + shape_->message_start_[c];
  const std::size_t n_out = shape_->message_start_[c + 1] - shape_->message_start_[c];
  double top = 0.0;
  for (std::size_t s = 0; s < n_out; ++s) {
    double value = 0.0;
    for (const double entry : entries.subspan(s * n_own, n_own))
      value = pass_ == Pass::sum ? value + entry : std::max(value, entry);
    message[s] = value;
    top = std::max(top, value);
  }
  if (top <= 0.0) return kImpossible;
  for (std::size_t s = 0; s < n_out; ++s) message[s] /= top;
  return std::log(top);
}

double Beliefs::collect(const Elimination& shape, std::span<const double* const> factors, Pass pass,
                        std::span<const std::int32_t> clamp) {
  if (shape.tree().n_entries > kMaxTreeEntries)
    throw std::length_error("the tables of this query do not fit into memory.");
  shape_ = &shape;
  pass_ = pass;
  log_scale_ = 0.0;
  if (tables_.size() < shape.table_start_.back()) tables_.resize(shape.table_start_.back());
  if (messages_.size() < shape.message_start_.back()) messages_.resize(shape.message_start_.back());
  for (std::size_t c = 0; c < shape.tree().cliques.size(); ++c) {
    multiply(c, factors);
    if (!clamp.empty()) apply_clamp(c, clamp);
    log_scale_ += send(c);
    if (log_scale_ == kImpossible) return kImpossible;
  }
  return log_scale_;
}

void Beliefs::distribute() {
  const auto& cliques = shape_->tree().cliques;
  for (std::size_t c = cliques.size(); c-- > 0;) {
    const auto entries = table(c);
    const auto& steps = shape_->walks_[c];
    const std::size_t inner = cliques[c].children.empty() ? 0 : steps.sizes[0];
    for (std::size_t k = 0; k < cliques[c].children.size(); ++k) {
      const std::size_t child = cliques[c].children[k];
      const std::size_t input = cliques[c].factors.size() + k;
      const double* message = messages_.data() + shape_->message_start_[child];
      const std::size_t size = shape_->message_start_[child + 1] - shape_->message_start_[child];
      margin_.assign(size, 0.0);
      const std::int64_t stride = steps.strides[input * steps.sizes.size()];
      walk_runs(c, input, input + 1, [&](std::size_t entry) {
        double* cell = &margin_[static_cast<std::size_t>(offsets_[0])];
        for (const double value : entries.subspan(entry, inner)) {
          *cell = pass_ == Pass::sum ? *cell + value : std::max(*cell, value);
          cell += stride;
        }
      });
      double* below = tables_.data() + shape_->table_start_[child];
      const auto n_own = static_cast<std::size_t>(cliques[child].n_own_entries);
      for (std::size_t s = 0; s < size; ++s) {
        const double ratio = message[s] > 0.0 ? margin_[s] / message[s] : 0.0;
        for (std::size_t r = 0; r < n_own; ++r) below[s * n_own + r] *= ratio;
      }
    }
  }
}

void Beliefs::marginal(std::uint32_t position, std::span<double> out) const {
  const std::size_t c = shape_->home_[position];
  const auto stride = static_cast<std::size_t>(shape_->home_stride_[position]);
  const auto entries = table(c);
  std::ranges::fill(out, 0.0);
  // Entries come in runs of `stride` with one state of the position.
  for (std::size_t entry = 0, state = 0; entry < entries.size(); entry += stride) {
    double& cell = out[state];
    for (const double value : entries.subspan(entry, stride))
      cell = pass_ == Pass::sum ? cell + value : std::max(cell, value);
    if (++state == out.size()) state = 0;
  }
  double scale = 0.0;
  for (const double value : out)
    scale = pass_ == Pass::sum ? scale + value : std::max(scale, value);
  for (double& value : out) value /= scale;
}

void Beliefs::add_factor_marginals(std::size_t c, double weight, std::span<const std::size_t> first,
                                   std::span<double> counts) const {
  const auto entries = table(c);
  const auto& steps = shape_->walks_[c];
  const auto& factors = shape_->tree().cliques[c].factors;
  const std::size_t n_digits = steps.sizes.size(), inner = steps.sizes[0];
  double total = 0.0;
  for (const double entry : entries) total += entry;
  const double scale = weight / total;
  walk_runs(c, 0, factors.size(), [&](std::size_t entry) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      double* to = counts.data() + first[factors[i]] + offsets_[i];
      const std::int64_t stride = steps.strides[i * n_digits];
      for (std::size_t k = 0; k < inner; ++k) {
        *to += scale * entries[entry + k];
        to += stride;
      }
    }
  });
}

std::size_t Beliefs::block_start(const Clique& clique, std::span<const std::uint8_t> states) const {
  auto stride = static_cast<std::size_t>(clique.n_own_entries);
  std::size_t start = 0;
  for (std::size_t d = clique.n_own; d < clique.scope.size(); ++d) {
    start += stride * states[clique.scope[d]];
    stride *= static_cast<std::size_t>(shape_->card_[clique.scope[d]]);
  }
  return start;
}

void Beliefs::write_states(const Clique& clique, std::size_t entry,
                           std::span<std::uint8_t> states) const {
  for (std::size_t d = 0; d < clique.n_own; ++d) {
    const auto size = static_cast<std::size_t>(shape_->card_[clique.scope[d]]);
    states[clique.scope[d]] = static_cast<std::uint8_t>(entry % size);
    entry /= size;
  }
}

bool Beliefs::decode(std::span<std::uint8_t> states) const {
  const auto& cliques = shape_->tree().cliques;
  bool is_unique = true;
  for (std::size_t c = cliques.size(); c-- > 0;) {
    const auto n_own = static_cast<std::size_t>(cliques[c].n_own_entries);
    const auto block = table(c).subspan(block_start(cliques[c], states), n_own);
    const double bar = *std::ranges::max_element(block) * (1.0 - kTie);
    const auto chosen = std::ranges::find_if(block, [&](double value) { return value >= bar; });
    is_unique = is_unique &&
                std::none_of(chosen + 1, block.end(), [&](double value) { return value >= bar; });
    write_states(cliques[c], static_cast<std::size_t>(chosen - block.begin()), states);
  }
  return is_unique;
}

double best_states(const Elimination& shape, std::span<const double* const> factors,
                   Beliefs& beliefs, std::span<std::uint8_t> states) {
  const double best = beliefs.collect(shape, factors, Pass::max);
  if (best == kImpossible) return best;
  // In a single clique the first of the best entries is the one wanted.
  if (beliefs.decode(states) || shape.tree().cliques.size() == 1) return best;
  std::vector<std::int32_t> clamp(states.size(), -1);
  std::vector<double> values;
  for (std::uint32_t p = 0; p < states.size(); ++p) {
    // Positions whose best state is unique need no new pass.
    if (p == 0 || clamp[p - 1] >= 0) {
      beliefs.collect(shape, factors, Pass::max, clamp);
      beliefs.distribute();
    }
    values.assign(static_cast<std::size_t>(shape.card()[p]), 0.0);
    beliefs.marginal(p, values);
    const auto is_best = [](double value) { return value >= 1.0 - kTie; };
    const auto first = std::ranges::find_if(values, is_best);
    states[p] = static_cast<std::uint8_t>(first - values.begin());
    if (std::ranges::count_if(values, is_best) > 1) clamp[p] = states[p];
  }
  return best;
}

}  // namespace bayesmend
