// SPDX-License-Identifier: Apache-2.0
// The header with which a popdistd that follows begins a connection to the leader: whose connection it passes
// on. It is one of the PROXY protocol, version 2, over TCP6 (IPv4 addresses are mapped), so that all of them
// have one length:
//
//   signature 12, 0x21, 0x21, length 2 | client 16, zeros 16, client's port 2, zeros 2 | 0xE0, length 2, seal
//
// The seal has the passer (8), the number (8), and an HMAC-SHA256 (32) of everything before it by a key that
// the popdistds share. Pure.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/status.h"

namespace pop::popdistd {

/// One end of a TCP connection.
struct End {
  std::string address;  ///< numeric; IPv4 is not mapped
  int port = 0;

  friend auto operator<=>(const End&, const End&) = default;
};

struct ClientHeader {
  End client;
  std::uint64_t passer = 0;  ///< random: whose numbers these are
  std::uint64_t number = 0;  ///< of the passer's connections; each is used once

  friend bool operator==(const ClientHeader&, const ClientHeader&) = default;
};

inline constexpr std::size_t kClientHeaderBytes = 16 + 36 + 3 + 48;

/// Neither TLS nor HTTP begins with it.
inline constexpr char kClientHeaderBegin = '\x0d';

/// An address that is not numeric, or that has a zone, is sent as "::".
std::string encodeClientHeader(const ClientHeader& header, std::string_view key);

/// kDataLoss: it is no such header. kPermissionDenied: it was not made with `key`.
Result<ClientHeader> decodeClientHeader(std::string_view bytes, std::string_view key);

/// The headers of the connections that a popdistd passes on to one leader. One thread at a time.
class HeaderWriter {
 public:
  /// `key`: of the leader. `passer`: a random number that no other writer has.
  HeaderWriter(std::string key, std::uint64_t passer) : key_(std::move(key)), passer_(passer) {}

  /// The bytes of the next connection, whose client is `client`.
  std::string next(const End& client) {
    return encodeClientHeader({.client = client, .passer = passer_, .number = next_number_++}, key_);
  }

 private:
  const std::string key_;
  const std::uint64_t passer_;
  std::uint64_t next_number_ = 0;
};

}  // namespace pop::popdistd
