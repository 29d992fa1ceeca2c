// SPDX-License-Identifier: Apache-2.0
// The leader believes headers of passed-on connections that have its key, each once.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/loop.h"
#include "popdistd/net/client_header.h"

namespace pop::popdistd {

/// From any thread: all doors of a popdistd have one, so that no header opens two connections.
class HeaderCheck {
 public:
  /// A header may arrive as far behind the newest of its passer.
  static constexpr std::size_t kWindow = 1024;

  /// `key`: empty: no popdistd passes connections on to this one, and every header is refused.
  explicit HeaderCheck(std::string key = {}) : key_(std::move(key)) {}

  /// The client. As decodeClientHeader(); kPermissionDenied: its number is used. `from` came with it: the log
  /// names it, once a minute.
  Result<End> clientIn(std::string_view header, const End& from);
  /// For a beginning of a header that did not become one.
  void refused(const End& from, const std::string& why);

 private:
  Result<End> checked(std::string_view header);
  bool isFirstOf(const ClientHeader& header);

  const std::string key_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::set<std::uint64_t>> used_;  ///< by passer: its highest numbers
  std::optional<Clock::time_point> warned_;
};

}  // namespace pop::popdistd
