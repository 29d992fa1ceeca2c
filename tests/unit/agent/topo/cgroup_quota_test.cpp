// SPDX-License-Identifier: Apache-2.0
#include "agent/topo/cgroup_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/testing/temp_dir.h"

namespace pop::agent {
namespace {

class CgroupQuota : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  double quota() const { return cgroupCpuQuota(root_.path()); }

 private:
  const testing::TempDir root_;
};

TEST_F(CgroupQuota, IsNoneWithoutCgroups) {
  EXPECT_EQ(quota(), 0);
}

TEST_F(CgroupQuota, IsTheLeastOnTheWayUp) {
  write("/proc/self/cgroup", "0::/user/job");
  write("/sys/fs/cgroup/user/job/cpu.max", "400000 100000");
  write("/sys/fs/cgroup/user/cpu.max", "250000 100000");
  write("/sys/fs/cgroup/cpu.max", "max 100000");
  EXPECT_DOUBLE_EQ(quota(), 2.5);
}

TEST_F(CgroupQuota, IsNoneWhereAllIsAllowed) {
  write("/proc/self/cgroup", "0::/user");
  write("/sys/fs/cgroup/user/cpu.max", "max 100000");
  EXPECT_EQ(quota(), 0);
}

TEST_F(CgroupQuota, IsReadFromVersionOneToo) {
  write("/proc/self/cgroup", "5:memory:/job\n4:cpu,cpuacct:/job\n0::/elsewhere");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "150000");
  write("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "50000");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(quota(), 3);
}

TEST_F(CgroupQuota, IsFoundInAContainerThatSeesItsHostsPath) {
  write("/proc/self/cgroup", "4:cpu,cpuacct:/docker/0123abcd");
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_DOUBLE_EQ(quota(), 0.5);
}

}  // namespace
}  // namespace pop::agent
