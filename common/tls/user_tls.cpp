// SPDX-License-Identifier: Apache-2.0
#include "common/tls/user_tls.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/sys/account_name.h"

namespace pop::tls {
namespace {

// Returns "user-alice" for each user-alice.pem.
Result<std::vector<std::string>> pairsIn(const std::string& option, const std::string& directory) {
  std::vector<std::string> pairs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("user-") && name.ends_with(".pem") && !name.ends_with("-key.pem"))
      pairs.push_back(name.substr(0, name.size() - 4));
  }
  if (error) return errnoStatus(option + ' ' + directory, error.value());
  return pairs;
}

// Cron, units and containers do not set USER.
std::string ownName() {
  const char* const user = std::getenv("USER");
  return user != nullptr && *user != '\0' ? user : sys::accountName(::geteuid()).value_or("");
}

// Returns the user's own pair, or else the only pair.
Result<std::string> ownPair(const std::string& option, const std::string& directory) {
  POP_ASSIGN_OR_RETURN(std::vector<std::string> pairs, pairsIn(option, directory));
  const std::string user = ownName();
  std::string own = "user-" + user;
  if (!user.empty() && std::find(pairs.begin(), pairs.end(), own) != pairs.end()) return own;
  if (pairs.size() == 1) return std::move(pairs.front());
  const std::string there = counted(static_cast<std::int64_t>(pairs.size()), "pair");
  return failedPrecondition(
      option + ' ' + directory + ": " +
      (user.empty()
           ? "USER is not set, this user has no account here, and it contains " + there + " user-NAME.pem"
           : "it contains no " + own + ".pem, but " + there + " of other users"));
}

}  // namespace

Result<TlsFiles> loadUserTls(const std::string& option, const std::string& directory) {
  POP_ASSIGN_OR_RETURN(const std::string pair, ownPair(option, directory));
  const std::string base = directory + '/' + pair;
  return loadTls({directory + "/ca.pem", base + ".pem", base + "-key.pem"}, TlsRole::kClient,
                 std::time(nullptr));
}

}  // namespace pop::tls
