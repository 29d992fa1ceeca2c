// SPDX-License-Identifier: Apache-2.0
// The answers of the daemon's interfaces, as HTTP's answers in JSON.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/wire/message_json.h"
#include "popdistd/web/http.h"

namespace pop::popdistd {

/// `{"code": CODE, "message": "…"}`
HttpAnswer problem(int http_status, int code, const std::string& message);
HttpAnswer notFound(const std::string& path);

template <typename Answer>
HttpAnswer jsonAnswer(const Result<Answer>& result) {
  if (!result.ok()) return errorAnswer(result.status());
  Result<std::string> json = wire::toJson(result.value());
  if (!json.ok()) return errorAnswer(json.status());
  return {.body = std::move(*json)};
}

/// Answers the exchange.
template <typename Answer>
Reply<Answer> replyTo(const std::shared_ptr<HttpExchange>& exchange) {
  return [exchange](const Result<Answer>& result) { exchange->answer(jsonAnswer(result)); };
}

/// Answers the exchange with all pages of a list in one, as of the revision of the first: a watch from there
/// misses nothing. `ask(request, reply)` asks for one page.
template <typename Answer, typename Request, typename Ask>
void replyAllPages(const std::shared_ptr<HttpExchange>& exchange, Request request, Ask ask,
                   std::shared_ptr<Answer> before = nullptr) {
  ask(request, [exchange, request, ask, before](Result<Answer> page) {
    if (!page.ok()) return exchange->answer(errorAnswer(page.status()));
    const auto all = before != nullptr ? before : std::make_shared<Answer>();
    const auto revision = before != nullptr ? before->revision() : page->revision();
    all->clear_next_page_token();
    all->MergeFrom(*page);
    all->set_revision(revision);
    if (all->next_page_token().empty()) return exchange->answer(jsonAnswer<Answer>(std::move(*all)));
    Request next = request;
    next.set_page_token(all->next_page_token());
    replyAllPages<Answer>(exchange, std::move(next), ask, all);
  });
}

}  // namespace pop::popdistd
