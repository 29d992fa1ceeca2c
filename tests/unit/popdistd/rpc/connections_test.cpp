// SPDX-License-Identifier: Apache-2.0
// Connections of whom nothing says who they are: nobody can lock others out with them, for a moment or for
// ever.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "common/sys/unix_socket.h"
#include "popdistd/rpc/connections.h"
#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

class ConnectionsTest : public ::testing::Test {
 protected:
  Code admit(const std::string& address, int port, Clock::time_point now = {}) {
    auto [mine, theirs] = std::move(sys::socketPair().value());
    const Status status = connections.admit(mine.get(), address, std::to_string(port), now);
    if (status.ok()) open.push_back(std::move(mine));
    return status.code();
  }

  Connections connections{{.most = 40, .most_unknown = 20, .most_unknown_of_one = 12, .always_of_one = 2}};
  std::vector<sys::Fd> open;
};

TEST_F(ConnectionsTest, OneAddressHasABoundedNumberOfUnknownOnes) {
  for (int port = 0; port < 12; ++port) EXPECT_EQ(admit("10.0.0.1", port), Code::kOk);
  EXPECT_EQ(admit("10.0.0.1", 12), Code::kResourceExhausted);
  connections.isKnown("10.0.0.1", "3");
  connections.isKnown("10.0.0.1", "3");
  EXPECT_EQ(admit("10.0.0.1", 13), Code::kOk);
  EXPECT_EQ(admit("10.0.0.1", 14), Code::kResourceExhausted);
}

TEST_F(ConnectionsTest, ACrowdLocksNoOtherAddressOut) {
  for (int port = 0; port < 12; ++port) admit("10.0.0.1", port);
  for (int port = 0; port < 12; ++port) admit("10.0.0.2", port);
  EXPECT_EQ(admit("10.0.0.2", 20), Code::kResourceExhausted);
  EXPECT_EQ(admit("10.0.0.3", 1), Code::kOk);
  EXPECT_EQ(admit("10.0.0.3", 2), Code::kOk);
  EXPECT_EQ(admit("10.0.0.3", 3), Code::kResourceExhausted);
}

TEST_F(ConnectionsTest, ThoseThatHaveEndedAreForgotten) {
  for (int port = 0; port < 12; ++port) admit("10.0.0.1", port);
  open.clear();
  EXPECT_EQ(admit("10.0.0.1", 12, Clock::time_point(std::chrono::seconds(1))), Code::kOk);
}

TEST_F(ConnectionsTest, DescriptorsAreLeftForTheStoreAndUsersOfTheMachine) {
  for (int port = 0; port < 40; ++port) {
    EXPECT_EQ(admit("10.0.0.1", port), Code::kOk);
    connections.isKnown("10.0.0.1", std::to_string(port));
  }
  EXPECT_EQ(admit("10.0.0.2", 1), Code::kResourceExhausted);
  EXPECT_EQ(limitsWithin(1024).most, 512);
  EXPECT_EQ(limitsWithin(524'288).most, 16'384);
}

class DoorTest : public RpcTest {
 protected:
  sys::Fd connection() const {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<in_port_t>(server->port()));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return socket;
  }
  static bool about(v1::Controller::Stub& stub) {
    grpc::ClientContext context;
    setDeadline(context, std::chrono::seconds(10));
    context.set_wait_for_ready(true);
    v1::AboutReply reply;
    return stub.About(&context, {}, &reply).ok();
  }
};

TEST_F(DoorTest, OpensAgainAfterTheProcessHadNoDescriptors) {
  serve();
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  std::vector<sys::Fd> crowd;
  int last = 0;
  loop.run([&] {
    for (int i = 0; i < 20; ++i) crowd.push_back(connection());
    last = crowd.back().get() + 8;
    const rlimit low{static_cast<rlim_t>(last) + 1, usual.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  });
  EXPECT_TRUE(loop.until([&] { return ::fcntl(last, F_GETFD) != -1; }));
  crowd.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
  EXPECT_TRUE(about(*controller()));
}

TEST_F(DoorTest, TurnsAwayWhoComesOverAndOverWithoutSayingWho) {
  serveWithTls();
  const auto alice = controller(userPair("alice"));
  EXPECT_TRUE(about(*alice));
  std::vector<sys::Fd> crowd;
  for (int i = 0; i < 256; ++i) crowd.push_back(connection());
  char byte = 0;
  EXPECT_EQ(::recv(connection().get(), &byte, 1, 0), 0) << "closed";
  EXPECT_TRUE(about(*alice)) << "who is known stays";
  crowd.clear();
  EXPECT_TRUE(about(*controller(userPair("bob"))));
}

}  // namespace
}  // namespace pop::popdistd
