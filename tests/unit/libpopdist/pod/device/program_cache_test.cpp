// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/program_cache.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "pod/collectives/gcl.h"
#include "popdist/error.hpp"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_group.h"

namespace popdist::pod {
namespace {

using testing::GroupShape;
using testing::ThreadGroup;

class TheProgramCache : public ::testing::Test {
 protected:
  // The number of times that it was compiled.
  int compiledBy(const std::string& key, int times = 1) {
    int compiled = 0;
    for (int time = 0; time < times; ++time) {
      const auto program = cache().get(key, 4, [&] {
        ++compiled;
        return ring();
      });
      EXPECT_TRUE(program.ok());
    }
    return compiled;
  }

  static pop::Result<CompiledCollective> ring() {
    return CompiledCollective{gclAllReduce({podSpecByName("pod4").value(), 4, 1}, 4), {.method = "ring"}};
  }
  ProgramCache cache() const { return ProgramCache(directory_.path()); }
  std::string file(const std::string& key) const {
    return directory_.path() + '/' + ProgramCache::nameOf(key);
  }

  const pop::testing::TempDir directory_;
};

TEST_F(TheProgramCache, CompilesOnceAndReadsThen) {
  EXPECT_EQ(compiledBy("key", 3), 1);
  EXPECT_EQ(compiledBy("key"), 0);
  EXPECT_EQ(compiledBy("other key"), 1);
}

TEST_F(TheProgramCache, CompilesOnceForManyInstances) {
  std::atomic<int> compiled = 0;
  testing::runThreads(8, [&](int) {
    EXPECT_TRUE(cache()
                    .get("key", 4,
                         [&] {
                           ++compiled;
                           return ring();
                         })
                    .ok());
  });
  EXPECT_EQ(compiled, 1);
}

TEST_F(TheProgramCache, CompilesAnewWhatIsDamaged) {
  ASSERT_EQ(compiledBy("key"), 1);
  std::filesystem::resize_file(file("key"), std::filesystem::file_size(file("key")) - 1);
  EXPECT_EQ(compiledBy("key"), 1);
  EXPECT_EQ(compiledBy("key"), 0);
  std::ofstream(file("key")) << "popdist program 1\nnonsense";
  EXPECT_EQ(compiledBy("key"), 1);
}

TEST_F(TheProgramCache, CompilesAnewWhatOthersCouldHaveWritten) {
  ASSERT_EQ(compiledBy("key"), 1);
  ASSERT_EQ(chmod(file("key").c_str(), 0660), 0);
  EXPECT_EQ(compiledBy("key"), 1);
  EXPECT_EQ(compiledBy("key"), 0);
  if (geteuid() != 0) return;  // nobody else may give files away
  ASSERT_EQ(chown(file("key").c_str(), 1, 1), 0);
  EXPECT_EQ(compiledBy("key"), 1);
}

TEST_F(TheProgramCache, FollowsNoLink) {
  ASSERT_EQ(compiledBy("key"), 1);
  const std::string moved = directory_.path() + "/moved";
  std::filesystem::rename(file("key"), moved);
  std::filesystem::create_symlink(moved, file("key"));
  EXPECT_EQ(compiledBy("key"), 1);
}

TEST_F(TheProgramCache, CompilesAnewWhatIsOfAnotherJob) {
  ASSERT_EQ(compiledBy("key"), 1);
  bool compiled = false;
  EXPECT_TRUE(cache()
                  .get("key", 5,
                       [&] {
                         compiled = true;
                         return ring();
                       })
                  .ok());
  EXPECT_TRUE(compiled);
}

TEST_F(TheProgramCache, OfNoDirectoryKeepsNothing) {
  ProgramCache none(directory_.path() + "/missing");
  EXPECT_FALSE(none.isOpen());
  EXPECT_TRUE(none.get("key", 4, &TheProgramCache::ring).ok());
  EXPECT_FALSE(std::filesystem::exists(directory_.path() + "/missing"));
}

TEST_F(TheProgramCache, PassesOnThatNothingCanBeCompiled) {
  const auto failed = cache().get(
      "key", 4, [] { return pop::Result<CompiledCollective>(pop::invalidArgument("no such method")); });
  EXPECT_EQ(failed.status().message(), "no such method");
  EXPECT_FALSE(std::filesystem::exists(file("key")));
}

// ---- as programs use it

class CompiledAhead : public TheProgramCache {
 protected:
  CompiledAhead() { setenv("POPDIST_EXECUTABLE_CACHE_PATH", directory_.path().c_str(), 1); }
  ~CompiledAhead() override { unsetenv("POPDIST_EXECUTABLE_CACHE_PATH"); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory_.path()),
                                                  std::filesystem::directory_iterator()));
  }
};

