// SPDX-License-Identifier: Apache-2.0
// Clients of a real popdistd that follows: to the leader they are who they are, and not the follower.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>

#include "popdistd/net/client_header.h"
#include "tests/integration/daemon/leaders_fixture.h"

namespace pop::testing {
namespace {

using popdistd::HeaderWriter;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::size_t kLeader = 0;
constexpr std::size_t kFollower = 1;

class BehindAFollower : public SeveralDaemons {
 protected:
  void SetUp() override {
    startMember(kLeader);
    startMember(kFollower);
  }

  /// The answer to the request at the port, and its status.
  std::string curl(const std::string& from, int port, const std::string& words) const {
    const std::string command = "curl --silent -4 --interface " + from + " --max-time 20 --cacert " +
                                path("tls/ca.pem") + " --write-out ' %{http_code}' " + words +
                                " 2>&1 https://localhost:" + std::to_string(port);
    return outputOf(command);
  }
  std::string httpStatusOfAWrongToken(const std::string& from, std::size_t member) const {
    return curl(from, http_ports_[member],
                "--output /dev/null --header 'Authorization: Bearer x' --request-target /v1/jobs");
  }
  std::string asAlice() const {
    return " --cert " + path("tls/user-alice.pem") + " --key " + path("tls/user-alice-key.pem");
  }

  /// Submits as alice, by gRPC and the follower.
  void submitFrom(const std::string& address) const {
    std::string message = shell("true").SerializeAsString();
    ASSERT_LT(message.size(), 256u);
    message.insert(0, {'\0', '\0', '\0', '\0', static_cast<char>(message.size())});  // gRPC's frame
    std::ofstream(path("submit")) << message;
    curl(address, ports_[kFollower],
         asAlice() +
             " --http2 --output /dev/null --header 'Content-Type: application/grpc' --header 'TE: trailers'" +
             " --data-binary @" + path("submit") + " --request-target /popdist.v1.Controller/Submit");
  }

  static std::string outputOf(const std::string& command) {
    std::string output;
    FILE* const pipe = ::popen(command.c_str(), "r");
    std::array<char, 4096> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), pipe))
      output.append(bytes.data(), count);
    ::pclose(pipe);
    return output;
  }

  /// The caller's address, by the leader's audit log.
  std::string callerOf(const std::string& method) const {
    const std::string log = fileText(path("state0/audit.jsonl"));
    const std::size_t at = log.find("\"method\":\"" + method + '"');
    if (at == std::string::npos) return "nobody: " + log;
    const std::string key = "\"from\":\"";
    const std::size_t from = log.rfind(key, at) + key.size();
    return log.substr(from, log.find(' ', from) - from);
  }

  static sys::Fd connectTo(int port, const char* from) {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in end{};
    end.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &end.sin_addr);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&end), sizeof end), 0);
    end.sin_port = htons(static_cast<std::uint16_t>(port));
    end.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&end), sizeof end), 0);
    return socket;
  }
};

TEST_F(BehindAFollower, TheAuditLogNamesTheClientAndNotTheFollower) {
  submitFrom("127.0.0.2");
  EXPECT_EQ(callerOf("Submit"), "127.0.0.2");
  EXPECT_THAT(curl("127.0.0.3", http_ports_[kFollower],
                   asAlice() + " --header 'Content-Type: application/json' --data '{\"job\":{\"id\":1}}'" +
                       " --request-target /v1/Cancel"),
              EndsWith(" 200"));
  EXPECT_EQ(callerOf("Cancel"), "127.0.0.3");
}

TEST_F(BehindAFollower, WrongTokensOfOneClientSlowDownNoOther) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.2", kFollower), " 401");
  EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.2", kFollower), " 429");
  EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.2", kLeader), " 429") << "by whatever way it comes";
  EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.3", kFollower), " 401");
  EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.1", kFollower), " 401") << "the follower's own address";
}

TEST_F(BehindAFollower, NobodyChoosesAnAddressByAHeaderOfItsOwn) {
  HeaderWriter writer("a guess", 1);
  for (const int port : {ports_[kLeader], http_ports_[kLeader], ports_[kFollower], http_ports_[kFollower]}) {
    const sys::Fd socket = connectTo(port, "127.0.0.2");
    EXPECT_TRUE(sys::writeAll(socket.get(), writer.next({"10.1.2.3", 5000}) + "GET / HTTP/1.1\r\n\r\n").ok());
    char byte = 0;
    ssize_t count = 1;
    while (count > 0) count = ::recv(socket.get(), &byte, 1, 0);
    EXPECT_TRUE(count == 0 || errno == ECONNRESET) << port << ": it is closed, whatever TLS says before";
  }
  EXPECT_THAT(logOf(name(kLeader)), HasSubstr("begins with a PROXY header is closed"));
  EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.2", kFollower), " 401");
}

// An address has a share of 256 at the leader.
TEST_F(BehindAFollower, WhoSaysNothingFromAFollowersMachineLocksNoClientOut) {
  std::vector<sys::Fd> crowd;
  while (crowd.size() < 260) crowd.push_back(connectTo(ports_[kLeader], "127.0.0.1"));
  submitFrom("127.0.0.2");
  EXPECT_EQ(callerOf("Submit"), "127.0.0.2");
}

// One address opens as many connections as it may have, and one more.
TEST_F(BehindAFollower, OneAddressDoesNotTakeAllOfAFollowersConnections) {
  rlimit descriptors{};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &descriptors);
  std::vector<sys::Fd> crowd;
  std::vector<pollfd> ends;
  for (rlim_t i = std::min<rlim_t>(1025, descriptors.rlim_max - 200); i > 0; --i) {
    crowd.push_back(connectTo(http_ports_[kFollower], "127.0.0.2"));
    ends.push_back({crowd.back().get(), POLLRDHUP, 0});
  }
  EXPECT_GT(::poll(ends.data(), ends.size(), 5000), 0) << "those that are too many are closed";
  EXPECT_EQ(httpStatusOfAWrongToken("127.0.0.3", kFollower), " 401");
  EXPECT_THAT(logOf(name(kFollower)), HasSubstr("from 127.0.0.2"));
}

}  // namespace
}  // namespace pop::testing
