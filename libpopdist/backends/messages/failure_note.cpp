// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/messages/failure_note.h"

#include <cstring>

namespace popdist::backends {
namespace {

struct NoteHead {
  std::int32_t code = 0;
  std::int32_t peer_rank = -1;
};

}  // namespace

std::string noteOf(const Failure& failure) {
  const NoteHead head{static_cast<std::int32_t>(failure.status.code()), failure.peer_rank};
  std::string note(reinterpret_cast<const char*>(&head), sizeof(head));
  return note + failure.status.message().substr(0, kMostNoteBytes - sizeof(head));
}

std::optional<Failure> failureOf(std::span<const std::byte> note) {
  NoteHead head;
  if (note.size() < sizeof(head) || note.size() > kMostNoteBytes) return std::nullopt;
  std::memcpy(&head, note.data(), sizeof(head));
  if (head.code < 1 || head.code > static_cast<std::int32_t>(pop::Code::kDataLoss)) return std::nullopt;
  const std::span<const std::byte> text = note.subspan(sizeof(head));
  return Failure{.status = {static_cast<pop::Code>(head.code),
                            std::string(reinterpret_cast<const char*>(text.data()), text.size())},
                 .peer_rank = head.peer_rank,
                 .known_to_all = true};
}

}  // namespace popdist::backends
