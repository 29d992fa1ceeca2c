// SPDX-License-Identifier: Apache-2.0
// Checks in a child of the test, which may spoil its own mounts and limits.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

namespace pop::testing {

inline void inAChild(const std::function<void()>& check) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    check();
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

/// Gives this process a mount namespace: its mounts from now on are its own.
inline void ownMounts() {
  const int user = ::geteuid() == 0 ? 0 : CLONE_NEWUSER;
  ASSERT_EQ(::unshare(CLONE_NEWNS | user), 0);
  ASSERT_EQ(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
}

/// A disk in memory, which only this process sees.
inline void ownDisk(const std::string& directory, const std::string& options) {
  ASSERT_NO_FATAL_FAILURE(ownMounts());
  ASSERT_EQ(::mount("tmpfs", directory.c_str(), "tmpfs", 0, options.c_str()), 0);
}

}  // namespace pop::testing
