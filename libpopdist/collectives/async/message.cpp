// SPDX-License-Identifier: Apache-2.0
// One frame: three fields for the abort message, if there is one, then three for each announcement.
#include "libpopdist/collectives/async/message.h"

#include <utility>

#include "common/base/text.h"
#include "common/contract/frame.h"

namespace popdist::async {
namespace {

using pop::contract::Frame;

enum class Kind : std::uint8_t { kGoesOn = 1, kEnds = 2 };

constexpr std::size_t kFieldsEach = 3;

pop::Status malformed() {
  return {pop::Code::kDataLoss, "malformed announcement"};
}

pop::Result<AbortMessage> abortMessageFrom(const std::string* fields) {
  POP_ASSIGN_OR_RETURN(const std::int64_t code, pop::parseInteger(fields[0]));
  POP_ASSIGN_OR_RETURN(const std::int64_t peer_rank, pop::parseInteger(fields[1]));
  const bool known = code >= 1 && code <= static_cast<int>(pop::Code::kDataLoss);
  if (!known || peer_rank < -1 || peer_rank > INT32_MAX) return malformed();
  return AbortMessage{.status = {static_cast<pop::Code>(code), fields[2]},
                      .peer_rank = static_cast<int>(peer_rank)};
}

pop::Result<Announcement> announcementFrom(const std::string* fields) {
  POP_ASSIGN_OR_RETURN(const std::int64_t key, pop::parseInteger(fields[1]));
  POP_ASSIGN_OR_RETURN(const std::int64_t count, pop::parseInteger(fields[2]));
  if (key < 0) return malformed();
  return Announcement{fields[0], static_cast<std::uint64_t>(key), static_cast<std::uint64_t>(count)};
}

}  // namespace

pop::Result<std::string> encode(const Message& message) {
  if (message.announcements.empty() && !message.abort_message) return std::string();
  Frame frame{static_cast<std::uint8_t>(message.abort_message ? Kind::kEnds : Kind::kGoesOn), {}};
  frame.fields.reserve(kFieldsEach * (message.announcements.size() + 1));
  if (const auto& abort_message = message.abort_message) {
    frame.fields.push_back(std::to_string(static_cast<int>(abort_message->status.code())));
    frame.fields.push_back(std::to_string(abort_message->peer_rank));
    frame.fields.push_back(abort_message->status.message());
  }
  for (const Announcement& call : message.announcements) {
    frame.fields.push_back(call.name);
    frame.fields.push_back(std::to_string(call.key));
    frame.fields.push_back(std::to_string(static_cast<std::int64_t>(call.count)));
  }
  return pop::contract::encode(frame);
}

pop::Result<Message> decode(std::string_view bytes) {
  Message message;
  if (bytes.empty()) return message;
  pop::contract::FrameReader reader;
  reader.append(bytes);
  POP_ASSIGN_OR_RETURN(const std::optional<Frame> frame, reader.next());
  if (!frame || frame->fields.size() % kFieldsEach != 0) return malformed();
  const bool ends = static_cast<Kind>(frame->type) == Kind::kEnds;
  if (!ends && static_cast<Kind>(frame->type) != Kind::kGoesOn) return malformed();
  if (ends) {
    if (frame->fields.empty()) return malformed();
    POP_ASSIGN_OR_RETURN(message.abort_message, abortMessageFrom(frame->fields.data()));
  }
  for (std::size_t i = ends ? kFieldsEach : 0; i < frame->fields.size(); i += kFieldsEach) {
    POP_ASSIGN_OR_RETURN(Announcement call, announcementFrom(&frame->fields[i]));
    message.announcements.push_back(std::move(call));
  }
  return message;
}

}  // namespace popdist::async
