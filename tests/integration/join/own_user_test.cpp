// SPDX-License-Identifier: Apache-2.0
// The service of a user who is not root, without TLS: for that user's jobs, with a popdistd of the same host.
#include "tests/integration/join/join_fixture.h"

namespace pop::testing {
namespace {

TEST_F(JoinTest, OfAUserRunsThatUsersJobsWithoutTls) {
  FakePopdistd controller({});
  for (const char* each : {"h0.log", "h0.state"}) {
    each == std::string("h0.log") ? void(std::ofstream(path(each)))
                                  : void(std::filesystem::create_directory(path(each)));
    static_cast<void>(std::system(("chown " + unixUser() + " " + path(each)).c_str()));
  }
  const bool is_root = ::geteuid() == 0;
  serve("h0", controller.port(), "", is_root ? "setpriv --reuid nobody --regid nogroup --clear-groups " : "");
  joins(controller, "h0");
  controller.send("h0", startOrder(1, "wait", unixUser()));
  const pid_t pid = started(controller, "h0", 1).pid();
  const std::string uid = output("id -u " + unixUser());
  EXPECT_NE(fileText("/proc/" + std::to_string(pid) + "/status").find("Uid:\t" + uid), std::string::npos);
  controller.send("h0", startOrder(2, "wait", "root"));
  EXPECT_EQ(refused(controller, "h0", 2).code(), 7);
}

}  // namespace
}  // namespace pop::testing
