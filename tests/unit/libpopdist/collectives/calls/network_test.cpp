// SPDX-License-Identifier: Apache-2.0
// Communicators whose members reach each other over TCP, all of them or only those of other hosts: the same
// results, the same errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <latch>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include "libpopdist/collectives/context/transport_settings.h"
#include "popdist/error.hpp"
#include "tests/testing/thread_group.h"

namespace popdist {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using testing::GroupShape;
using ::testing::HasSubstr;
using testing::ThreadGroup;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kNetworkTimeout{10};  // on a busy machine; a group waits twice as long

struct Network {
  int instances;
  bool tcp_only;
  int instances_per_host;
  int streams = 1;
};

void PrintTo(const Network& network, std::ostream* out) {
  *out << network.instances << " instances, " << network.instances_per_host << " a host, " << network.streams
       << " streams" << (network.tcp_only ? ", TCP only" : "");
}

GroupShape shapeOf(const Network& network, milliseconds timeout = milliseconds(20'000)) {
  return {.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(network.instances), 1),
          .timeout = timeout,
          .transport = {.tcp_only = network.tcp_only, .tcp_streams = network.streams},
          .instances_per_host = network.instances_per_host};
}

// Of instances that all give up in the same call: nobody uses up this time.
GroupShape patientShapeOf(const Network& network) {
  GroupShape shape = shapeOf(network);
  shape.transport.call_timeout = shape.timeout;
  return shape;
}

std::int64_t sample(std::int64_t rank, std::size_t index) {
  return rank * 1'000'003 + static_cast<std::int64_t>(index);
}

std::vector<std::int64_t> samplesOf(int rank, std::size_t count) {
  std::vector<std::int64_t> samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = sample(rank, i);
  return samples;
}

void checkMoves(Communicator& world, std::size_t count) {
  const auto n = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const std::vector<std::int64_t> in = samplesOf(world.rank(), n * count);
  std::vector<std::int64_t> out(n * count, -1);
  world.allGather(in.data(), out.data(), count, Type::kInt64);
  for (std::size_t i = 0; i < out.size(); ++i)
    ASSERT_EQ(out[i], sample(static_cast<std::int64_t>(i / count), i % count)) << "all-gather, " << i;
  world.allToAll(in.data(), out.data(), count, Type::kInt64);
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_EQ(out[i], sample(static_cast<std::int64_t>(i / count), me * count + i % count))
        << "all-to-all, " << i;
  }
  for (int stride = 0; stride < world.size(); ++stride) {
    const int to = (world.rank() + stride) % world.size();
    const int from = (world.rank() - stride + world.size()) % world.size();
    world.sendRecv(in.data(), count, to, out.data(), count, from, Type::kInt64);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], sample(from, i)) << "sendRecv, " << i;
  }
  for (int root = 0; root < world.size(); ++root) {
    std::vector<std::int64_t> data = in;
    world.broadcast(std::span(data), root);
    for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], sample(root, i)) << "broadcast, " << i;
  }
}

void checkSums(Communicator& world, std::size_t count) {
  const auto n = static_cast<std::size_t>(world.size());
  const auto me = static_cast<std::size_t>(world.rank());
  const auto sum = [&](std::size_t index) {
    return static_cast<std::int64_t>(n * index) + 1'000'003 * static_cast<std::int64_t>(n * (n - 1) / 2);
  };
  std::vector<std::int64_t> data = samplesOf(world.rank(), n * count);
  std::vector<std::int64_t> own(count, -1);
  world.reduceScatter(data.data(), own.data(), count, Type::kInt64);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(own[i], sum(me * count + i)) << "reduce-scatter, " << i;
  world.allReduceSum(std::span(data));
  for (std::size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], sum(i)) << "all-reduce, " << i;
}

class CommunicatorOverNetwork : public ::testing::TestWithParam<Network> {};

