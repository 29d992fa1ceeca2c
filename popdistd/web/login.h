// SPDX-License-Identifier: Apache-2.0
// Login and logout of a browser: POST /login with a token gives it a cookie, POST /logout takes it.
#pragma once

#include <functional>
#include <string>

#include "popdistd/web/http.h"

namespace pop::popdistd {

/// Sessions of browsers; null: there is no login. On the loop's thread.
struct Sessions {
  std::function<Result<std::string>(const std::string& token, const Peer& peer)> begin;
  std::function<void(const std::string& session)> end;
};

/// The answer to POST /login, whose body is JSON: LoginRequest of access.proto.
HttpAnswer login(const Sessions& sessions, const HttpRequest& request);
HttpAnswer logout(const Sessions& sessions, const HttpRequest& request);

/// The answer to an unknown caller: 401, and a cookie that has become useless is forgotten.
HttpAnswer whoAreYou(const HttpRequest& request);

/// True if a browser sends the request for another site's page: a cookie comes by itself, and the header
/// X-Popdist only from our own page.
bool isForged(const HttpRequest& request);

}  // namespace pop::popdistd
