// SPDX-License-Identifier: Apache-2.0
// A reached host's stream: the bytes that it carries, its end, and no leftovers.
#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <latch>
#include <thread>

#include "common/base/random.h"
#include "tests/integration/ssh/bootstrap_fixture.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::size_t entriesOf(const std::string& directory) {
  const auto begin = std::filesystem::directory_iterator(directory);
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator()));
}

std::string someBytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::uint64_t state = 88172645463325252ULL;
  for (char& each : bytes) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    each = static_cast<char>(state);
  }
  return bytes;
}

void sendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && (errno != EAGAIN || !waitFor(fd, POLLOUT))) return;
  }
}

class Streams : public ::testing::Test {
 protected:
  Streams() : hosts(2) {
    for (int host = 0; host < 2; ++host) writeEchoAgent(hosts.bin(host) + "/popdist-agent");
  }
  bool nothingRunsOn(int host) {
    return waitUntil([&] { return hosts.processesOn(host).empty(); }, Milliseconds(10000));
  }
  TestHosts hosts;
};

TEST_F(Streams, CarryMuchBothWaysUnchanged) {
  Bootstrap bootstrap(hosts, {"h0", "h1"});
  bootstrap.waitForAll();
  ASSERT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
  const int first = bootstrap.reached.at(0).stream.get(), second = bootstrap.reached.at(1).stream.get();
  const std::string much = someBytes(64 << 20), some = someBytes(1 << 20);
  std::thread writer([&] { sendAll(first, much); });
  std::thread other([&] { sendAll(second, some); });
  EXPECT_TRUE(readBytes(second, some.size()) == some);
  EXPECT_TRUE(readBytes(first, much.size()) == much);
  writer.join();
  other.join();
}

TEST_F(Streams, AReaderThatDoesNotReadHoldsUpItsWriterOnly) {
  Bootstrap bootstrap(hosts, {"h0", "h1"});
  bootstrap.waitForAll();
  ASSERT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
  const int full = bootstrap.reached.at(0).stream.get(), other = bootstrap.reached.at(1).stream.get();
  // Fills the stream until nothing more goes in for a while: the bytes on their way are bounded, and far
  // below this.
  const std::string chunk(64 << 10, 'x');
  std::size_t sent_bytes = 0;
  pollfd room{full, POLLOUT, 0};
  while (sent_bytes < (64U << 20) && ::poll(&room, 1, 500) > 0) {
    const ssize_t sent = ::send(full, chunk.data(), chunk.size(), MSG_NOSIGNAL);
    if (sent > 0) sent_bytes += static_cast<std::size_t>(sent);
  }
  EXPECT_LT(sent_bytes, 32U << 20);
  EXPECT_EQ(echo(other, "still here"), "still here");
  EXPECT_EQ(readBytes(full, sent_bytes).size(), sent_bytes);
}

TEST_F(Streams, WhatWasWrittenBeforeTheEndArrives) {
  writeScript(hosts.bin(0) + "/popdist-agent",
              "[ \"$1\" = --version ] && { echo popdist-agent 0.1.0; exit 0; }\nexec cat >/tmp/got");
  Bootstrap bootstrap(hosts, {"h0"});
  bootstrap.waitForAll();
  ASSERT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  const std::string bytes = someBytes(5 << 20);
  sendAll(bootstrap.reached.at(0).stream.get(), bytes);
  bootstrap.reached.clear();
  const std::string got = hosts.tmp(0) + "/got";
  std::error_code not_there_yet;
  EXPECT_TRUE(waitUntil([&] { return std::filesystem::file_size(got, not_there_yet) == bytes.size(); },
                        Milliseconds(10000)));
  EXPECT_TRUE(nothingRunsOn(0));
}

TEST_F(Streams, ClosingOneEndsItsAgentAndNoOther) {
  Bootstrap bootstrap(hosts, {"h0", "h1"});
  bootstrap.waitForAll();
  ASSERT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
  bootstrap.reached.erase(0);
  EXPECT_TRUE(nothingRunsOn(0));
  EXPECT_EQ(echo(bootstrap.reached.at(1).stream.get(), "alive"), "alive");
}

