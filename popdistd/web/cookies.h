// SPDX-License-Identifier: Apache-2.0
// The cookie of a browser that has logged in. Pure.
#pragma once

#include <string>
#include <string_view>

namespace pop::popdistd {

/// The session in a request's header "Cookie"; empty: there is none.
std::string sessionInCookies(std::string_view header, bool has_tls);

/// For the header "Set-Cookie": scripts do not see it, other sites do not send it.
std::string cookieOfSession(const std::string& session, bool has_tls);
/// The same, to have it forgotten.
std::string cookieOfNoSession(bool has_tls);

}  // namespace pop::popdistd