TEST_P(CommunicatorOverNetwork, CarriesOutEveryCollective) {
  ThreadGroup group(shapeOf(GetParam()));
  group.run([](Context& context) {
    for (const std::size_t count : {1U, 7U, 1000U, 100'000U}) {
      checkMoves(context.world(), count);
      checkSums(context.world(), count);
      context.world().synchronize();
    }
    const auto even = context.createCommunicator({0, static_cast<unsigned>(context.numInstances() - 1)});
    if (even != nullptr) checkSums(*even, 50);
  });
}

// Who has only sent is told by what comes next.
TEST_P(CommunicatorOverNetwork, TellsEveryMemberThatTheyDoNotMatch) {
  ThreadGroup group(shapeOf(GetParam()));
  group.run([&](Context& context) {
    std::vector<float> data(context.instanceIndex() == 1 ? 20 : 10);
    try {
      context.world().allReduceSum(std::span(data));
      context.world().synchronize();
      ADD_FAILURE() << "accepted";
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition) << error.what();
      // By the head of a message, or by the call slot in the control block of a host.
      EXPECT_THAT(error.what(), AnyOf(HasSubstr("20 x float"), HasSubstr("sum of 20 float")));
      EXPECT_THAT(error.what(), AnyOf(HasSubstr("10 x float"), HasSubstr("sum of 10 float")));
    }
    context.fence();
  });
}

TEST_P(CommunicatorOverNetwork, TellsEveryMemberOfPartnersThatContradict) {
  ThreadGroup group(shapeOf(GetParam()));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    float value = 0;
    const bool sends = world.rank() == 0;  // to rank 1, which does not know of it
    try {
      world.sendRecv(&value, 1, sends ? 1 : kNobody, nullptr, 0, kNobody, Type::kFloat);
      ADD_FAILURE() << "accepted by rank " << world.rank();
    } catch (const popdist_error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
      EXPECT_THAT(error.what(), HasSubstr("rank 0 sends 1 element to rank 1, which expects nothing"));
    }
    context.fence();
  });
}

INSTANTIATE_TEST_SUITE_P(Networks, CommunicatorOverNetwork,
                         ::testing::Values(Network{2, true, 0}, Network{5, true, 0}, Network{2, true, 0, 3},
                                           Network{2, false, 1}, Network{4, false, 2}, Network{7, false, 3},
                                           Network{6, false, 2, 2}));

template <typename Call>
std::optional<popdist_error> errorOf(const Call& call) {
  try {
    call();
  } catch (const popdist_error& error) {
    return error;
  }
  ADD_FAILURE() << "the call has succeeded";
  return std::nullopt;
}

void sum(Communicator& communicator, std::size_t count = 1000) {
  std::vector<float> data(count, 1.0F);
  communicator.allReduceSum(std::span(data));
}

TEST(PeerLossOverNetwork, NamesAMemberThatWasKilled) {
  ThreadGroup group(shapeOf({5, false, 2}));
  group.run([&](Context& context) {
    if (context.instanceIndex() == 2) {
      sum(context.world());
      return group.end(2, false, "instance 2 (pid 712) was killed by SIGKILL");
    }
    const auto begin = Clock::now();
    const auto error = errorOf([&] {
      for (;;) sum(context.world());
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::kUnavailable) << error->what();
    EXPECT_EQ(error->peer(), 2);
    EXPECT_THAT(error->what(), HasSubstr("instance 2 (pid 712) was killed by SIGKILL"));
    EXPECT_LT(Clock::now() - begin, kNetworkTimeout);
  });
}

// The connection is all that tells of it: no end notice comes.
TEST(PeerLossOverNetwork, NamesARankWhoseConnectionIsClosed) {
  ThreadGroup group(shapeOf({2, true, 0}));
  group.run([&](Context& context) {
    const auto both = context.createCommunicator({0, 1});
    sum(*both);
    if (context.instanceIndex() == 1) return;
    const auto begin = Clock::now();
    const auto error = errorOf([&] { sum(*both); });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::kUnavailable) << error->what();
    EXPECT_EQ(error->peer(), 1);
    EXPECT_THAT(error->what(), HasSubstr("no connection to rank 1"));
    EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10)) << "far below the timeout";
  });
}