TEST_F(Streams, AnAgentThatEndsEndsItsStreamAfterItsLastWord) {
  writeScript(hosts.bin(0) + "/popdist-agent",
              "[ \"$1\" = --version ] && { echo popdist-agent 0.1.0; exit 0; }\n"
              "head -c 3000000 /dev/zero; echo last; echo bye >&2; exit 7");
  Bootstrap bootstrap(hosts, {"h0"});
  bootstrap.waitForAll();
  ASSERT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
  const int stream = bootstrap.reached.at(0).stream.get();
  EXPECT_TRUE(readBytes(stream, 3000005).ends_with("last\n"));
  EXPECT_TRUE(endsSoon(stream));
  bootstrap.runUntilTrue([&] { return !bootstrap.said[0].empty(); });
  EXPECT_EQ(bootstrap.said[0].front(), "bye");
}

TEST_F(Streams, AResetConnectionEndsTheStream) {
  Bootstrap bootstrap(hosts, {"h0", "h1"});
  bootstrap.waitForAll();
  ASSERT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
  hosts.resetConnections(0);
  EXPECT_TRUE(endsSoon(bootstrap.reached.at(0).stream.get()));
  EXPECT_TRUE(nothingRunsOn(0));
  EXPECT_EQ(echo(bootstrap.reached.at(1).stream.get(), "alive"), "alive");
  Bootstrap again(hosts, {"h0"});
  again.waitForAll();
  EXPECT_TRUE(again.reached.contains(0)) << again.problems();
}

// That a connection is over may show where something is sent first.
TEST_F(Streams, AConnectionThatIsLostWhileMuchIsSentIsNoEndOfItsAgent) {
  writeScript(hosts.bin(0) + "/popdist-agent",
              "[ \"$1\" = --version ] && { echo popdist-agent 0.1.0; exit 0; }\nexec cat >/dev/null");
  const std::string much(64 << 20, 'x');
  for (int turn = 0; turn < 8; ++turn) {
    Bootstrap bootstrap(hosts, {"h0"});
    bootstrap.waitForAll();
    ASSERT_TRUE(bootstrap.reached.contains(0)) << bootstrap.problems();
    const int stream = bootstrap.reached.at(0).stream.get();
    std::latch sending(1);
    std::jthread writer([&] {
      sendAll(stream, std::string_view(much).substr(0, 1 << 20));
      sending.count_down();
      sendAll(stream, much);
    });
    sending.wait();
    hosts.killSessions(0);
    bootstrap.runUntilTrue([&] { return bootstrap.ended.contains(0); });
    EXPECT_EQ(bootstrap.ended[0], kConnectionLost);
    ::shutdown(stream, SHUT_RDWR);  // the writer's, should nothing else end it
  }
}

TEST_F(Streams, NothingIsLeftOfABootstrapperThatEnds) {
  const std::size_t threads = entriesOf("/proc/self/task"), descriptors = entriesOf("/proc/self/fd");
  {
    Bootstrap bootstrap(hosts, {"h0", "h1"});
    bootstrap.waitForAll();
    ASSERT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
    bootstrap.end();
    EXPECT_TRUE(endsSoon(bootstrap.reached.at(0).stream.get()));
  }
  EXPECT_TRUE(waitUntil([&] { return entriesOf("/proc/self/task") == threads; }, Milliseconds(20000)))
      << "a thread that was joined may still be listed";
  EXPECT_EQ(entriesOf("/proc/self/fd"), descriptors);
  EXPECT_TRUE(nothingRunsOn(0) && nothingRunsOn(1));
}

TEST_F(Streams, ABootstrapperThatEndsInTheMiddleDoesNotWait) {
  hosts.run(1, "kill -STOP $(pgrep -o sshd)");
  const SshOptions by_program{.rsh = {"ssh", "-F", hosts.sshConfig()}};
  for (const SshOptions& options : {SshOptions(), by_program}) {
    auto begin = std::chrono::steady_clock::time_point::max();
    {
      Bootstrap bootstrap(hosts, {"h0", "h1", hosts.unusedAddress()}, options);
      bootstrap.runUntilTrue([&] { return bootstrap.reached.contains(0); });
      begin = std::chrono::steady_clock::now();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
    EXPECT_TRUE(nothingRunsOn(0));
    EXPECT_THAT(ownChildren().size(), 3U);  // the helpers of the hosts and their switch
  }
}

TEST_F(Streams, OfTheSshProgramEndAsWell) {
  Bootstrap bootstrap(hosts, {"h0", "h1"}, {.rsh = {"ssh"}});
  bootstrap.waitForAll();
  ASSERT_EQ(bootstrap.reached.size(), 2U) << bootstrap.problems();
  hosts.killSessions(0);
  EXPECT_TRUE(endsSoon(bootstrap.reached.at(0).stream.get()));
  bootstrap.reached.erase(1);
  EXPECT_TRUE(nothingRunsOn(1));
}

}  // namespace
}  // namespace pop::testing
