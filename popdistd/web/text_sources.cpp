// SPDX-License-Identifier: Apache-2.0
#include "popdistd/web/text_sources.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "common/base/text.h"
#include "common/wire/message_json.h"

namespace pop::popdistd {
namespace {

template <typename Message>
class TextSource final : public ByteSource {
 public:
  using Print = std::function<Result<std::string>(const Message&)>;
  TextSource(std::unique_ptr<Source<Message>> messages, Print print,
             std::function<std::string(const Status&)> last)
      : messages_(std::move(messages)), print_(std::move(print)), last_(std::move(last)) {}

  // A message without text is no reason to wait.
  std::optional<std::string> next() override {
    while (!wrong_) {
      const std::optional<Message> message = messages_->next();
      if (!message) break;
      Result<std::string> text = print_(*message);
      if (!text.ok()) wrong_ = text.status();
      if (text.ok() && !text.value().empty()) return std::move(*text);
    }
    if (!end() || std::exchange(said_last_, true)) return std::nullopt;
    std::string last = last_(*end());
    if (last.empty()) return std::nullopt;
    return last;
  }

  std::optional<Status> ended() const override { return said_last_ ? end() : std::nullopt; }

 private:
  std::optional<Status> end() const { return wrong_ ? wrong_ : messages_->ended(); }

  const std::unique_ptr<Source<Message>> messages_;
  Print print_;
  std::optional<Status> wrong_;  ///< with a message
  const std::function<std::string(const Status&)> last_;
  bool said_last_ = false;
};

Result<std::string> outputOf(const v1::Record& record) {
  if (record.body_case() == v1::Record::kDroppedBytes)
    return "[" + sizeText(record.dropped_bytes()) + " of output were dropped here: the limit of the log]\n";
  return record.output().text();
}

Result<std::string> recordEventOf(const v1::Record& record) {
  POP_ASSIGN_OR_RETURN(const std::string json, wire::toJson(record));
  return "id: " + std::to_string(record.sequence()) + "\ndata: " + json + "\n\n";
}

std::string endEvent(const Status& how) {
  return "event: end\ndata: " + errorAnswer(how).body + "\n\n";
}

// Within a snapshot there is no revision from which one could go on: only its end has one.
class EventPrinter {
 public:
  Result<std::string> operator()(const ShownChange& change) {
    if (change->has_snapshot_begins()) in_snapshot_ = true;
    if (change->has_snapshot_ends()) in_snapshot_ = false;
    POP_ASSIGN_OR_RETURN(
        const ShownChange::Bytes json,
        change.bytes(ChangeWire::kJson, [](const v1::Change& of) { return wire::toJson(of); }));
    const std::string id = in_snapshot_ ? "" : "id: " + std::to_string(change->revision()) + '\n';
    return id + "data: " + *json + "\n\n";
  }

 private:
  bool in_snapshot_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> outputText(std::unique_ptr<Source<v1::Record>> records) {
  return std::make_unique<TextSource<v1::Record>>(std::move(records), outputOf,
                                                  [](const Status&) { return std::string(); });
}

std::unique_ptr<ByteSource> changeEvents(std::unique_ptr<Source<ShownChange>> changes) {
  return std::make_unique<TextSource<ShownChange>>(std::move(changes), EventPrinter(), endEvent);
}

std::unique_ptr<ByteSource> recordEvents(std::unique_ptr<Source<v1::Record>> records) {
  return std::make_unique<TextSource<v1::Record>>(std::move(records), recordEventOf, endEvent);
}

}  // namespace pop::popdistd
