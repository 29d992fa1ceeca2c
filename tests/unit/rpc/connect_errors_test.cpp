// SPDX-License-Identifier: Apache-2.0
// What gRPC says of connections that fail, in words for users. The texts are gRPC's own.
#include "common/rpc/connect_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pop::rpc {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string explained(const Status& why, bool has_tls = true) {
  return explainNoAnswer({"h7", 7571, has_tls, std::chrono::milliseconds(10000)}, why).message();
}

TEST(ConnectErrors, NameHostPortCauseAndOption) {
  const std::string prefix =
      "failed to connect to all addresses; last error: UNAVAILABLE: ipv4:10.0.0.7:7571: ";
  EXPECT_EQ(explained(unavailable(prefix + "Socket closed"), false),
            "the agent service at h7, port 7571: the connection was closed: it probably wants TLS, so give "
            "--agent-tls DIR with your certificate");
  EXPECT_THAT(
      explained(unavailable(prefix + "Failed to connect to remote host: Connection refused")),
      AllOf(StartsWith("the agent service at h7, port 7571: "), HasSubstr("connection refused: does")));
  EXPECT_THAT(explained(unavailable(prefix + "Peer name h7 is not in peer certificate")),
              HasSubstr("its certificate is not for this name"));
  EXPECT_THAT(explained(unavailable("DNS resolution failed for h7:7571: C-ares status is not ARES_SUCCESS")),
              HasSubstr("its name is not known"));
  EXPECT_THAT(explained({Code::kDeadlineExceeded, "slow"}),
              HasSubstr("no answer within 10 s (--connect-timeout)"));
}

TEST(ConnectErrors, KeepWhatIsNotKnownAndWhatTheServiceSays) {
  EXPECT_EQ(explained(unavailable("something new")), "the agent service at h7, port 7571: something new");
  const Status denied = explainNoAnswer({"h7", 7571, true, {}}, {Code::kPermissionDenied, "not you"});
  EXPECT_EQ(denied.code(), Code::kPermissionDenied);
  EXPECT_EQ(denied.message(), "the agent service at h7, port 7571: not you");
}

TEST(ExplainLoss, SaysWhatBefellAConnectionAndLeavesWhatTheServiceSays) {
  EXPECT_EQ(explainLoss(unavailable("Socket closed")).message(), "the connection was closed");
  EXPECT_EQ(explainLoss(unavailable("Connection reset by peer")).message(), "the connection was closed");
  EXPECT_EQ(explainLoss(unavailable("the agent service there was stopped")).message(),
            "the agent service there was stopped");
  EXPECT_EQ(explainLoss({Code::kCancelled, "Socket closed"}).message(), "Socket closed");
}

}  // namespace
}  // namespace pop::rpc
