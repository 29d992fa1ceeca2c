// SPDX-License-Identifier: Apache-2.0
// Unauthenticated connections: they lock no client out, for a moment or for ever.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "common/sys/unix_socket.h"
#include "popdistd/net/client_header.h"
#include "popdistd/rpc/connections.h"
#include "tests/unit/popdistd/rpc/rpc_fixture.h"

namespace pop::popdistd {
namespace {

class ConnectionsTest : public ::testing::Test {
 protected:
  Code admit(const std::string& address, int port, Clock::time_point now = {}) {
    return admitFor({address, port}, {address, port}, now);
  }
  Code admitFor(const End& client, const End& end, Clock::time_point now = {}) {
    auto [mine, theirs] = std::move(sys::socketPair().value());
    const Status status = connections.admit(mine.get(), end, client, now);
    if (status.ok()) open.push_back(std::move(mine));
    return status.code();
  }

  Connections connections{{.most = 40, .most_unknown = 20, .most_unknown_of_one = 12, .always_of_one = 2}};
  std::vector<sys::Fd> open;
};

TEST_F(ConnectionsTest, OneAddressHasABoundedNumberOfUnknownOnes) {
  for (int port = 0; port < 12; ++port) EXPECT_EQ(admit("10.0.0.1", port), Code::kOk);
  EXPECT_EQ(admit("10.0.0.1", 12), Code::kResourceExhausted);
  connections.isKnown({"10.0.0.1", 3});
  connections.isKnown({"10.0.0.1", 3});
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
    connections.isKnown({"10.0.0.1", port});
  }
  EXPECT_EQ(admit("10.0.0.2", 1), Code::kResourceExhausted);
  EXPECT_EQ(limitsWithin(1024).most, 512);
  EXPECT_EQ(limitsWithin(524'288).most, 16'384);
}

// "10.0.0.9" passes on what comes from others.
TEST_F(ConnectionsTest, ThoseThatArePassedOnAreTheirClients) {
  const End client{"10.0.0.1", 5000};
  for (int port = 0; port < 12; ++port) EXPECT_EQ(admitFor(client, {"10.0.0.9", port}), Code::kOk);
  EXPECT_EQ(connections.clientAt({"10.0.0.9", 3}), client);
  EXPECT_EQ(connections.clientAt({"10.0.0.9", 99}), (End{"10.0.0.9", 99}));

  EXPECT_EQ(admitFor(client, {"10.0.0.9", 12}), Code::kResourceExhausted);
  EXPECT_EQ(admitFor({"10.0.0.2", 5000}, {"10.0.0.9", 12}), Code::kOk);
  connections.isKnown({"10.0.0.9", 3});
  EXPECT_EQ(admitFor(client, {"10.0.0.9", 13}), Code::kOk);
  EXPECT_EQ(admit("10.0.0.1", 1), Code::kResourceExhausted) << "with or without a popdistd between";

  open.clear();
  EXPECT_EQ(admit("10.0.0.1", 1, Clock::time_point(std::chrono::seconds(1))), Code::kOk);
}

class DoorTest : public RpcTest {
 protected:
  static constexpr const char* kKey = "the key of this lead";

