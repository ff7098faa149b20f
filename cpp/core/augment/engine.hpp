#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/augment/problem.hpp"
#include "core/base/stop.hpp"

namespace bayesmend {

// Sets of variables, as masks, with what each charges: in every DAG, `least` variables of the set
// have fewer than `least` parents in it, the first ones of an order. Families that are such a
// variable earn the charge, and all pay it `least` times.
struct ClusterPrices {
  std::vector<std::uint64_t> clusters;
  std::vector<std::uint8_t> least;
  std::vector<double> charges;
};

// Who answers for the best DAG made of families of a problem when each is worth a given value.
//
// Families come as their numbers, ascending, and values by number. What is said after bound() is
// about the families and values of that call.
class DagEngine {
 public:
  using Numbers = std::span<const std::uint32_t>;
  using Values = std::span<const double>;
  // A family that the bound rests on, by its position among those of the call; shares of the
  // families of a variable sum to one.
  struct Share {
    std::size_t position;
    double share;
  };

  virtual ~DagEngine() = default;
  // Whether bounds are the best totals themselves.
  virtual bool is_exact() const = 0;
  // No DAG has a higher total; minus infinity when there is none, plus infinity when stopped. How
  // far an engine that is not exact goes down may depend on `target`, below which all is the same.
  virtual double bound(Numbers families, Values values, double target, const Stop& stop) = 0;
  // For each family: no DAG that contains it has a higher total. Infinity where stopped before;
  // false when that is everywhere.
  virtual bool bound_through(Numbers families, Values values, std::vector<double>& through,
                             const Stop& stop) = 0;
  // By variable, ascending.
  virtual void share_out(Numbers families, Values values, std::vector<Share>& shares) const = 0;
  // The family of each variable in the best DAG or one that is found, and its total; minus infinity
  // and nothing when none is, plus infinity when stopped.
  virtual double find(Numbers families, Values values, std::vector<std::uint32_t>& chosen,
                      const Stop& stop) = 0;
  // Of what was done since it was last asked, in entries of tables.
  virtual double take_work() = 0;
  // What it would begin the next bound with, to begin there with `load`; nothing for engines that
  // always begin anew.
  virtual std::shared_ptr<const ClusterPrices> prices() const { return nullptr; }
  virtual void load(const ClusterPrices*) {}
  // For engines that improve a bound: in so many steps at each of ever lower temperatures, of
  // which `heat` is the first.
  virtual void set_steps(std::size_t, double /*heat*/) {}
};

// Up to so many variables the dynamic programme over subsets is taken where nothing else is said.
inline constexpr std::size_t kMostSubsetVars = 22;
// A step of that in entries of tables.
inline constexpr double kProgramStep = 0.25;
// Masks have no room for more.
inline constexpr std::size_t kMostMaskVars = 64;

// The dynamic programme over subsets, or the relaxation of the cluster inequalities.
std::unique_ptr<DagEngine> make_engine(const AugmentProblem& problem, bool is_relaxed);

}  // namespace bayesmend
