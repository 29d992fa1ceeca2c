// SPDX-License-Identifier: Apache-2.0
#include "agent/cluster/join/join_wire.h"

#include <optional>

#include "common/contract/frame.h"

namespace pop::joining {

std::string message(Kind kind, std::string_view body) {
  std::string text;
  text.reserve(body.size() + 1);
  text += static_cast<char>(kind);
  return text += body;
}

Result<Kind> kindOf(std::string_view message) {
  constexpr std::string_view kKinds = "crox";
  if (!message.empty() && kKinds.find(message.front()) != std::string_view::npos)
    return static_cast<Kind>(message.front());
  return Status(Code::kDataLoss, "a message of an unknown kind");
}

std::string encode(const Connect& connect) {
  const Result<std::string> bytes = contract::encode(
      {.type = 1, .fields = {connect.controller, connect.authority, connect.certificate, connect.key}});
  return bytes.ok() ? bytes.value() : std::string();
}

Result<Connect> decodeConnect(std::string_view body) {
  contract::FrameReader reader;
  reader.append(body);
  POP_ASSIGN_OR_RETURN(std::optional<contract::Frame> frame, reader.next());
  if (!frame || frame->fields.size() != 4) return Status(Code::kDataLoss, "a malformed order to connect");
  std::vector<std::string>& fields = frame->fields;
  return Connect{std::move(fields[0]), std::move(fields[1]), std::move(fields[2]), std::move(fields[3])};
}

}  // namespace pop::joining
