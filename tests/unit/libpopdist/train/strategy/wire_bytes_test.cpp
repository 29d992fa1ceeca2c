// SPDX-License-Identifier: Apache-2.0
// Host strategies sum an instance's replicas first: hosts exchange one gradient, however many replicas they
// have.
#include <gtest/gtest.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "popdist/strategy.hpp"
#include "tests/testing/thread_group.h"

namespace popdist::train {
namespace {

using popdist::testing::ThreadGroup;

constexpr std::size_t kElements = 1 << 20;
constexpr double kStepBytes = 4.0 * kElements;
constexpr double kTolerance = 0.05;  // heads, and what idle threads ask each other

/// By all TCP connections of this process, whose instances are threads.
std::uint64_t bytesSent() {
  std::uint64_t all = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(std::stoi(entry.path().filename()), IPPROTO_TCP, TCP_INFO, &info, &size) == 0)
      all += info.tcpi_bytes_sent - info.tcpi_bytes_retrans;
  }
  return all;
}

/// The bytes that instances on hosts of their own send for `work`.
template <typename Setup>
double bytesSentBy(const std::vector<int>& instances, const Setup& setup) {
  ThreadGroup group({.replicas_of_instance = instances, .instances_per_host = 1});
  std::uint64_t sent = 0;
  group.run([&](Context& context) {
    auto work = setup(context);
    context.world().barrier();
    const std::uint64_t before = bytesSent();
    context.world().barrier();
    work();
    context.world().barrier();
    if (context.instanceIndex() == 0) sent = bytesSent() - before;
    context.world().barrier();
  });
  return static_cast<double>(sent);
}

/// One update of a host strategy.
auto reduction(Context& context) {
  struct Work {
    explicit Work(Context& context) : strategy(context) {
      for (int local = 0; local < context.numLocalReplicas(); ++local)
        gradients.emplace_back(context, Spec{{"w", Type::kFloat, {kElements}}});
      reduction = strategy.reductionOf(gradients);
    }
    void operator()() {
      for (std::size_t local = 0; local < gradients.size(); ++local)
        reduction->ready(static_cast<int>(local), 0);
      reduction->wait();
    }
    IpuMultiWorkerStrategy strategy;
    std::vector<FlatTensors> gradients;
    std::unique_ptr<GradientReduction> reduction;
  };
  return [work = std::make_shared<Work>(context)] { (*work)(); };
}

/// The same, if each replica's gradient went to the other host.
auto flatReduction(Context& context) {
  return [&context, gradient = FlatTensors(context, Spec{{"w", Type::kFloat, {kElements}}})]() mutable {
    for (int local = 0; local < context.numLocalReplicas(); ++local)
      context.world().allReduce(gradient.bytes().data(), gradient.bytes().data(), kElements, Type::kFloat);
  };
}

TEST(WireBytes, AreThoseOfOneReplicaHoweverManyAHostHas) {
  const double one = bytesSentBy({1, 1}, reduction);
  EXPECT_NEAR(one, 2 * kStepBytes, kTolerance * kStepBytes);
  for (const int replicas : {2, 4}) {
    const double hierarchical = bytesSentBy({replicas, replicas}, reduction);
    const double flat = bytesSentBy({replicas, replicas}, flatReduction);
    EXPECT_NEAR(hierarchical, one, kTolerance * kStepBytes);
    EXPECT_NEAR(hierarchical / flat, 1.0 / replicas, kTolerance);
  }
}

}  // namespace
}  // namespace popdist::train
