// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/login.h"

#include "common/wire/message_json.h"
#include "popdistd/web/answers.h"
#include "popdistd/web/cookies.h"

namespace pop::popdistd {
namespace {

constexpr const char* kSetCookie = "Set-Cookie";

HttpAnswer unauthenticated(const std::string& why) {
  return problem(401, static_cast<int>(kUnauthenticated), why);
}

}  // namespace

HttpAnswer login(const Sessions& sessions, const HttpRequest& request) {
  v1::LoginRequest wanted;
  if (const Status read = wire::fromJson(request.body, wanted); !read.ok()) return errorAnswer(read);
  if (!sessions.begin) return errorAnswer({Code::kUnimplemented, "logins are not served here"});
  const Result<std::string> session = sessions.begin(wanted.token(), request.peer);
  if (session.code() == kUnauthenticated) return unauthenticated(session.status().message());
  if (!session.ok()) return errorAnswer(session.status());
  return {.body = "{}", .headers = {{kSetCookie, cookieOfSession(session.value(), request.has_tls)}}};
}

HttpAnswer logout(const Sessions& sessions, const HttpRequest& request) {
  if (sessions.end && !request.session.empty()) sessions.end(request.session);
  return {.body = "{}", .headers = {{kSetCookie, cookieOfNoSession(request.has_tls)}}};
}

HttpAnswer whoAreYou(const HttpRequest& request) {
  const Status& why = request.caller.status();
  HttpAnswer answer =
      why.code() == Code::kResourceExhausted ? errorAnswer(why) : unauthenticated(why.message());
  if (!request.session.empty() && why.code() != Code::kResourceExhausted)
    answer.headers.emplace_back(kSetCookie, cookieOfNoSession(request.has_tls));
  return answer;
}

bool isForged(const HttpRequest& request) {
  return request.method == "POST" && !request.session.empty() && request.own_header.empty();
}

}  // namespace pop::popdistd
