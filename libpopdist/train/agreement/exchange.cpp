// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/train/agreement/exchange.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "common/base/json.h"
#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"

namespace popdist::train {

pop::Result<std::vector<std::string>> exchange(Communicator& communicator, const std::string& own,
                                               std::chrono::milliseconds timeout) {
  try {
    const auto members = static_cast<std::size_t>(communicator.size());
    const std::uint64_t own_bytes = own.size();
    std::vector<std::uint64_t> all_bytes(members);
    communicator.allGather(&own_bytes, all_bytes.data(), 1, Type::kUint64, {.timeout = timeout});
    const std::vector<std::size_t> counts(all_bytes.begin(), all_bytes.end());
    std::size_t total = 0;
    for (const std::size_t count : counts) total += count;
    std::string all(total, '\0');
    communicator.allGather(own.data(), all.data(), counts, Type::kUint8, {.timeout = timeout});
    std::vector<std::string> texts;
    std::size_t at = 0;
    for (const std::size_t count : counts) {
      texts.push_back(all.substr(at, count));
      at += count;
    }
    return texts;
  } catch (...) {
    return currentException("the texts that instances exchange do not fit", "a collective");
  }
}

std::string jsonOf(const pop::Status& status) {
  if (status.ok()) return "{}";
  const std::string error = pop::JsonObject()
                                .number("code", static_cast<std::int64_t>(status.code()))
                                .text("text", status.message())
                                .str();
  return pop::JsonObject().json("error", error).str();
}

pop::Status statusFrom(const pop::JsonValue& json) {
  const pop::JsonValue* const error = json.find("error");
  if (error == nullptr) return {};
  const pop::JsonValue* const text = error->find("text");
  const pop::JsonValue* const number = error->find("code");
  const std::uint64_t code = number == nullptr ? 0 : number->uint64().value_or(0);
  const bool is_known = code > 0 && code <= static_cast<std::uint64_t>(pop::Code::kDataLoss);
  return {is_known ? static_cast<pop::Code>(code) : pop::Code::kUnknown,
          text == nullptr || text->text() == nullptr ? "" : *text->text()};
}

namespace {

std::string callIn(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

pop::Status sameCalls(const std::vector<std::string>& texts) {
  const std::string first = callIn(texts.front());
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    const std::string other = callIn(texts[rank]);
    if (other != first)
      return pop::failedPrecondition("the call is " + pop::inQuotes(first) + " on instance 0 and " +
                                     pop::inQuotes(other) + " on instance " + std::to_string(rank) +
                                     ": make the same calls in the same order on all instances");
  }
  return {};
}

}  // namespace

Agreed agree(Communicator& communicator, const std::string& call, const std::string& own,
             std::chrono::milliseconds timeout) {
  Agreed agreed;
  const auto texts = exchange(communicator, call + '\n' + own, timeout);
  agreed.exchanged = texts.status();
  if (!texts.ok()) return agreed;
  agreed.outcome = sameCalls(texts.value());
  for (std::size_t rank = 0; rank < texts.value().size() && agreed.outcome.ok(); ++rank) {
    const std::string& text = texts.value()[rank];
    pop::Result<pop::JsonValue> json =
        pop::parseJson(text.substr(std::min(callIn(text).size() + 1, text.size())));
    const pop::Status status = json.ok() ? statusFrom(json.value()) : json.status();
    if (!status.ok()) {
      const bool is_one_of_many = texts.value().size() > 1;
      agreed.outcome = {status.code(),
                        (is_one_of_many ? "instance " + std::to_string(rank) + ": " : "") + status.message()};
    } else {
      agreed.values.push_back(std::move(json).value());
    }
  }
  return agreed;
}

}  // namespace popdist::train
