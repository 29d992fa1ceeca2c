// SPDX-License-Identifier: Apache-2.0
// popdist-join itself, with the test as its agent service.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/os/helper_program.h"
#include "common/sys/fd.h"
#include "common/sys/unix_socket.h"
#include "common/wire/message_stream.h"
#include "proto/popdist/v1/relay.pb.h"
#include "tests/testing/run_until.h"

namespace pop::testing {
namespace {

namespace v1 = ::popdist::v1;
using ::testing::HasSubstr;

class RelayTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::seconds kSoon{20};

  RelayTest() {
    std::pair<sys::Fd, sys::Fd> sockets = sys::socketPair().value();
    program_ = os::HelperProgram::start({POP_BIN_DIR "/popdist-join"},
                                        {sockets.second.get(), sockets.second.get(), STDERR_FILENO})
                   .value();
    EXPECT_TRUE(sys::setNonBlocking(sockets.first.get()).ok());
    stream_ = std::make_unique<wire::MessageStream>(
        loop_, std::move(sockets.first), sys::Fd(),
        wire::MessageStream::Events{.message = [this](const std::string& message) { take(message); },
                                    .ended = [](const Status&) {}});
  }

  void connect(const std::string& controller) const {
    v1::RelayMessage message;
    message.mutable_connect()->set_controller(controller);
    stream_->send(message);
  }

  void take(const std::string& message) {
    v1::RelayMessage said;
    ASSERT_TRUE(said.ParseFromString(message));
    ASSERT_TRUE(said.has_closed());
    closed_.push_back(said.closed());
  }

  os::EpollLoop loop_;
  os::HelperProgram program_;
  std::unique_ptr<wire::MessageStream> stream_;
  std::vector<std::string> closed_;
};

TEST_F(RelayTest, SaysWhyAStreamIsOverAndTriesAgainWhenItIsTold) {
  connect("127.0.0.1:1");
  runUntil(loop_, [this] { return closed_.size() == 1; });
  ASSERT_EQ(closed_.size(), 1U);
  EXPECT_THAT(closed_[0], HasSubstr("connection refused: does popdistd run there"));
  v1::RelayMessage late;
  late.set_report("of the stream that is over");
  stream_->send(late);
  connect("127.0.0.1:1");
  runUntil(loop_, [this] { return closed_.size() == 2; });
  EXPECT_EQ(closed_.size(), 2U);
}

TEST_F(RelayTest, EndsWhereItIsToldWhatItDoesNotKnow) {
  stream_->send(std::string("\xff\xff"));
  EXPECT_TRUE(program_.endsWithin(kSoon));
}

TEST_F(RelayTest, EndsWhereItIsToldWhatItSaysItself) {
  v1::RelayMessage order;
  order.set_order("an order");
  stream_->send(order);
  EXPECT_TRUE(program_.endsWithin(kSoon));
}

}  // namespace
}  // namespace pop::testing
