// SPDX-License-Identifier: Apache-2.0
// Calls of another user of this host: in a process of its own.
#pragma once

#include <grp.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace pop::testing {

inline constexpr uid_t kNobody = 65534;

/// Runs `action` as another user, and returns when it has ended: whether it returned true. Only for root.
inline bool asNobody(const std::function<bool()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_nobody = ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
    ::_exit(is_nobody && action() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace pop::testing
