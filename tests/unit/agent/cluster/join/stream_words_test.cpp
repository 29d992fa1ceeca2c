// SPDX-License-Identifier: Apache-2.0
// gRPC's texts, in the words for admins.
#include "agent/cluster/join/stream_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::joining {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string unreachable(const std::string& text, bool has_tls = true) {
  return describe({.code = Code::kUnavailable, .text = text, .has_tls = has_tls});
}

TEST(StreamWords, SayWhatToDo) {
  EXPECT_THAT(
      unreachable("failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to "
                  "connect to remote host: Connection refused"),
      HasSubstr("does popdistd run there"));
  EXPECT_THAT(unreachable("DNS resolution failed for nowhere:8090"), HasSubstr("does not know that name"));
  EXPECT_THAT(unreachable("Socket closed", false), HasSubstr("it may want TLS"));
  EXPECT_THAT(unreachable("Socket closed", true),
              AllOf(Not(HasSubstr("--tls")), HasSubstr("does popdistd accept this host's certificate")));
}

TEST(StreamWords, LeavePopdistdItsOwn) {
  EXPECT_EQ(describe({.code = Code::kFailedPrecondition, .text = "protocol 7, not 1"}), "protocol 7, not 1");
  EXPECT_THAT(describe({.code = Code::kUnimplemented}), HasSubstr("not a popdistd that hosts can join"));
  EXPECT_EQ(describe({.code = Code::kPermissionDenied, .text = "a\x1b[2Jb"}), "a\\x1b[2Jb");
}

TEST(StreamWords, TellALostConnectionFromOneThatWasNotMade) {
  EXPECT_EQ(describe({.code = Code::kUnavailable, .text = "Connection refused", .was_answered = true}),
            "the connection was lost (Connection refused)");
}

}  // namespace
}  // namespace pop::joining