// Who waits for it hears of it by itself; the others wait for those, with whom they have no connection yet.
TEST(PeerLossOverNetwork, NamesAMemberThatLeftBeforeTheFirstCallToAllOthers) {
  constexpr int kRanks = 8;
  for (const int leaver : {0, 1, 4}) {
    ThreadGroup group(shapeOf({kRanks, true, 0}));
    std::latch told(kRanks - 1);
    group.run([&](Context& context) {
      Communicator& world = context.world();
      if (world.rank() == leaver) return group.end(leaver, true, "the leaver exited with code 0");
      const auto begin = Clock::now();
      std::vector<float> data(1000);
      const auto error = errorOf([&] { world.broadcast(std::span(data), leaver); });
      told.arrive_and_wait();
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::kUnavailable) << error->what();
      EXPECT_EQ(error->peer(), leaver) << error->what();
      EXPECT_THAT(error->what(), HasSubstr("the leaver exited with code 0 without taking part"));
      EXPECT_LT(Clock::now() - begin, kNetworkTimeout) << "rank " << world.rank();
    });
  }
}

TEST(PeerLossOverNetwork, IsNoneWhenAMemberLeavesAfterItsPart) {
  for (const std::size_t count : {10U, 3'000'000U}) {
    ThreadGroup group(shapeOf({3, false, 1}));
    group.run([&](Context& context) {
      std::vector<std::int32_t> data(count, context.instanceIndex());
      const auto all = context.createCommunicator({0, 1, 2});
      all->broadcast(std::span(data), 0);
      if (context.instanceIndex() == 0) return;  // what it has sent may still be under way
      EXPECT_EQ(data.back(), 0);
    });
  }
}

Network hostsOfTwo(int instances) {
  return {instances, false, 2};
}

// Whoever waits for one who has given up hears why from it, though it goes on living.
TEST(GivingUpOverNetwork, IsHeardByAllWithItsReason) {
  for (const Network& network : {hostsOfTwo(6), Network{3, true, 0}}) {
    ThreadGroup group(patientShapeOf(network));
    group.run([&](Context& context) {
      Communicator& world = context.world();
      sum(world);
      const auto begin = Clock::now();
      const auto error = errorOf([&] {
        sum(world, world.rank() == 1 ? 2000 : 1000);
        sum(world);  // one that had its result before may hear of it only here
      });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::kFailedPrecondition) << error->what();
      EXPECT_THAT(error->what(), AllOf(HasSubstr("does not match"), HasSubstr("2000")));
      EXPECT_LT(Clock::now() - begin, kNetworkTimeout);
      context.fence();
    });
  }
}

TEST(GivingUpOverNetwork, IsHeardByOneThatOnlySends) {
  ThreadGroup group(shapeOf({3, true, 0}));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    sum(world);
    const std::vector<float> data(1'000'000, 1.0F);
    std::vector<float> all(world.rank() == 1 ? 3 * data.size() : 0);
    const auto gather = [&](const CallOptions& options) {
      world.gather(data.data(), all.data(), data.size(), Type::kFloat, 1, options);
    };
    if (world.rank() == 1) {
      const auto error = errorOf([&] { gather({.timeout = milliseconds(100)}); });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::kDeadlineExceeded) << error->what();
    }
    context.fence();
    if (world.rank() == 0) {
      const auto error = errorOf([&] { gather({}); });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::kDeadlineExceeded) << error->what();
      EXPECT_THAT(error->what(), HasSubstr("rank 1 aborted the call: the deadline has passed"));
    }
    context.fence();
  });
}

