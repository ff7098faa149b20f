#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/augment/engine.hpp"
#include "core/augment/problem.hpp"
#include "core/base/rng.hpp"

namespace bayesmend {

// The best choice of one family per variable when arcs may form cycles at a charge: for charges
// lambda >= 0 of clusters C,
//   sum over v of max over its families f of [value(f) + sum of lambda_C over the C that contain v
//   and fewer than k_C parents of f] - sum of k_C lambda_C
// is at least the total of every DAG (Jaakkola et al. 2010; k > 1: Bartlett and Cussens 2013).
// Charges are improved one cluster after the other, with maxima softened at ever lower temperatures
// so that this does not get stuck; cycles of families that are drawn on the way become clusters.
class ClusterRelaxation : public DagEngine {
 public:
  explicit ClusterRelaxation(const AugmentProblem& problem) : problem_(problem) {}

  bool is_exact() const override { return false; }
  double bound(Numbers families, Values values, double target, const Stop& stop) override;
  bool bound_through(Numbers families, Values values, std::vector<double>& through,
                     const Stop& stop) override;
  void share_out(Numbers families, Values values, std::vector<Share>& shares) const override;
  double find(Numbers families, Values values, std::vector<std::uint32_t>& chosen,
              const Stop& stop) override;
  double take_work() override { return std::exchange(work_, 0.0); }
  std::shared_ptr<const ClusterPrices> prices() const override;
  void load(const ClusterPrices* prices) override;
  void set_steps(std::size_t n_steps, double heat) override {
    n_steps_ = n_steps;
    heat_ = heat;
  }

 private:
  static constexpr int kMostLeast = 3;
  struct Cluster {
    std::uint64_t members;
    int least;  // so many members have fewer than so many parents among them
    double charge, best_charge;
    int age;  // temperatures since it was found
  };
  struct Lists {
    std::vector<std::uint64_t> parents;
    std::vector<double> values;
    std::vector<std::size_t> first;
  };
  void compile(Numbers families, Values values);
  // The total under the charges; fills reduced_ and best_.
  double total();
  void add_cycles(const std::vector<std::size_t>& chosen);
  void draw(Rng& random, std::vector<std::size_t>& drawn) const;
  void add_cluster(std::uint64_t members, int least = 1);
  bool is_free(const Cluster& cluster, std::uint64_t parents) const {
    return std::popcount(parents & cluster.members) < cluster.least;
  }
  bool is_settled() const;
  void soften(double temperature);
  void balance(double temperature);
  void forget_free_clusters();
  void separate(const Stop& stop);
  void separate_more();
  void narrow(double window);

  const AugmentProblem& problem_;
  std::size_t n_steps_ = 20;
  double heat_ = 8.0;
  std::vector<Cluster> clusters_;
  // The members of clusters_, by `least`.
  std::array<std::unordered_set<std::uint64_t>, kMostLeast + 1> known_;
  Lists whole_;  // while only some of the families are looked at
  // Of the families of the last call, by position.
  std::vector<std::uint64_t> parents_;
  std::vector<double> values_, reduced_;
  std::vector<std::size_t> first_;   // by child
  std::vector<std::size_t> best_;    // position by child
  std::vector<double> soft_, sums_;  // by position, and their sums by child
  bool is_solved_ = false;           // best_ is the best DAG
  double bound_ = 0.0;
  double work_ = 0.0;
};

}  // namespace bayesmend
