#include "core/augment/engine.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "core/augment/relaxation.hpp"
#include "core/structure/subsets.hpp"

namespace bayesmend {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class SubsetEngine : public DagEngine {
 public:
  explicit SubsetEngine(const AugmentProblem& problem)
      : problem_(problem), program_(problem.n_vars()) {}

  bool is_exact() const override { return true; }

  double bound(Numbers families, Values values, double /*target*/, const Stop& stop) override {
    program_.clear();
    for (const auto f : families) {
      const auto& family = problem_.families()[f];
      program_.offer(family.child, static_cast<std::uint32_t>(family.parents), values[f]);
    }
    work_ += pass_work();
    return program_.solve(stop);
  }

  bool bound_through(Numbers families, Values values, std::vector<double>& through,
                     const Stop& stop) override {
    work_ += 2.0 * pass_work();
    through.assign(families.size(), kInfinity);
    if (!program_.pass_backward(stop)) return false;
    std::size_t around_of = problem_.n_vars();
    for (std::size_t a = 0; a < families.size(); ++a) {
      const auto& family = problem_.families()[families[a]];
      if (family.child != around_of) {
        if (stop.is_over()) break;
        program_.around(around_of = family.child, around_);
      }
      const auto parents = static_cast<std::uint32_t>(family.parents);
      through[a] = values[families[a]] + around_[squeeze(parents, family.child)];
    }
    return true;
  }

  void share_out(Numbers families, Values values, std::vector<Share>& shares) const override {
    shares.clear();
    const auto allowed = program_.predecessors();
    std::vector<double> most(problem_.n_vars(), -kInfinity);
    std::vector<std::size_t> best(problem_.n_vars(), 0);
    for (std::size_t a = 0; a < families.size(); ++a) {
      const auto& family = problem_.families()[families[a]];
      if ((family.parents & ~std::uint64_t{allowed[family.child]}) != 0 ||
          values[families[a]] <= most[family.child])
        continue;
      most[family.child] = values[families[a]];
      best[family.child] = a;
    }
    for (const auto position : best) shares.push_back({position, 1.0});
  }

  double find(Numbers families, Values values, std::vector<std::uint32_t>& chosen,
              const Stop& stop) override {
    const double best = bound(families, values, -kInfinity, stop);
    if (std::isinf(best)) return best;
    share_out(families, values, shares_);
    chosen.resize(problem_.n_vars());
    for (std::size_t v = 0; v < chosen.size(); ++v) chosen[v] = families[shares_[v].position];
    return best;
  }

  double take_work() override { return std::exchange(work_, 0.0); }

 private:
  // Of one pass of the dynamic programme: every variable as the last one of every set.
  double pass_work() const {
    return kProgramStep * std::ldexp(static_cast<double>(problem_.n_vars()),
                                     static_cast<int>(problem_.n_vars()) - 1);
  }

  const AugmentProblem& problem_;
  SubsetProgram program_;
  std::vector<double> around_;
  std::vector<Share> shares_;
  double work_ = 0.0;
};

}  // namespace

std::unique_ptr<DagEngine> make_engine(const AugmentProblem& problem, bool is_relaxed) {
  if (is_relaxed) return std::make_unique<ClusterRelaxation>(problem);
  return std::make_unique<SubsetEngine>(problem);
}

}  // namespace bayesmend
