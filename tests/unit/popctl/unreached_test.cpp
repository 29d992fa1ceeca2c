// SPDX-License-Identifier: Apache-2.0
// The words of popctl when popdistd cannot be reached: for what gRPC 1.51 says of servers that are something
// else, of certificates that are not right, and of networks.
#include "popctl/rpc/unreached.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/golden.h"

namespace pop::popctl {
namespace {

constexpr const char* kAll = "failed to connect to all addresses; last error: ";

TEST(Unreached, NamesTheCauseAndTheOptionNotWhatGrpcSays) {
  std::string messages;
  for (const char* const with_tls :
       {"UNKNOWN: ipv4:127.0.0.1:1: Peer name h0 is not in peer certificate",
        "UNKNOWN: ipv4:127.0.0.1:1: Ssl handshake failed: SSL_ERROR_SSL: error:0A000086:SSL "
        "routines::certificate verify failed",
        "UNKNOWN: ipv4:127.0.0.1:1: Ssl handshake failed: SSL_ERROR_SSL: error:0A00010B:SSL "
        "routines::wrong version number",
        "UNKNOWN: ipv4:127.0.0.1:1: Cannot check peer: missing selected ALPN property.",
        "UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed"})
    messages +=
        unreachedText({.address = "h0:8090", .tls = tls::TlsFiles()}, std::string(kAll) + with_tls) + '\n';
  for (const char* const without_tls :
       {"UNAVAILABLE: ipv4:127.0.0.1:1: Socket closed",
        "UNAVAILABLE: ipv4:127.0.0.1:1: Failed parsing HTTP/2",
        "INTERNAL: ipv4:127.0.0.1:1: Trying to connect an http1.x server",
        "UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: Connection refused",
        "UNKNOWN: ipv4:127.0.0.1:1: Failed to connect to remote host: No route to host"})
    messages += unreachedText({.address = "h0:8090"}, std::string(kAll) + without_tls) + '\n';
  messages +=
      unreachedText({.address = "h0:8090"},
                    "DNS resolution failed for h0:8090: C-ares status is not ARES_SUCCESS qtype=AAAA") +
      '\n';
  EXPECT_EQ(messages, testing::golden("errors/unreached.txt"));
  for (const char* const internal : {"all addresses", "Socket closed", "C-ares", "SSL_ERROR"})
    EXPECT_THAT(messages, ::testing::Not(::testing::HasSubstr(internal)));
  EXPECT_THAT(unreachedText({.address = "h0:8090"}, "something new"), ::testing::EndsWith(": something new"));
}

}  // namespace
}  // namespace pop::popctl
