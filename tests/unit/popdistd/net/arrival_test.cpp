// SPDX-License-Identifier: Apache-2.0
// Beginnings of connections over real sockets: a header is taken off, everything else stays.
#include "popdistd/net/arrival.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "common/sys/unix_socket.h"
#include "popdistd/net/client_header.h"
#include "tests/unit/popdistd/net/samples.h"

namespace pop::popdistd {
namespace {

const End kPeer{"10.0.0.9", 40000};

class ArrivalTest : public ::testing::Test {
 protected:
  ArrivalTest() {
    ::fcntl(mine_.get(), F_SETFL, O_NONBLOCK);
    arrival_.emplace(std::make_shared<HeaderCheck>(kKey), mine_.get(), kPeer);
  }

  void say(std::string_view bytes) const {
    ASSERT_EQ(::send(theirs_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  std::string left() const {
    std::array<char, 4096> bytes{};
    const ssize_t count = ::recv(mine_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  std::string header() { return writer_.next(kClient); }

  std::pair<sys::Fd, sys::Fd> pair_ = std::move(sys::socketPair().value());
  const sys::Fd& mine_ = pair_.first;
  sys::Fd& theirs_ = pair_.second;
  HeaderWriter writer_{kKey, 1};
  std::optional<Arrival> arrival_;
};

TEST_F(ArrivalTest, WithoutAHeaderIsThePeersAndStaysWhole) {
  EXPECT_EQ(arrival_->look().value(), std::nullopt);
  say("\x16\x03\x01 a hello");
  EXPECT_EQ(arrival_->look().value(), kPeer);
  EXPECT_EQ(left(), "\x16\x03\x01 a hello");
}

TEST_F(ArrivalTest, WithAHeaderIsItsClientsAndTheHeaderIsGone) {
  say(header() + "hello");
  EXPECT_EQ(arrival_->look().value(), kClient);
  EXPECT_EQ(left(), "hello");
}

TEST_F(ArrivalTest, TakesAHeaderByteByByte) {
  const std::string bytes = header();
  for (const char byte : bytes) {
    EXPECT_EQ(arrival_->look().value(), std::nullopt);
    say({&byte, 1});
  }
  say("hello");
  EXPECT_EQ(arrival_->look().value(), kClient);
  EXPECT_EQ(left(), "hello");
}

TEST_F(ArrivalTest, OfAForgedHeaderIsAnError) {
  std::string bytes = header();
  bytes[20] = static_cast<char>(bytes[20] ^ 1);
  say(bytes + "hello");
  EXPECT_EQ(arrival_->look().code(), Code::kPermissionDenied);
}

TEST_F(ArrivalTest, OfTheProxyProtocolOfOthersIsAnError) {
  say("\r\n\r\n" + std::string(1, '\0') + "\r\nQUIT\n\x21\x11" + std::string("\x00\x0c", 2) +
      std::string(2000, 'x'));
  EXPECT_EQ(arrival_->look().code(), Code::kDataLoss);
}

TEST_F(ArrivalTest, ThatIsCutShortIsAnErrorAndNamed) {
  say(header().substr(0, 50));
  EXPECT_EQ(arrival_->look().value(), std::nullopt);
  theirs_.reset();
  EXPECT_EQ(arrival_->look().code(), Code::kUnavailable);
  ::testing::internal::CaptureStderr();
  arrival_.reset();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("it is cut short"), std::string::npos);
}

TEST_F(ArrivalTest, ThatEndsWithoutAByteIsAnError) {
  theirs_.reset();
  EXPECT_EQ(arrival_->look().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace pop::popdistd
