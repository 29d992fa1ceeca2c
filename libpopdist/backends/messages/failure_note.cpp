// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/messages/failure_note.h"

#include <cstring>

namespace popdist::backends {
namespace {

struct NoteHead {
  std::int32_t code = 0;   ///< 0: of a wait, whose awaited ranks follow
  std::int32_t rank = -1;  ///< who waits; of a failure, who is to blame
};

std::optional<NoteHead> headOf(std::span<const std::byte> note) {
  NoteHead head;
  if (note.size() < sizeof(head) || note.size() > kMostNoteBytes) return std::nullopt;
  std::memcpy(&head, note.data(), sizeof(head));
  return head;
}

std::string textOf(const NoteHead& head) {
  return {reinterpret_cast<const char*>(&head), sizeof(head)};
}

}  // namespace

std::string noteOf(const Failure& failure) {
  const NoteHead head{static_cast<std::int32_t>(failure.status.code()), failure.peer_rank};
  return textOf(head) + failure.status.message().substr(0, kMostNoteBytes - sizeof(head));
}

std::optional<Failure> failureOf(std::span<const std::byte> note) {
  const std::optional<NoteHead> head = headOf(note);
  if (!head || head->code < 1 || head->code > static_cast<std::int32_t>(pop::Code::kDataLoss))
    return std::nullopt;
  const std::span<const std::byte> text = note.subspan(sizeof(*head));
  return Failure{.status = {static_cast<pop::Code>(head->code),
                            std::string(reinterpret_cast<const char*>(text.data()), text.size())},
                 .peer_rank = head->rank,
                 .known_to_all = true};
}

std::string noteOf(const Wait& wait) {
  const auto awaited = std::as_bytes(std::span(wait.awaited));
  return textOf({.code = 0, .rank = wait.rank}) +
         std::string(reinterpret_cast<const char*>(awaited.data()), awaited.size());
}

std::optional<Wait> waitOf(std::span<const std::byte> note) {
  const std::optional<NoteHead> head = headOf(note);
  if (!head || head->code != 0 || head->rank < 0) return std::nullopt;
  Wait wait{.rank = head->rank, .awaited = {}};
  const std::span<const std::byte> ranks = note.subspan(sizeof(*head));
  wait.awaited.resize(ranks.size() / sizeof(std::int32_t));
  if (!wait.awaited.empty())
    std::memcpy(wait.awaited.data(), ranks.data(), wait.awaited.size() * sizeof(std::int32_t));
  return wait;
}

}  // namespace popdist::backends
