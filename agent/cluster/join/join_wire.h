// SPDX-License-Identifier: Apache-2.0
// What the agent service and popdist-join, its child, say to each other: messages of a MessageStream, the
// first byte of which says what follows.
//
//   service → popdist-join   kConnect, to where and as whom; kReport: a HostReport, encoded
//   popdist-join → service   kOrder: a HostOrder, encoded; kClosed: the stream is over, and why
//
// After kClosed the service says kConnect when it wants to try again. Reports that it has said before that
// are for the stream that is over, and are dropped.
#pragma once

#include <string>
#include <string_view>

#include "common/base/status.h"

namespace pop::joining {

enum class Kind : char {
  kConnect = 'c',
  kReport = 'r',
  kOrder = 'o',
  kClosed = 'x',
};

/// To where, and as whom.
struct Connect {
  std::string controller;  ///< "h0:8090", "[::1]:8090"
  // In PEM form. Empty: without TLS.
  std::string authority;
  std::string certificate;
  std::string key;

  friend bool operator==(const Connect&, const Connect&) = default;
};

std::string message(Kind kind, std::string_view body);

/// kDataLoss: not a message.
Result<Kind> kindOf(std::string_view message);
inline std::string_view bodyOf(std::string_view message) {
  return message.substr(1);
}

std::string encode(const Connect& connect);
/// Of a message's body. kDataLoss: malformed.
Result<Connect> decodeConnect(std::string_view body);

}  // namespace pop::joining
