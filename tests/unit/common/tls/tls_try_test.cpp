// SPDX-License-Identifier: Apache-2.0
#include "common/tls/tls_try.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "common/sys/unix_socket.h"

namespace pop::tls {
namespace {

using namespace std::chrono_literals;

// SIGPIPE ends who does not ignore it, and popdistd must not, since its jobs would, too.
TEST(IsAnswered, NotByAPeerThatIsGone) {
  ASSERT_NE(std::signal(SIGPIPE, SIG_DFL), SIG_ERR);
  Result<std::pair<sys::Fd, sys::Fd>> ends = sys::socketPair();
  ends.value().second.reset();
  EXPECT_FALSE(isAnswered(std::move(ends.value().first), std::nullopt, 1s));
  sigset_t pending;
  ::sigpending(&pending);
  EXPECT_EQ(::sigismember(&pending, SIGPIPE), 0);
}

}  // namespace
}  // namespace pop::tls
