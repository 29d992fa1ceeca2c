// SPDX-License-Identifier: Apache-2.0
// Errors when an agent service cannot be reached.
#include "common/agent_service/connect_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "tests/testing/golden.h"

namespace pop::wire {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string explained(const Status& why) {
  return explainNoAnswer({"h7", 7571, std::chrono::milliseconds(10000)}, why).message();
}

Status failedWith(int error_number) {
  os::Dialled dialled;
  dialled.error_number = error_number;
  return explainDial(dialled);
}

Status nameNotFound() {
  os::Dialled dialled;
  dialled.lookup = Status(Code::kNotFound, "no such name");
  return explainDial(dialled);
}

TEST(ConnectErrors, NameHostPortCauseAndOption) {
  EXPECT_THAT(explained(failedWith(ECONNREFUSED)),
              AllOf(HasSubstr("h7, port 7571"), HasSubstr("connection refused")));
  EXPECT_THAT(explained(explainSilentEnd(false)), HasSubstr("--agent-tls DIR"));
  EXPECT_THAT(explained(explainSilentEnd(true)), HasSubstr("certificate"));
  EXPECT_THAT(explained(failedWith(EHOSTUNREACH)), HasSubstr("no route to host"));
  EXPECT_THAT(explained(failedWith(ETIMEDOUT)), HasSubstr("10 s (--connect-timeout)"));
}

TEST(ConnectErrors, ReadAsIntended) {
  std::string messages;
  for (const int error_number : {ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT})
    messages += explained(failedWith(error_number)) + '\n';
  for (const bool with_tls : {false, true}) messages += explained(explainSilentEnd(with_tls)) + '\n';
  messages += explained(nameNotFound()) + '\n';
  EXPECT_EQ(messages, testing::golden("errors/connect.txt"));
}

TEST(ConnectErrors, KeepWhatIsNotKnownAndWhatTheServiceSays) {
  EXPECT_THAT(explained(failedWith(EMFILE)), HasSubstr("Too many open files"));
  const Status denied = explainNoAnswer({"h7", 7571, {}}, {Code::kPermissionDenied, "not you"});
  EXPECT_EQ(denied.code(), Code::kPermissionDenied);
  EXPECT_EQ(denied.message(), "the agent service at h7, port 7571: not you");
}

TEST(ConnectErrors, TellAWrongNameFromNobodyToAsk) {
  EXPECT_THAT(explained(nameNotFound()), HasSubstr("its name is unknown"));
  os::Dialled dialled;
  dialled.lookup = unavailable("the name server is away");
  EXPECT_THAT(explained(explainDial(dialled)), HasSubstr("the name server is away"));
}

}  // namespace
}  // namespace pop::wire
