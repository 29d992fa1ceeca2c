// SPDX-License-Identifier: Apache-2.0
// A runner's socket carries out its clients' orders, and closes those that say something else.
#include "runner/control/control_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "runner/control/control_client.h"
#include "runner/control/runner_socket.h"
#include "tests/testing/run_until.h"
#include "tests/testing/temp_dir.h"

namespace pop::runner {
namespace {

namespace v1 = ::popdist::v1;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::runIdle;
using testing::runUntil;

v1::RunnerOrder signalOrder(int signal) {
  v1::RunnerOrder order;
  order.set_signal(signal);
  return order;
}

class ControlServerTest : public ::testing::Test {
 protected:
  struct Client {
    std::unique_ptr<wire::MessageStream> stream;
    int done = 0;
    int more = 0;
    bool gone = false;
  };

  std::unique_ptr<Client> client() {
    auto made = std::make_unique<Client>();
    Client* const raw = made.get();
    made->stream = speakWithRunner(loop_, connectToRunner(directory_.path()).value(),
                                   {.more = [raw] { ++raw->more; },
                                    .done = [raw] { ++raw->done; },
                                    .gone = [raw] { raw->gone = true; }});
    return made;
  }

  void expectGoneAfter(const std::string& message) {
    const auto teller = client();
    teller->stream->send(message);
    runUntil(loop_, [&] { return teller->gone; });
    EXPECT_EQ(teller->done, 0);
  }

  testing::TempDir directory_;
  os::EpollLoop loop_;
  std::vector<int> stops_;
  std::vector<int> signals_;
  ControlServer server_{loop_,
                        listenForClients(directory_.path()).value(),
                        {.stop = [this](int signal) { stops_.push_back(signal); },
                         .signal = [this](int signal) { signals_.push_back(signal); },
                         .service_stops = nullptr},
                        [] {}};
};

TEST_F(ControlServerTest, PassesOnAndSaysSo) {
  const auto one = client(), other = client();
  one->stream->send(stopOrder(SIGINT));
  one->stream->send(stopOrder(SIGTERM));
  one->stream->send(signalOrder(SIGUSR1));
  runUntil(loop_, [&] { return one->done == 3; });
  EXPECT_THAT(stops_, ElementsAre(SIGINT, SIGTERM));
  EXPECT_THAT(signals_, ElementsAre(SIGUSR1));
  EXPECT_EQ(other->done, 0);
}

// Answers that wait for the end of the turn are no reason to leave the word out.
TEST_F(ControlServerTest, TellsOfRecordsAlsoWhoWaitsForAnswers) {
  const auto asks = client(), looks = client();
  asks->stream->send(stopOrder(SIGINT));
  asks->stream->send(stopOrder(SIGINT));
  runUntil(loop_, [&] { return stops_.size() == 2; });
  server_.appended();
  server_.appended();
  runUntil(loop_, [&] { return asks->done == 2 && asks->more == 2 && looks->more == 2; });
}

// It had read all records, and then one came before it was accepted.
TEST_F(ControlServerTest, TellsOfRecordsThatCameBeforeAClientWasAccepted) {
  const auto early = client();
  server_.appended();
  runUntil(loop_, [&] { return early->more > 0; });
  const auto late = client();
  runUntil(loop_, [&] { return late->more == 1; });
}

TEST_F(ControlServerTest, ClosesTheConnectionOfWhoSaysSomethingElse) {
  v1::RunnerOrder credit;
  credit.mutable_credit()->set_bytes(1);
  for (const std::string& message :
       {std::string("\xff\xff"), std::string(), std::string(1000, 'x'), credit.SerializeAsString(),
        signalOrder(0).SerializeAsString(), signalOrder(-1).SerializeAsString(),
        signalOrder(NSIG).SerializeAsString(), stopOrder(NSIG).SerializeAsString()})
    expectGoneAfter(message);
  EXPECT_THAT(stops_, IsEmpty());
  EXPECT_THAT(signals_, IsEmpty());
}

TEST_F(ControlServerTest, ClosesTheOldestConnectionForTheSixtyFifth) {
  std::vector<std::unique_ptr<Client>> all;
  for (int i = 0; i < 65; ++i) all.push_back(client());
  runUntil(loop_, [&] { return all.front()->gone; });
  runIdle(loop_);
  EXPECT_FALSE(all[1]->gone);
  all.back()->stream->send(stopOrder(SIGTERM));
  runUntil(loop_, [&] { return all.back()->done == 1; });
}

}  // namespace
}  // namespace pop::runner
