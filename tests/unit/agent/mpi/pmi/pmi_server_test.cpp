// SPDX-License-Identifier: Apache-2.0
#include "agent/mpi/pmi/pmi_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "common/log/log.h"
#include "common/sys/unix_socket.h"
#include "tests/testing/run_until.h"

namespace pop::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

/// An instance's end.
class PmiClient {
 public:
  PmiClient(os::EpollLoop& loop, sys::Fd socket) : loop_(loop), socket_(std::move(socket)) {}

  void say(const std::string& line) { EXPECT_TRUE(sys::sendAll(socket_.get(), line + '\n').ok()); }

  /// Sends as many of `bytes` as there is room for now; returns their number.
  std::size_t offer(std::string_view bytes) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent);
  }

  /// The next line; "closed" when there is none.
  std::string hear() {
    std::size_t end = 0;
    testing::runUntil(loop_, [&] {
      take();
      return (end = heard_.find('\n')) != std::string::npos || closed_;
    });
    if (end == std::string::npos) return "closed";
    const std::string line = heard_.substr(0, end);
    heard_.erase(0, end + 1);
    return line;
  }
  std::string ask(const std::string& line) {
    say(line);
    return hear();
  }
  bool hasHeardNothing() {
    testing::runIdle(loop_);
    take();
    return heard_.empty() && !closed_;
  }

 private:
  void take() {
    Result<sys::Received> received = sys::receiveSome(socket_.get());
    closed_ = !received.ok() || (received->bytes.empty() && !received->would_block);
    if (received.ok()) heard_ += received->bytes;
  }

  os::EpollLoop& loop_;
  sys::Fd socket_;
  std::string heard_;
  bool closed_ = false;
};

class PmiServerTest : public ::testing::Test {
 protected:
  PmiServerTest() {
    log::setSink([this](std::string_view line) { warnings.emplace_back(line); });
    open();
  }
  ~PmiServerTest() override { log::setSink(nullptr); }

  /// A job of three instances, of which this host has two.
  void open() {
    JobSlice slice;
    slice.job_id = "job-7";
    slice.num_instances = 3;
    slice.env_families = {contract::EnvFamily::kPmi};
    slice.hosts = std::make_shared<const std::vector<HostInstances>>(
        std::vector<HostInstances>{{.host = "here", .first = 0, .count = 2}, {"there", 2, 1}});
    for (const int instance : {0, 1}) {
      InstanceOrder order;
      order.env.instance_index = instance;
      slice.instances.push_back(order);
    }
    server.open(slice);
    clients.clear();
    for (const int instance : {0, 1})
      clients.push_back(std::make_unique<PmiClient>(loop, server.connect(instance).value()));
  }

  os::EpollLoop loop;
  std::vector<std::string> warnings;
  std::vector<PutValues> fences;
  std::vector<std::pair<int, std::string>> aborts;
  PmiServer server{
      loop,
      {.fence_reached = [this](PutValues values) { fences.push_back(std::move(values)); },
       .aborted = [this](int /*instance*/, int exit_code,
                         const std::string& message) { aborts.emplace_back(exit_code, message); }}};
  std::vector<std::unique_ptr<PmiClient>> clients;
};

TEST_F(PmiServerTest, CarriesValuesThroughABarrierOfAllHosts) {
  EXPECT_EQ(clients[0]->ask("cmd=get kvsname=job-7 key=PMI_process_mapping"),
            "cmd=get_result rc=0 msg=success value=(vector,(0,1,2),(1,1,1))");
  clients[0]->ask("cmd=put kvsname=job-7 key=card value=7");
  clients[0]->say("cmd=barrier_in");
  EXPECT_TRUE(clients[0]->hasHeardNothing());
  EXPECT_THAT(fences, IsEmpty());
  clients[1]->say("cmd=barrier_in");
  testing::runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_THAT(fences, ElementsAre(ElementsAre(Pair("card", "7"))));
  EXPECT_TRUE(clients[1]->hasHeardNothing()) << "another host has instances, too";
  server.release({{"card", "7"}, {"other", "8"}});
  for (const auto& client : clients) {
    EXPECT_EQ(client->hear(), "cmd=barrier_out");
    EXPECT_EQ(client->ask("cmd=get kvsname=job-7 key=other"), "cmd=get_result rc=0 msg=success value=8");
  }
}