TEST(GivingUpOverNetwork, OfOneWhoseDeadlineHasPassedIsHeardOnOtherHosts) {
  ThreadGroup group(shapeOf(hostsOfTwo(4)));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    sum(world);
    if (world.rank() != 3) {
      const std::vector<float> data(1000, 1.0F);
      std::vector<float> out(1000);
      const CallOptions soon{.timeout = milliseconds(world.rank() == 2 ? 100 : 20'000)};
      const auto begin = Clock::now();
      const auto error = errorOf(
          [&] { world.allReduce(data.data(), out.data(), data.size(), Type::kFloat, Operator::kSum, soon); });
      ASSERT_TRUE(error.has_value());
      EXPECT_EQ(error->code(), ErrorCode::kDeadlineExceeded) << error->what();
      EXPECT_EQ(error->peer(), 3) << error->what();
      EXPECT_THAT(error->what(), HasSubstr("waiting for rank 3"));
      EXPECT_LT(Clock::now() - begin, kNetworkTimeout);
    }
    context.fence();
  });
}

// Ranks 0 and 1 give up before rank 0 has made its connection with rank 2, where the others wait for it.
TEST(MismatchOverNetwork, OfCallsThatGoDifferentWaysIsHeardByAllAtOnce) {
  ThreadGroup group(patientShapeOf(hostsOfTwo(4)));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    const std::vector<float> data(4, 1.0F);
    std::vector<float> out(4);
    const auto begin = Clock::now();
    const auto error = errorOf([&] {
      if (world.rank() != 1) return world.barrier();
      world.allToAll(data.data(), out.data(), 1, Type::kFloat);
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::kFailedPrecondition) << error->what();
    EXPECT_THAT(error->what(),
                AllOf(HasSubstr("does not match"), HasSubstr("barrier"), HasSubstr("allToAll")));
    EXPECT_NE(error->peer(), world.rank()) << error->what();
    EXPECT_LT(Clock::now() - begin, kNetworkTimeout);
    context.fence();
  });
}

TEST(MismatchOverNetwork, OfACallThatOneRankHasLeftOutIsNamed) {
  ThreadGroup group(shapeOf(hostsOfTwo(4)));
  group.run([&](Context& context) {
    Communicator& world = context.world();
    world.barrier();
    const std::vector<float> data(4, 1.0F);
    float out = 0;
    const auto error = errorOf([&] {
      if (world.rank() != 1) world.scatter(data.data(), &out, 1, Type::kFloat, 0);
      world.barrier();
    });
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->code(), ErrorCode::kFailedPrecondition) << error->what();
    EXPECT_THAT(error->what(), AllOf(HasSubstr("barrier"), HasSubstr("scatter")));
    context.fence();
  });
}

TEST(DeadlineOverNetwork, NamesWhoHasNotCome) {
  ThreadGroup group(shapeOf({2, false, 1}, milliseconds(150)));
  group.run([&](Context& context) {
    if (context.instanceIndex() == 1) return;
    const auto error = errorOf([&] { sum(context.world()); });
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(error->what(), HasSubstr("waiting for rank 1"));
  });
}

TEST(TransportSettings, NameWhatTheyMayBe) {
  const auto settingsOf = [](const char* transport, const char* streams) {
    return context::transportSettings([=](const char* name) {
      if (std::string_view(name) == "POPDIST_TCP_CONGESTION") return "reno";
      return std::string_view(name) == "POPDIST_TRANSPORT" ? transport : streams;
    });
  };
  EXPECT_EQ(settingsOf(nullptr, nullptr).value().tcp_congestion_control, "reno");
  EXPECT_TRUE(settingsOf("tcp", nullptr).value().tcp_only);
  EXPECT_FALSE(settingsOf("auto", "").value().tcp_only);
  EXPECT_EQ(settingsOf(nullptr, "8").value().tcp_streams, 8);
  EXPECT_THAT(settingsOf("ucx", nullptr).status().message(), HasSubstr("POPDIST_TRANSPORT='ucx'"));
  for (const char* const bad : {"0", "65", "many"})
    EXPECT_THAT(settingsOf(nullptr, bad).status().message(), HasSubstr("POPDIST_TCP_STREAMS")) << bad;
}

}  // namespace
}  // namespace popdist
