// SPDX-License-Identifier: Apache-2.0
// Instances of a host that wait for each other in a circle hear of it, and correct programs never do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libpopdist/collectives/api/context_impl.h"
#include "popdist/communicator.hpp"
#include "popdist/error.hpp"
#include "tests/differ/circles.h"
#include "tests/differ/heard.h"
#include "tests/testing/thread_group.h"

namespace popdist::testing {
namespace {

/// The ways of collectives between instances of a host.
enum class Way { kMemory, kMessages, kTcp };
constexpr std::array kWays{Way::kMemory, Way::kMessages, Way::kTcp};

void runOver(Way way, int instances, const ThreadGroup::Body& body) {
  ThreadGroup group(
      GroupShape{.replicas_of_instance = std::vector<int>(static_cast<std::size_t>(instances), 1),
                 .timeout = kDeadline,
                 .transport = {.tcp_only = way == Way::kTcp}});
  group.run([&](Context& context) {
    context.impl().state.forced = choice::ForcedAlgorithms{.messages = way != Way::kMemory};
    body(context);
  });
}

std::string nameOf(Way way) {
  return way == Way::kMemory ? "in memory" : way == Way::kMessages ? "by messages" : "over TCP";
}

struct Error {
  ErrorCode code{};
  std::string text;
};

std::vector<Error> errorsOf(Way way, int instances, const Circle& circle) {
  std::vector<Error> errors(static_cast<std::size_t>(instances));
  const auto begin = std::chrono::steady_clock::now();
  runOver(way, instances, [&](Context& context) {
    try {
      callInCircle(context, circle);
    } catch (const popdist_error& error) {
      errors[static_cast<std::size_t>(context.instanceIndex())] = {error.code(), error.what()};
    }
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kAtOnce);
  return errors;
}

TEST(Circles, AreAnErrorOfAllTheirInstances) {
  for (const Way way : kWays) {
    for (const int instances : {3, 4}) {
      for (const int equal_calls : {0, 2}) {
        SCOPED_TRACE(std::to_string(instances) + ' ' + nameOf(way) + " after " + std::to_string(equal_calls));
        const std::vector<Error> errors = errorsOf(way, instances, {.equal_calls = equal_calls});
        for (const Error& error : errors) {
          EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition);
          EXPECT_THAT(error.text, ::testing::HasSubstr("each waits for the next, the last for the first"));
          for (const std::string& call : callsInCircle(instances))
            EXPECT_THAT(error.text, ::testing::HasSubstr(call));
        }
      }
    }
  }
}

TEST(Circles, WithAFenceAreAnErrorOfAllTheirInstances) {
  for (const Way way : kWays) {
    for (const int instances : {3, 4}) {
      SCOPED_TRACE(std::to_string(instances) + ' ' + nameOf(way));
      const std::vector<Error> errors = errorsOf(way, instances, {.has_fence = true});
      for (const Error& error : errors) {
        EXPECT_EQ(error.code, ErrorCode::kFailedPrecondition) << error.text;
        EXPECT_THAT(error.text, ::testing::HasSubstr("fence"));
      }
    }
  }
}

/// Another instance waits for one of the circle, and hears of it as that one leaves.
TEST(Circles, AreHeardOfByThoseThatWaitForThem) {
  std::array<std::string, 4> heard;
  runOver(Way::kMemory, 4, [&](Context& context) {
    const auto own = static_cast<unsigned>(context.instanceIndex());
    std::vector<std::unique_ptr<Communicator>> all;
    for (unsigned first = 0; first < 3; ++first)
      all.push_back(context.createCommunicator({first, (first + 1) % 3}));
    all.push_back(context.createCommunicator({0, 3}));
    try {
      all[own]->barrier();
    } catch (const popdist_error& error) {
      heard[own] = error.what();
    }
    context.fence();
  });
  for (const std::string& text : heard) EXPECT_THAT(text, ::testing::HasSubstr("instance 2 in barrier"));
}

// ---- correct programs

constexpr int kInstancesOfProgram = 4;
constexpr int kCommunicators = 5;
constexpr int kSteps = 16;
constexpr int kFenceStep = -1;

struct Step {
  int communicator = kFenceStep;
  int late = -1;  ///< the instance that is so
  int late_ms = 0;
};

/// Calls of one thread of each instance, which all of them make in this order.
struct Program {
  std::vector<std::set<unsigned>> members;  ///< of the communicators
  std::vector<Step> steps;
};

/// One thread may enter fences.
Program randomProgram(std::mt19937& random, bool has_fences) {
  const auto below = [&](int end) { return std::uniform_int_distribution<int>(0, end - 1)(random); };
  Program program;
  while (program.members.size() < kCommunicators) {
    std::set<unsigned> some;
    for (int i = 0; i < 3; ++i) some.insert(static_cast<unsigned>(below(kInstancesOfProgram)));
    if (some.size() > 1) program.members.push_back(some);
  }
  for (int i = 0; i < kSteps; ++i) {
    Step step{.communicator = below(kCommunicators)};
    if (has_fences && below(8) == 0) step.communicator = kFenceStep;
    // As long as a wait is shown, or is looked at by others; two in three are not late.
    if (below(3) == 0) step = {step.communicator, below(kInstancesOfProgram), 400 + below(600)};
    program.steps.push_back(step);
  }
  return program;
}

using Communicators = std::vector<std::unique_ptr<Communicator>>;

Communicators makeAll(Context& context, const Program& program) {
  Communicators all;
  for (const std::set<unsigned>& members : program.members)
    all.push_back(context.createCommunicator(members));
  return all;
}

void call(Communicator& communicator, int step) {
  std::array<float, 8> in{1, 2, 3, 4};
  std::array<float, 32> out{};
  switch (step % 4) {
    case 0:
      communicator.barrier();
      return;
    case 1:
      communicator.broadcast(in.data(), 4, Type::kFloat, 0);
      return;
    case 2:
      communicator.gather(in.data(), out.data(), 4, Type::kFloat, 1);
      return;
    default:
      communicator.allReduce(in.data(), out.data(), 4, Type::kFloat, Operator::kSum);
  }
}

void carryOut(Context& context, const Program& program, const Communicators& all) {
  for (int i = 0; i < kSteps; ++i) {
    const Step& step = program.steps[static_cast<std::size_t>(i)];
    if (step.late == context.instanceIndex()) ::poll(nullptr, 0, step.late_ms);
    if (step.communicator == kFenceStep)
      context.fence();
    else if (const auto& communicator = all[static_cast<std::size_t>(step.communicator)])
      call(*communicator, i);
  }
}

/// Each instance makes the calls of both programs, at once.
void carryOutBoth(Way way, unsigned seed) {
  std::mt19937 random(seed);
  const Program first = randomProgram(random, true);
  const Program second = randomProgram(random, false);
  runOver(way, kInstancesOfProgram, [&](Context& context) {
    const Communicators of_first = makeAll(context, first);
    const Communicators of_second = makeAll(context, second);
    std::string failed;
    std::thread thread([&] {
      try {
        carryOut(context, second, of_second);
      } catch (const popdist_error& error) {
        failed = error.what();
      }
    });
    try {
      carryOut(context, first, of_first);
    } catch (const popdist_error& error) {
      ADD_FAILURE() << error.what();
    }
    thread.join();
    EXPECT_EQ(failed, "");
  });
}

/// Calls in an order that is the same for all, with members that come late for longer than a wait goes
/// unseen.
TEST(Circles, AreNeverFoundInCorrectPrograms) {
  for (const Way way : kWays) {
    SCOPED_TRACE(nameOf(way));
    runThreads(6, [&](int program) { carryOutBoth(way, static_cast<unsigned>(program)); });
  }
}

}  // namespace
}  // namespace popdist::testing
