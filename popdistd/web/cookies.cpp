// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/cookies.h"

#include "common/base/text.h"

namespace pop::popdistd {
namespace {

constexpr std::string_view kName = "popdist_session";
constexpr std::string_view kTlsName = "__Host-popdist_session";  // browsers take it from this very host only
constexpr std::size_t kLongestBytes = 256;
constexpr int kSeconds = 8 * 3600;

std::string_view nameOf(bool has_tls) {
  return has_tls ? kTlsName : kName;
}

std::string cookie(const std::string& value, int seconds, bool has_tls) {
  return std::string(nameOf(has_tls)) + '=' + value + "; Path=/; Max-Age=" + std::to_string(seconds) +
         "; HttpOnly; SameSite=Strict" + (has_tls ? "; Secure" : "");
}

}  // namespace

// One that is too long is none of ours, and still no reason to take the request for another's.
std::string sessionInCookies(std::string_view header, bool has_tls) {
  for (const std::string& part : split(header, ';')) {
    const std::string_view text = trimmed(part);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || trimmed(text.substr(0, equals)) != nameOf(has_tls)) continue;
    const std::string_view value = trimmed(text.substr(equals + 1)).substr(0, kLongestBytes);
    return value.empty() ? "none" : std::string(value);
  }
  return {};
}

std::string cookieOfSession(const std::string& session, bool has_tls) {
  return cookie(session, kSeconds, has_tls);
}

std::string cookieOfNoSession(bool has_tls) {
  return cookie("none", 0, has_tls);
}

}  // namespace pop::popdistd
