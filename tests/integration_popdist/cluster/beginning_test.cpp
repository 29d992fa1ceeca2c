// SPDX-License-Identifier: Apache-2.0
// Clusters that do not come together: each process says why, and names who or what is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "common/contract/frame.h"
#include "libpopdist/collectives/messages/transport/tcp/socket_address.h"
#include "tests/integration_popdist/cluster/hand_started.h"

namespace pop::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

HandStarted startOne(const std::vector<std::string>& workers, int index,
                     const std::vector<std::string>& arguments) {
  return {arguments, {{"TF_CONFIG", tfConfigOf(workers, index)}}};
}

void expectError(HandStarted& process, int code, const std::string& text) {
  EXPECT_EQ(process.wait(), code) << process.out();
  EXPECT_THAT(process.out(), HasSubstr(text));
}

TEST(ClusterBeginning, NamesTheWorkerThatIsMissing) {
  const std::vector<std::string> workers = freeAddresses(3);
  HandStarted first = startOne(workers, 0, {"together", "700"});
  HandStarted second = startOne(workers, 1, {"together", "700"});
  const std::string missing = "instance 2 (worker:2 at " + workers[2] + ") has not come in time";
  for (HandStarted* each : {&first, &second}) {
    expectError(*each, kDeadlineExceededCode, missing);
    EXPECT_THAT(each->out(), HasSubstr("peer 2"));
  }
}

TEST(ClusterBeginning, NamesTheLeaderThatIsMissing) {
  const std::vector<std::string> workers = freeAddresses(2);
  HandStarted second = startOne(workers, 1, {"together", "300"});
  expectError(second, kDeadlineExceededCode,
              "instance 0 (worker:0 at " + workers[0] + ") has not come in time: no server listens there");
}

TEST(ClusterBeginning, SecondProcessOfAnIndexFindsItsAddressInUse) {
  const std::vector<std::string> workers = freeAddresses(2);
  std::vector<HandStarted> processes = startAll(workers, {"sum-forever", "20000"});
  for (HandStarted& each : processes) ASSERT_TRUE(each.waitFor("ready")) << each.out();
  for (const int index : {0, 1}) {
    HandStarted again = startOne(workers, index, {"together", "5000"});
    expectError(again, kAlreadyExistsCode,
                "worker:" + std::to_string(index) + " at " + workers[static_cast<std::size_t>(index)] +
                    ") is in use");
  }
}

TEST(ClusterBeginning, AddressOfAnotherHostIsNotTaken) {
  HandStarted first = startOne({"192.0.2.1:3737", "127.0.0.1:3738"}, 0, {"together", "5000"});
  expectError(first, kFailedPreconditionCode, "is not of this host");
}

TEST(ClusterBeginning, NamesTheDifferenceOfTwoLists) {
  const std::vector<std::string> workers = freeAddresses(3);
  HandStarted first = startOne({workers[0], workers[1]}, 0, {"together", "1500"});
  HandStarted second = startOne({workers[0], workers[1], workers[2]}, 1, {"together", "20000"});
  expectError(second, kFailedPreconditionCode, "has 3 instances in its cluster, instance 0 has 2");
  HandStarted third = startOne({workers[0], workers[2]}, 1, {"together", "20000"});
  expectError(third, kFailedPreconditionCode, "instance 1 is 'worker:1 " + workers[2] + "'");
  EXPECT_EQ(first.wait(), kDeadlineExceededCode);
  EXPECT_THAT(first.out(), AllOf(HasSubstr("worker:1"), HasSubstr("one was turned away")));
}

TEST(ClusterBeginning, OptionsMustBeTheSame) {
  const std::vector<std::string> workers = freeAddresses(2);
  HandStarted first = startOne(workers, 0, {"together", "20000", "2"});
  HandStarted second = startOne(workers, 1, {"together", "20000", "1"});
  expectError(second, kFailedPreconditionCode, "'1 replica of 1 IPU'");
}

TEST(ClusterBeginning, AnotherProgramAtTheLeadersPortIsNamed) {
  popdist::transport::SocketAddress address =
      popdist::transport::SocketAddress::parse("127.0.0.1", 0).value();
  const sys::Fd listener = popdist::transport::listenOn(address).value();
  const std::string port = std::to_string(address.port());
  HandStarted second = startOne({"127.0.0.1:" + port, freeAddresses(1)[0]}, 1, {"together", "20000"});
  sys::Fd caller;
  while (!caller.valid()) caller = popdist::transport::acceptNext(listener.get()).value();
  const std::string text = "SSH-2.0-OpenSSH_9.2\r\n";
  ASSERT_EQ(::send(caller.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  expectError(second, kFailedPreconditionCode, "is no instance of a cluster");
}

TEST(ClusterBeginning, StrangersDoNotDisturb) {
  const std::vector<std::string> workers = freeAddresses(2);
  HandStarted first = startOne(workers, 0, {"together", "20000"});
  const int port = std::stoi(workers[0].substr(workers[0].find(':') + 1));
  const auto address = popdist::transport::SocketAddress::parse("127.0.0.1", port).value();
  const std::vector<std::string> words{
      "",
      "GET / HTTP/1.1\r\n\r\n",
      std::string(100, '\xff'),
      contract::encode({1, {"popdist-cluster", "99", "1"}}).value(),
      contract::encode({1, {"popdist-cluster", "1", "1", "me", "o", "x"}}).value(),
      contract::encode({3, {"key", "value"}}).value()};
  std::vector<sys::Fd> unidentified;
  for (const std::string& said : words) {
    sys::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    while (::connect(socket.get(), address.get(), address.length()) != 0)
      socket = sys::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::send(socket.get(), said.data(), said.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(said.size()));
    unidentified.push_back(std::move(socket));
  }
  HandStarted second = startOne(workers, 1, {"together", "20000"});
  EXPECT_EQ(first.wait(), 0) << first.out();
  EXPECT_EQ(second.wait(), 0) << second.out();
}

TEST(ClusterBeginning, MalformedTfConfigEndsTheProgram) {
  HandStarted process({"together", "1000"}, {{"TF_CONFIG", R"({"cluster":{"worker":["a"]}})"}});
  EXPECT_EQ(process.wait(), 3);
  EXPECT_THAT(process.out(), HasSubstr("cluster.worker[0] is 'a'"));
}

}  // namespace
}  // namespace pop::testing
