// SPDX-License-Identifier: Apache-2.0
#include "popdistd/net/header_check.h"

#include <chrono>

#include "common/log/log.h"

namespace pop::popdistd {
namespace {

constexpr std::chrono::minutes kBetweenWarnings{1};

}  // namespace

Result<End> HeaderCheck::clientIn(std::string_view header, const End& from) {
  Result<End> client = checked(header);
  if (!client.ok()) refused(from, client.status().message());
  return client;
}

Result<End> HeaderCheck::checked(std::string_view header) {
  if (key_.empty())
    return Status(Code::kPermissionDenied, "no other popdistd passes connections on to this one");
  POP_ASSIGN_OR_RETURN(const ClientHeader sealed, decodeClientHeader(header, key_));
  if (!isFirstOf(sealed)) return Status(Code::kPermissionDenied, "it comes too late, or is used");
  return sealed.client;
}

bool HeaderCheck::isFirstOf(const ClientHeader& header) {
  const std::scoped_lock lock(mutex_);
  std::set<std::uint64_t>& used = used_[header.passer];
  if (used.size() == kWindow && header.number < *used.begin()) return false;
  if (!used.insert(header.number).second) return false;
  if (used.size() > kWindow) used.erase(used.begin());
  return true;
}

void HeaderCheck::refused(const End& from, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  const Clock::time_point now = Clock::now();
  if (warned_ && now - *warned_ < kBetweenWarnings) return;
  warned_ = now;
  log::warning("a connection from " + from.address + " that begins with a PROXY header is closed: " + why +
               " (further ones of this minute are not named)");
}

}  // namespace pop::popdistd