const PodProgram kAhead{.count = 1000, .options = {.method = "quickest"}};

TEST_F(CompiledAhead, IsFoundByTheCall) {
  ThreadGroup(GroupShape{.replicas_of_instance = {4, 4}, .offline = true}).run([](Context& context) {
    EXPECT_THROW(Pod pod(context), popdist_error);
    const std::vector<PodCollective> reports = Pod::compile(context, {&kAhead, 1});
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_GT(reports.front().time.count(), 0);
  });
  EXPECT_EQ(files(), 1U);
  const auto sumsOf = [] {
    std::vector<std::vector<float>> sums(8, std::vector<float>(1000));
    ThreadGroup(GroupShape{.replicas_of_instance = {4, 4}}).run([&](Context& context) {
      Pod pod(context);
      std::vector<void*> local;
      for (int replica = 0; replica < 4; ++replica) {
        std::vector<float>& tensor = sums[static_cast<std::size_t>(pod.firstReplica() + replica)];
        for (std::size_t i = 0; i < tensor.size(); ++i)
          tensor[i] =
              1.0F / static_cast<float>(1 + i * 8 + static_cast<std::size_t>(pod.firstReplica() + replica));
        local.push_back(tensor.data());
      }
      const std::vector<const void*> in(local.begin(), local.end());
      pod.allReduce(in, local, 1000, Type::kFloat, Operator::kSum, kAhead.options);
    });
    return sums;
  };
  const auto from_file = sumsOf();
  EXPECT_EQ(files(), 1U);
  unsetenv("POPDIST_EXECUTABLE_CACHE_PATH");
  EXPECT_EQ(from_file, sumsOf());
}

TEST_F(CompiledAhead, WithinReplicasIsFoundByTheCall) {
  const PodProgram ahead{.count = 100, .options = {.scope = PodScope::kWithinReplica}};
  ThreadGroup(GroupShape{.replicas_of_instance = {2, 2}, .ipus_per_replica = 4}).run([&](Context& context) {
    const std::vector<PodCollective> reports = Pod::compile(context, {&ahead, 1});
    Pod pod(context);
    std::vector<std::vector<float>> tensors(8, std::vector<float>(100));
    std::vector<void*> local;
    for (std::vector<float>& tensor : tensors) local.push_back(tensor.data());
    const std::vector<const void*> in(local.begin(), local.end());
    pod.allReduce(in, local, 100, Type::kFloat, Operator::kSum, ahead.options);
    EXPECT_GT(reports.front().time.count(), 0);
    EXPECT_EQ(pod.lastCollective().time, reports.front().time);
  });
  EXPECT_EQ(files(), 1U);
}

TEST_F(CompiledAhead, NamesWhatIsWrong) {
  ThreadGroup(GroupShape{.replicas_of_instance = {4}}).run([](Context& context) {
    const auto textOf = [&](const PodProgram& program) {
      try {
        Pod::compile(context, {&program, 1});
      } catch (const popdist_error& error) {
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_EQ(textOf({.count = 1, .options = {.group = ReplicaGroup::consecutive(3)}}),
              "Pod::compile: groups of 3 replicas do not divide the job's 4 replicas");
    EXPECT_EQ(textOf({.count = 1,
                      .options = {.group = ReplicaGroup::consecutive(2), .scope = PodScope::kWithinReplica}}),
              "Pod::compile: groups of 2 IPUs do not divide the replica's 1 IPU");
    EXPECT_NE(textOf({.count = 1, .options = {.method = "best"}}).find("there is no method 'best'"),
              std::string::npos);
    unsetenv("POPDIST_EXECUTABLE_CACHE_PATH");
    EXPECT_NE(textOf({.count = 1}).find("poprun --executable-cache-path DIR"), std::string::npos);
  });
}

}  // namespace
}  // namespace popdist::pod
