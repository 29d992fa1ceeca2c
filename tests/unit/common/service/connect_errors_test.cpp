// SPDX-License-Identifier: Apache-2.0
// What is said when an agent service cannot be reached.
#include "common/service/connect_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

namespace pop::wire {
namespace {

using ::testing::HasSubstr;

std::string explained(const Status& why) {
  return explainNoAnswer({"h7", 7571, std::chrono::milliseconds(10000)}, why).message();
}

Status failedWith(int error_number) {
  os::Dialled dialled;
  dialled.error_number = error_number;
  return explainDial(dialled);
}

TEST(ConnectErrors, NameHostPortCauseAndOption) {
  EXPECT_EQ(
      explained(failedWith(ECONNREFUSED)),
      "the agent service at h7, port 7571: connection refused: does popdist-agent serve run there, at that "
      "port?");
  EXPECT_EQ(explained(explainSilentEnd(false)),
            "the agent service at h7, port 7571: the connection was closed: it probably wants TLS, so give "
            "--agent-tls DIR with your certificate");
  EXPECT_THAT(explained(explainSilentEnd(true)), HasSubstr("it does not accept your certificate"));
  EXPECT_THAT(explained(failedWith(EHOSTUNREACH)), HasSubstr("no route to host"));
  EXPECT_THAT(explained(failedWith(ENETUNREACH)), HasSubstr("its network cannot be reached"));
  EXPECT_THAT(explained(failedWith(ETIMEDOUT)), HasSubstr("no answer within 10 s (--connect-timeout)"));
}

TEST(ConnectErrors, KeepWhatIsNotKnownAndWhatTheServiceSays) {
  EXPECT_THAT(explained(failedWith(EMFILE)), HasSubstr("Too many open files"));
  const Status denied = explainNoAnswer({"h7", 7571, {}}, {Code::kPermissionDenied, "not you"});
  EXPECT_EQ(denied.code(), Code::kPermissionDenied);
  EXPECT_EQ(denied.message(), "the agent service at h7, port 7571: not you");
}

TEST(ConnectErrors, TellAWrongNameFromNobodyToAsk) {
  os::Dialled dialled;
  dialled.lookup = Status(Code::kNotFound, "no such name");
  EXPECT_THAT(explained(explainDial(dialled)), HasSubstr("its name is not known: check its spelling"));
  dialled.lookup = unavailable("the name server is away");
  EXPECT_THAT(explained(explainDial(dialled)), HasSubstr("the name server is away"));
}

}  // namespace
}  // namespace pop::wire
