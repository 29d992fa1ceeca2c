// SPDX-License-Identifier: Apache-2.0
// Which connection goes where there are too many. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pop::popdistd::web {

/// An open connection.
struct Standing {
  std::uint64_t number = 0;  ///< the larger, the newer
  std::string address;
  std::optional<std::string> user;  ///< who has asked by it last; missing: nobody who is known
  bool is_busy = false;             ///< with a request or a stream
};

/// The number of the one that goes: nobody's before those of users; there, from the address that has most,
/// else from the user who has most; an idle one before a busy one, and the oldest of these. Nothing: there is
/// none.
std::optional<std::uint64_t> goesFirst(std::span<const Standing> connections);

}  // namespace pop::popdistd::web