TEST_F(PmiServerTest, TakesLinesInPiecesAndInHeaps) {
  EXPECT_EQ(clients[0]->offer("cmd=get_app"), 11U);
  EXPECT_TRUE(clients[0]->hasHeardNothing());
  clients[0]->say("num\ncmd=finalize");
  EXPECT_EQ(clients[0]->hear(), "cmd=appnum appnum=0");
  EXPECT_EQ(clients[0]->hear(), "cmd=finalize_ack rc=0");
}

TEST_F(PmiServerTest, ClosesTheConnectionOfWhoSendsGarbage) {
  EXPECT_EQ(clients[0]->ask("GET / HTTP/1.1\nHost: here"), "closed");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("instance 0 sent 'GET / HTTP/1.1', which is not PMI-1")));
  EXPECT_EQ(clients[1]->ask("cmd=get_appnum"), "cmd=appnum appnum=0");
}

TEST_F(PmiServerTest, ClosesTheConnectionOfWhoSendsALineWithoutAnEnd) {
  EXPECT_EQ(clients[0]->offer(std::string(5000, 'x')), 5000U);
  EXPECT_EQ(clients[0]->hear(), "closed");
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("too long")));
}

TEST_F(PmiServerTest, TakesNoMoreFromWhoDoesNotReadTheAnswers) {
  const std::string question = "cmd=get_maxes\n";
  constexpr int kTooMany = 100'000;
  int asked = 0;
  for (int turned_away = 0; asked < kTooMany && turned_away < 3;) {
    if (clients[0]->offer(question) == question.size()) {
      ++asked;
      turned_away = 0;
    } else {
      ++turned_away;
      testing::runIdle(loop);
    }
  }
  EXPECT_LT(asked, kTooMany);
  EXPECT_EQ(clients[1]->ask("cmd=get_appnum"), "cmd=appnum appnum=0") << "the others are served";
  // A question of which only a part had room would be the end of the rest.
  for (int each = 0; each < asked; ++each)
    ASSERT_EQ(clients[0]->hear(), "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024") << each;
}

TEST_F(PmiServerTest, ForgetsWhoIsGone) {
  clients[0]->ask("cmd=put kvsname=job-7 key=card value=7");
  clients[0]->say("cmd=barrier_in");
  clients[0].reset();
  testing::runIdle(loop);
  clients[1]->say("cmd=barrier_in");
  EXPECT_TRUE(clients[1]->hasHeardNothing());
  EXPECT_THAT(fences, IsEmpty());
}

TEST_F(PmiServerTest, TellsOfMpiAbort) {
  clients[1]->say("cmd=abort exitcode=7");
  testing::runUntil(loop, [this] { return !aborts.empty(); });
  EXPECT_THAT(aborts, ElementsAre(Pair(7, "called MPI_Abort(7)")));
}

TEST_F(PmiServerTest, EndsTheJobWhenSomebodyWaitsForAnInstanceThatHasEnded) {
  clients[0]->say("cmd=barrier_in");
  testing::runIdle(loop);
  server.announce({.instance = 2, .clean = true, .text = ""});
  EXPECT_THAT(aborts, ElementsAre(Pair(1, HasSubstr("waits in MPI_Init or MPI_Finalize for "
                                                    "instance 2, which has ended"))));
}

TEST_F(PmiServerTest, KnowsNothingOfAnEarlierRun) {
  clients[0]->say("cmd=barrier_in");
  testing::runIdle(loop);
  server.announce({.instance = 1, .clean = true, .text = ""});
  EXPECT_THAT(aborts, SizeIs(1));
  const std::unique_ptr<PmiClient> old = std::move(clients[0]);
  open();
  EXPECT_EQ(old->hear(), "closed");
  for (const auto& client : clients) client->say("cmd=barrier_in");
  testing::runUntil(loop, [this] { return !fences.empty(); });
  EXPECT_THAT(aborts, SizeIs(1));
}

TEST_F(PmiServerTest, ServesNobodyWithoutItsVariables) {
  server.open(JobSlice{});
  EXPECT_FALSE(server.connect(0).value().valid());
}

}  // namespace
}  // namespace pop::agent
