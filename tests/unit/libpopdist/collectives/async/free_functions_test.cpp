// SPDX-License-Identifier: Apache-2.0
// PopDist's free functions in a program that was started without poprun: one instance, with which everything
// works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "popdist/popdist.hpp"
#include "tests/testing/file_text.h"
#include "tests/testing/forbidden_call.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/collectives/context/fresh_process.h"

namespace popdist {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string text(const std::vector<float>& values) {
  std::string result;
  for (const float value : values) result += std::to_string(static_cast<int>(value)) + ' ';
  return result;
}

std::string initialisedOrNot() {
  return isBackendInitialized() ? "yes " : "no ";
}

TEST(WithoutPoprun, TheContextIsThatOfOneInstance) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             Context& context = Context::fromEnvironment();
                             return std::to_string(context.instanceIndex()) +
                                    std::to_string(context.numInstances()) +
                                    std::to_string(context.numTotalReplicas()) +
                                    std::to_string(context.world().size()) + context.system() +
                                    (&context == &Context::fromEnvironment() ? " same" : " other");
                           }),
            "0111 same");
}

TEST(WithoutPoprun, PutAndFenceWork) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             Context& context = Context::fromEnvironment();
                             context.put("key", "value");
                             const bool early = context.get("key").has_value();
                             context.fence();
                             return context.get("key").value_or("nothing") + (early ? " too early" : "");
                           }),
            "value");
}

TEST(WithoutPoprun, EveryCollectiveIsThatOfOneMember) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             namespace c = collectives;
                             std::vector<float> data{1, 2, 3};
                             const std::vector<float> in{4, 5, 6};
                             std::vector<float> gathered(3);
                             std::vector<float> scattered(3);
                             std::vector<float> exchanged(3);
                             c::allReduceSum(data.data(), 3, Type::kFloat);
                             c::broadcast(data.data(), 3, Type::kFloat, 0);
                             c::allGather(in.data(), gathered.data(), 3, Type::kFloat);
                             c::reduceScatter(in.data(), scattered.data(), 3, Type::kFloat);
                             c::allToAll(in.data(), exchanged.data(), 3, Type::kFloat);
                             synchronize();
                             return text(data) + text(gathered) + text(scattered) + text(exchanged);
                           }),
            "1 2 3 4 5 6 4 5 6 4 5 6 ");
}

// Each operation, on the communicator of that name or under that tag.
std::string resultsOfAll(const std::string& id) {
  namespace c = collectives;
  const std::vector<float> in{4, 5, 6};
  const std::vector<std::size_t> counts{3};
  std::vector<std::vector<float>> out(9, std::vector<float>(3));
  c::allReduce(in.data(), out[0].data(), 3, Type::kFloat, Operator::kMax, id);
  c::reduceScatter(in.data(), out[1].data(), 3, Type::kFloat, Operator::kSum, id);
  c::reduce(in.data(), out[2].data(), 3, Type::kFloat, Operator::kMin, 0, id);
  c::allGather(in.data(), out[3].data(), counts, Type::kFloat, id);
  c::gather(in.data(), out[4].data(), 3, Type::kFloat, 0, id);
  c::scatter(in.data(), out[5].data(), 3, Type::kFloat, 0, id);
  c::allToAll(in.data(), counts, out[6].data(), counts, Type::kFloat, id);
  c::sendRecv(in.data(), 3, 0, out[7].data(), 3, 0, Type::kFloat, id);
  c::allToAll(in.data(), out[8].data(), 3, Type::kFloat, id);
  c::barrier(id);
  std::string all;
  for (const std::vector<float>& each : out) all += each == in ? "in " : text(each);
  return all;
}

TEST(WithoutPoprun, EveryOperationIsThereForCommunicatorsAndTags) {
  for (const char* const id : {defaultCommunicatorId(), "mine", "tag"}) {
    EXPECT_EQ(inFreshProcess({},
                             [id] {
                               registerCommunicator({0}, "mine");
                               return resultsOfAll(id);
                             }),
              "in in in in in in in in in ")
        << id;
  }
}

TEST(WithoutPoprun, TheBackendIsInitialisedOnceAndFinalised) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             finalizeBackend();  // before: nothing happens
                             std::string states = initialisedOrNot();
                             initializeBackend();
                             init();
                             states += initialisedOrNot();
                             finalizeBackend();
                             states += initialisedOrNot();
                             finalizeBackend();
                             synchronize();  // initialises again
                             return states + initialisedOrNot();
                           }),
            "no yes no yes ");
}

