// SPDX-License-Identifier: Apache-2.0
// The C face of a backend that is made of messages: popdistBackend and what it leads to.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>

#include "libpopdist/backends/messages/collectives.h"
#include "libpopdist/backends/messages/failure_note.h"

namespace popdist::backends {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNoteTimeout{300};  ///< for it to be on its way

struct Group {
  const PopdistGroupInfo& info;
  std::unique_ptr<Fabric> fabric;
  Scratch scratch{};
  std::uint64_t calls = 0;
};

void fill(PopdistStatus& status, const Failure& failure) {
  status.code = static_cast<std::int32_t>(failure.status.code());
  status.peer_rank = failure.peer_rank;
  const std::string& text = failure.status.message();
  const std::size_t bytes = std::min(text.size(), sizeof(status.message) - 1);
  std::memcpy(status.message, text.data(), bytes);
  status.message[bytes] = '\0';
}

template <typename Action>
Failure caught(const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return {.status = {pop::Code::kResourceExhausted, "out of memory"}};
  } catch (const std::exception& error) {
    return {.status = pop::internalError(error.what())};
  }
}

// Nothing may throw through the C interface.
template <typename Action>
void guarded(PopdistStatus* status, const Action& action) {
  fill(*status, caught(action));
}

group::CollectiveCall callOf(const PopdistCall& call, int ranks) {
  const auto counts = [ranks](const std::size_t* first) {
    return first == nullptr ? std::span<const std::size_t>{}
                            : std::span(first, static_cast<std::size_t>(ranks));
  };
  return {.operation = static_cast<plan::Operation>(call.operation),
          .input = call.input,
          .output = call.output,
          .count = static_cast<std::size_t>(call.count),
          .type = static_cast<Type>(call.type),
          .op = static_cast<Operator>(call.op),
          .root = call.root,
          .ragged = call.counts != nullptr,
          .counts = counts(call.counts),
          .recv_counts = counts(call.recv_counts),
          .partners = {.to = call.to,
                       .from = call.from,
                       .send_count = call.send_count,
                       .recv_count = call.recv_count},
          .tensor = call.tensor,
          .timeout = milliseconds(call.timeout_ms)};
}

Failure carryOut(Group& group, const group::CollectiveCall& call) {
  const FrameHead head{.sequence = group.calls++, .key = keyOf(call).packed(), .count = call.count};
  const std::string tensor(call.tensor);
  Exchange exchange(*group.fabric, group.info, head, tensor.c_str(), Fabric::Clock::now() + call.timeout);
  Failure failure = Collectives(exchange, group.scratch, call, group.info.rank, group.info.ranks).run();
  return failure.ok() ? exchange.flush() : failure;
}

// Where nobody is to blame the others hear who has failed; but of who has run out of time they may know more.
Failure asTold(const Failure& failure, int rank) {
  if (failure.peer_rank >= 0 || failure.status.code() == pop::Code::kDeadlineExceeded) return failure;
  return {.status = {failure.status.code(),
                     "rank " + std::to_string(rank) + " has given up: " + failure.status.message()},
          .peer_rank = rank};
}

void tellOthers(Fabric& fabric, const Failure& failure) {
  const std::string note = noteOf(failure);
  fabric.tell(std::as_bytes(std::span(note)));
  const Fabric::Deadline deadline = Fabric::Clock::now() + kNoteTimeout;
  while (!fabric.allSent() && Fabric::Clock::now() < deadline) fabric.wait();
}

// However a call fails, the others wait for this member.
Failure runCall(Group& group, const group::CollectiveCall& call) {
  Failure failure = caught([&] { return carryOut(group, call); });
  if (!failure.ok() && !failure.known_to_all) tellOthers(*group.fabric, asTold(failure, group.info.rank));
  return failure;
}

void offer(const PopdistGroupInfo* info, void** group, char* address, std::size_t* address_bytes,
           PopdistStatus* status) {
  guarded(status, [&]() -> Failure {
    auto fabric = makeFabric(*info);
    if (!fabric.ok()) return {.status = fabric.status()};
    const std::string text = fabric.value()->address();
    if (text.size() > *address_bytes) return {.status = pop::internalError("the address is too long")};
    std::memcpy(address, text.data(), text.size());
    *address_bytes = text.size();
    *group = new Group{.info = *info, .fabric = std::move(fabric).value()};
    return {};
  });
}

void connect(void* group, const char* const* addresses, const std::size_t* address_bytes,
             PopdistStatus* status) {
  guarded(status, [&]() -> Failure {
    Group& self = *static_cast<Group*>(group);
    std::vector<std::string> all;
    for (std::int32_t rank = 0; rank < self.info.ranks; ++rank)
      all.emplace_back(addresses[rank], address_bytes[rank]);
    return {.status = self.fabric->connect(all, Fabric::Clock::now() + milliseconds(self.info.timeout_ms))};
  });
}

void run(void* group, const PopdistCall* call, PopdistStatus* status) {
  guarded(status, [&] {
    Group& self = *static_cast<Group*>(group);
    return runCall(self, callOf(*call, self.info.ranks));
  });
}

void destroy(void* group) {
  delete static_cast<Group*>(group);
}

}  // namespace
}  // namespace popdist::backends

extern "C" __attribute__((visibility("default"))) const PopdistBackend* popdistBackend(std::uint32_t) {
  using namespace popdist::backends;
  static const PopdistBackend backend{.version = kPopdistBackendVersion,
                                      .name = kBackendName,
                                      .offer = &offer,
                                      .connect = &connect,
                                      .run = &run,
                                      .destroy = &destroy};
  return &backend;
}
