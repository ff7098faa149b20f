#include "core/augment/enumerate.hpp"

#include <vector>

#include "core/base/parallel.hpp"

namespace bayesmend {
namespace {

constexpr std::size_t kMinTasks = 64;

// Steps through the states of cells[first ..] by a reflected Gray code: one cell changes by one.
class GrayCode {
 public:
  GrayCode(const AugmentProblem& problem, std::size_t first, AugmentProblem::Completion& completion)
      : problem_(problem), first_(first), completion_(completion) {
    direction_.assign(problem.n_cells(), 1);
  }
  bool next() {
    for (std::size_t cell = first_; cell < completion_.size(); ++cell) {
      const int value = completion_[cell] + direction_[cell];
      if (value >= 0 && value < static_cast<int>(problem_.cells()[cell].card)) {
        completion_[cell] = static_cast<std::uint8_t>(value);
        return true;
      }
      direction_[cell] = -direction_[cell];
    }
    return false;
  }

 private:
  const AugmentProblem& problem_;
  std::size_t first_;
  AugmentProblem::Completion& completion_;
  std::vector<int> direction_;
};

}  // namespace

EnumerationResult enumerate_completions(const AugmentProblem& problem, std::size_t n_threads,
                                        const Stop& stop) {
  // A task fixes the first cells.
  std::size_t n_fixed = 0, n_tasks = 1;
  while (n_fixed < problem.n_cells() && n_tasks < kMinTasks)
    n_tasks *= problem.cells()[n_fixed++].card;
  n_threads = std::min(resolve_threads(n_threads), n_tasks);
  std::vector<EnumerationResult> results(n_tasks);
  Menders menders(problem, stop, n_threads, 1, false);
  parallel_for(n_tasks, n_threads, {}, [&](std::size_t task, std::size_t thread) {
    if (task > 0 && stop.is_over()) return;
    auto& result = results[task];
    AugmentProblem::Completion completion(problem.n_cells(), 0);
    for (std::size_t cell = 0, rest = task; cell < n_fixed; ++cell) {
      const std::uint32_t card = problem.cells()[cell].card;
      completion[cell] = static_cast<std::uint8_t>(rest % card);
      rest /= card;
    }
    GrayCode code(problem, n_fixed, completion);
    do {
      Pair pair = menders[thread].best_structure(completion);
      if (result.best.families.empty() || pair.score > result.best.score)
        result.best = std::move(pair);
      ++result.n_completions;
      if (stop.is_over()) return;
    } while (code.next());
    result.is_complete = true;
  });
  EnumerationResult total = std::move(results[0]);
  for (std::size_t task = 1; task < n_tasks; ++task) {
    auto& result = results[task];
    total.n_completions += result.n_completions;
    total.is_complete = total.is_complete && result.is_complete;
    if (!result.best.families.empty() && result.best.score > total.best.score)
      total.best = std::move(result.best);
  }
  total.parents = parents_of(problem, total.best);
  total.stopped = stop.look();
  return total;
}

}  // namespace bayesmend