// Not that the instance is none of the members, as if it had been registered so.
TEST(WithoutPoprun, WhyThereAreNoTagsIsSaidEachTime) {
  const std::string refused =
      "barrier of the tag: error 8: AsyncCommunicator: cannot start its thread: Operation not permitted\n";
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             if (!pop::testing::forbidSystemCall(SYS_clone3) ||
                                 !pop::testing::forbidSystemCall(SYS_clone))
                               return std::string("no filter can be set");
                             std::string said;
                             for (int attempt = 0; attempt < 2; ++attempt) {
                               try {
                                 collectives::barrier("tag");
                               } catch (const popdist_error& error) {
                                 said += "barrier of the tag: error " +
                                         std::to_string(static_cast<int>(error.code())) + ": " +
                                         error.what() + '\n';
                               }
                             }
                             return said;
                           }),
            refused + refused);
}

TEST(WithoutPoprun, ANameThatIsNoCommunicatorsIsATag) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             namespace c = collectives;
                             std::vector<float> data{1, 2, 3};
                             const std::vector<float> in{4, 5, 6};
                             std::vector<float> gathered(3);
                             std::vector<float> scattered(3);
                             std::vector<float> exchanged(3);
                             c::allReduceSum(data.data(), 3, Type::kFloat, "tag");
                             c::broadcast(data.data(), 3, Type::kFloat, 0, "tag");
                             c::allGather(in.data(), gathered.data(), 3, Type::kFloat, "other tag");
                             registerCommunicator({0});
                             c::reduceScatter(in.data(), scattered.data(), 3, Type::kFloat, "tag");
                             finalizeBackend();
                             c::allToAll(in.data(), exchanged.data(), 3, Type::kFloat, "tag");
                             return text(data) + text(gathered) + text(scattered) + text(exchanged);
                           }),
            "1 2 3 4 5 6 4 5 6 4 5 6 ");
}

TEST(WithoutPoprun, MistakesInACallWithATagNameIt) {
  EXPECT_THAT(inFreshProcess({},
                             [] {
                               collectives::allReduceSum(nullptr, 1, Type::kFloat, "tag");
                               return std::string("accepted");
                             }),
              AllOf(StartsWith("error 3: allReduce"), HasSubstr("null pointer")));
}

TEST(WithoutPoprun, ACommunicatorIsKnownByItsNameUntilFinalised) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             float value = 7;
                             registerCommunicator({0}, "mine");
                             collectives::allReduceSum(&value, 1, Type::kFloat, "mine");
                             finalizeBackend();
                             return initialisedOrNot();
                           }),
            "no ");
}

TEST(WithoutPoprun, TheDefaultCommunicatorMayBeRegisteredAnew) {
  EXPECT_EQ(inFreshProcess({},
                           [] {
                             float value = 7;
                             registerCommunicator({0});
                             registerCommunicator({0});
                             collectives::allReduceSum(&value, 1, Type::kFloat);
                             collectives::broadcast(&value, 1, Type::kFloat, 0, defaultCommunicatorId());
                             return std::to_string(static_cast<int>(value));
                           }),
            "7");
}

TEST(WithoutPoprun, ACommunicatorOfOthersIsRefused) {
  EXPECT_THAT(
      inFreshProcess({}, [] { return registerCommunicator({1}, "others"), std::string("registered"); }),
      StartsWith("error 3: "));
}

TEST(WithoutPoprun, ARootThatIsNotThereIsRefused) {
  EXPECT_THAT(inFreshProcess({},
                             [] {
                               float value = 7;
                               collectives::broadcast(&value, 1, Type::kFloat, 1);
                               return std::string("accepted");
                             }),
              AllOf(StartsWith("error 3: broadcast"), HasSubstr("root 1")));
}

TEST(WithoutPoprun, AbortEndsTheProcessWithItsCode) {
  const std::string answer =
      inFreshProcess({}, []() -> std::string { Context::fromEnvironment().abort(42, "enough"); });
  EXPECT_EQ(answer, " (process ended with status " + std::to_string(42 << 8) + ')');
}

// As it is for as long as it reads.
TEST(WithoutPoprun, AbortEndsTheProcessWhileAnotherThreadHasAStreamsLock) {
  const pop::testing::TempDir directory;
  const std::string log = directory.path() + "/log";
  const std::string answer = inFreshProcess({}, [&log]() -> std::string {
    std::promise<void> locked;
    std::thread([&locked] {
      ::flockfile(stdin);
      locked.set_value();
      for (;;) ::pause();
    }).detach();
    locked.get_future().wait();
    std::fputs("in a buffer", std::fopen(log.c_str(), "w"));
    Context::fromEnvironment().abort(42, "enough");
  });
  EXPECT_EQ(answer, " (process ended with status " + std::to_string(42 << 8) + ')');
  EXPECT_EQ(pop::testing::fileText(log), "in a buffer");
}

}  // namespace
}  // namespace popdist