  sys::Fd connection(in_addr_t from = INADDR_LOOPBACK) const {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_addr.s_addr = htonl(from);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
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
  /// Calls by a connection that begins with `header`. The caller's address.
  std::string addressOfACallAfter(const std::string& header) {
    sys::Fd socket = connection();
    EXPECT_TRUE(sys::writeAll(socket.get(), header).ok());
    ::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    const auto stub =
        v1::Controller::NewStub(grpc::CreateInsecureChannelFromFd("popdistd", socket.release()));
    caller_address.clear();
    about(*stub);
    return caller_address;
  }
  std::vector<sys::Fd> crowdOf(int count) const {
    std::vector<sys::Fd> crowd;
    while (count-- > 0) crowd.push_back(connection());
    return crowd;
  }
  /// The number of those that are closed, once one is.
  static int closedOf(const std::vector<sys::Fd>& crowd) {
    std::vector<pollfd> ends;
    for (const sys::Fd& each : crowd) ends.push_back({each.get(), POLLRDHUP, 0});
    return ::poll(ends.data(), ends.size(), 10'000);
  }
  bool isClosed(const sys::Fd& socket) {
    char byte = 0;
    return ::recv(socket.get(), &byte, 1, 0) <= 0;
  }
  Identify identify() override {
    return [this](const Peer& peer, const Credentials& said) {
      caller_address = peer.address;
      return accounts.identify(peer, said);
    };
  }

  std::string caller_address;
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
  std::vector<sys::Fd> crowd = crowdOf(257);
  for (const sys::Fd& each : crowd) EXPECT_TRUE(sys::writeAll(each.get(), "\x16").ok());  // as TLS begins
  EXPECT_EQ(closedOf(crowd), 1) << "one too many";
  EXPECT_TRUE(about(*alice)) << "who is known stays";
  crowd.clear();
  EXPECT_TRUE(about(*controller(userPair("bob"))));
}

TEST_F(DoorTest, KnowsTheClientOfAConnectionThatIsPassedOn) {
  headers = std::make_shared<HeaderCheck>(kKey);
  serve();
  HeaderWriter writer(kKey, 1);
  EXPECT_EQ(addressOfACallAfter(writer.next({"10.1.2.3", 5000})), "10.1.2.3");
  EXPECT_EQ(addressOfACallAfter(writer.next({"fd00::1", 5000})), "fd00::1");
  EXPECT_EQ(addressOfACallAfter(""), "127.0.0.1");
}

TEST_F(DoorTest, LetsNobodyChooseAnAddress) {
  headers = std::make_shared<HeaderCheck>(kKey);
  serve();
  HeaderWriter writer(kKey, 1);
  const std::string used = writer.next({"10.1.2.3", 5000});
  EXPECT_EQ(addressOfACallAfter(used), "10.1.2.3");
  for (const std::string& header : {HeaderWriter("a guess", 1).next({"10.1.2.3", 5000}), used}) {
    const sys::Fd socket = connection();
    EXPECT_TRUE(sys::writeAll(socket.get(), header).ok());
    EXPECT_TRUE(isClosed(socket));
  }
}

TEST_F(DoorTest, AloneTakesNoHeader) {
  serve();
  const sys::Fd socket = connection();
  EXPECT_TRUE(sys::writeAll(socket.get(), HeaderWriter("", 1).next({"10.1.2.3", 5000})).ok());
  EXPECT_TRUE(isClosed(socket));
}

TEST_F(DoorTest, WaitsForNobodyWhoSaysNothingOrHalfAHeader) {
  headers = std::make_shared<HeaderCheck>(kKey);
  arrival_timeout = std::chrono::milliseconds(100);
  serve();
  EXPECT_TRUE(isClosed(connection()));
  const sys::Fd half = connection();
  EXPECT_TRUE(sys::writeAll(half.get(), HeaderWriter(kKey, 1).next({"10.1.2.3", 5000}).substr(0, 50)).ok());
  EXPECT_TRUE(isClosed(half));
}

TEST_F(DoorTest, SharesAreOfTheClientsBehindOneThatPassesThemOn) {
  headers = std::make_shared<HeaderCheck>(kKey);
  serve();
  HeaderWriter writer(kKey, 1);
  const std::vector<sys::Fd> crowd = crowdOf(257);
  for (const sys::Fd& each : crowd)
    EXPECT_TRUE(sys::writeAll(each.get(), writer.next({"10.1.2.3", 5000})).ok());
  EXPECT_EQ(closedOf(crowd), 1) << "one too many";
  EXPECT_EQ(addressOfACallAfter(writer.next({"10.1.2.4", 5000})), "10.1.2.4");
  EXPECT_TRUE(about(*controller())) << "who comes from the popdistd's machine itself";
}

TEST_F(DoorTest, ThoseThatSayNothingLockNobodyOut) {
  headers = std::make_shared<HeaderCheck>(kKey);
  serve();
  const std::vector<sys::Fd> crowd = crowdOf(260);
  EXPECT_EQ(addressOfACallAfter(HeaderWriter(kKey, 1).next({"10.1.2.3", 5000})), "10.1.2.3");
  EXPECT_TRUE(about(*controller()));
}

TEST_F(DoorTest, TheOldestOfTheLargestCrowdThatSaysNothingGivesWay) {
  rlimit usual{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &usual), 0);
  const rlimit low{800, usual.rlim_max};  // an eighth of them may be silent
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  serve();
  const sys::Fd other = connection(INADDR_LOOPBACK + 1);
  std::vector<sys::Fd> crowd = crowdOf(100);
  EXPECT_TRUE(isClosed(crowd[0]));
  EXPECT_TRUE(about(*controller()));
  EXPECT_TRUE(isClosed(crowd[1]));
  crowd.erase(crowd.begin(), crowd.begin() + 2);
  char byte = 0;
  for (const int stays : {other.get(), crowd.front().get(), crowd.back().get()})
    EXPECT_EQ(::recv(stays, &byte, 1, MSG_DONTWAIT), -1) << "nobody has closed it";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &usual), 0);
}

}  // namespace
}  // namespace pop::popdistd
