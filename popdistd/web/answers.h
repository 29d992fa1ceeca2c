// SPDX-License-Identifier: Apache-2.0
// What the daemon's interfaces answer, as HTTP's answers in JSON.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "popdistd/web/http.h"
#include "popdistd/web/json.h"

namespace pop::popdistd {

/// `{"code": CODE, "message": "…"}`
HttpAnswer problem(int http_status, int code, const std::string& message);
HttpAnswer notFound(const std::string& path);

template <typename Answer>
HttpAnswer jsonAnswer(const Result<Answer>& result) {
  if (!result.ok()) return errorAnswer(result.status());
  Result<std::string> json = toJson(result.value());
  if (!json.ok()) return errorAnswer(json.status());
  return {.body = std::move(*json)};
}

/// Answers the exchange.
template <typename Answer>
Reply<Answer> replyTo(const std::shared_ptr<HttpExchange>& exchange) {
  return [exchange](const Result<Answer>& result) { exchange->answer(jsonAnswer(result)); };
}

}  // namespace pop::popdistd
