// SPDX-License-Identifier: Apache-2.0
#include "agent/job/memory_kills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/temp_dir.h"

namespace pop::agent {
namespace {

class MemoryKillsTest : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_ / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  // The limit of `group` and its counters, as the kernel writes them.
  void groupV1(const std::string& group, const std::string& limit, int failures, int kills) {
    const std::string at = "sys/fs/cgroup/memory" + group + "/memory.";
    write(at + "limit_in_bytes", limit + '\n');
    write(at + "max_usage_in_bytes", "67108864\n");
    write(at + "failcnt", std::to_string(failures) + '\n');
    write(at + "oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill " + std::to_string(kills) + '\n');
  }

  void groupV2(const std::string& group, const std::string& limit, int ooms, int kills) {
    const std::string at = "sys/fs/cgroup" + group + "/memory.";
    write(at + "max", limit + '\n');
    write(at + "peak", "536870912\n");
    write(at + "events", "low 0\nhigh 0\nmax 9\noom " + std::to_string(ooms) + "\noom_kill " +
                             std::to_string(kills) + "\noom_group_kill 0\n");
  }

  testing::TempDir root_;
  static constexpr const char* kNone = "9223372036854771712";
};

TEST_F(MemoryKillsTest, OfVersion1NameTheCgroupWhoseLimitWasReached) {
  write("proc/self/cgroup", "5:memory:/slurm/job_7\n4:cpu:/\n0::/\n");
  groupV1("/slurm/job_7", kNone, 0, 2);
  groupV1("/slurm", "67108864", 5, 0);
  groupV1("", kNone, 0, 0);
  MemoryKills kills(root_.path());
  EXPECT_EQ(kills.why(712), "") << "killed by hand";
  groupV1("/slurm/job_7", kNone, 0, 3);
  groupV1("/slurm", "67108864", 6, 0);
  EXPECT_EQ(kills.why(712), "out of memory (cgroup /slurm, limit 64 MiB, peak 64 MiB)");
  EXPECT_EQ(kills.why(713), "") << "one kill explains one end";
}

TEST_F(MemoryKillsTest, OfVersion2NameTheCgroupWhoseLimitWasReached) {
  write("proc/self/cgroup", "0::/user.slice/job.scope\n");
  groupV2("/user.slice/job.scope", "536870912", 0, 0);
  groupV2("/user.slice", "max", 0, 0);
  MemoryKills kills(root_.path());
  EXPECT_EQ(kills.why(712), "");
  groupV2("/user.slice/job.scope", "536870912", 1, 2);
  groupV2("/user.slice", "max", 1, 2);
  for (const pid_t pid : {712, 713})
    EXPECT_EQ(kills.why(pid), "out of memory (cgroup /user.slice/job.scope, limit 512 MiB, peak 512 MiB)");
}

TEST_F(MemoryKillsTest, WithoutALimitThatWasReachedAreOfTheHost) {
  write("proc/self/cgroup", "0::/job\n");
  groupV2("/job", "max", 0, 0);
  MemoryKills kills(root_.path());
  groupV2("/job", "max", 0, 1);
  EXPECT_EQ(kills.why(712), "out of memory (of the whole host)");
}

// A container shows the path that its cgroup has on the host, and mounts only the end of it.
TEST_F(MemoryKillsTest, OfAContainerAreInTheMountItself) {
  write("proc/self/cgroup", "3:memory,hugetlb:/docker/4711\n");
  groupV1("", "536870", 0, 0);
  MemoryKills kills(root_.path());
  groupV1("", "536870", 1, 1);
  EXPECT_EQ(kills.why(1), "out of memory (cgroup /, limit 524 KiB, peak 64 MiB)");
}

TEST_F(MemoryKillsTest, AreUnknownWithoutCgroups) {
  EXPECT_EQ(MemoryKills(root_.path()).why(712), "");
  write("proc/self/cgroup", "rubbish\n1:\n::\n0::/gone\n");
  EXPECT_EQ(MemoryKills(root_.path()).why(712), "");
}

// A file gives all records at once, which is enough for one.
TEST_F(MemoryKillsTest, TheKernelsLogNamesTheProcess) {
  write("proc/self/cgroup", "5:memory:/\n");
  groupV1("", kNone, 0, 0);
  groupV1("/deep/down", "33554432", 1, 1);
  MemoryKills kills(root_.path());
  const std::string head = "6,99,9000000000000000,-;oom-kill:constraint=";
  const std::string tail = ",task_memcg=/deep/down,task=hog,pid=712,uid=0\n";
  write("dev/kmsg",
        head + "CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/deep/down" + tail);
  EXPECT_EQ(kills.why(712), "out of memory (cgroup /deep/down, limit 32 MiB, peak 64 MiB)");
  EXPECT_EQ(kills.why(71), "");
  write("dev/kmsg", head + "CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom" + tail);
  EXPECT_EQ(kills.why(712), "out of memory (of the whole host)");
  write("dev/kmsg", "6,99,1,-;oom-kill:constraint=CONSTRAINT_NONE,global_oom" + tail);
  EXPECT_EQ(kills.why(712), "") << "of an older process of that number";
}

}  // namespace
}  // namespace pop::agent
