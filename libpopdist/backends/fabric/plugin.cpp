// SPDX-License-Identifier: Apache-2.0
// The C interface of a Fabric: popdistBackend and its functions.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include "libpopdist/backends/fabric/fabric.h"

namespace popdist::backends {
namespace {

struct Group {
  const PopdistGroupInfo& info;
  std::unique_ptr<Fabric> fabric;
  pop::Status failure{};  ///< a failure of this member itself: it has lost all others
};

Group& groupAt(void* group) {
  return *static_cast<Group*>(group);
}

std::span<const std::byte> bytesAt(const void* data, std::size_t bytes) {
  return {static_cast<const std::byte*>(data), bytes};
}

void fill(PopdistStatus& status, const pop::Status& from) {
  status.code = static_cast<std::int32_t>(from.code());
  const std::string& text = from.message();
  const std::size_t bytes = std::min(text.size(), sizeof(status.message) - 1);
  std::memcpy(status.message, text.data(), bytes);
  status.message[bytes] = '\0';
}

// Nothing may throw through the C interface.
template <typename Action>
pop::Status caught(const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return {pop::Code::kResourceExhausted, "out of memory"};
  } catch (const std::exception& error) {
    return pop::internalError(error.what());
  }
}

// Functions without a status to return mark all other members as lost instead.
template <typename Action>
void guarded(void* group, const Action& action) {
  Group& self = groupAt(group);
  const pop::Status status = caught([&]() -> pop::Status {
    action(*self.fabric);
    return {};
  });
  if (!status.ok()) self.failure = status;
}

void offer(const PopdistGroupInfo* info, void** group, char* address, std::size_t* address_bytes,
           PopdistStatus* status) {
  fill(*status, caught([&]() -> pop::Status {
    auto fabric = makeFabric(*info);
    if (!fabric.ok()) return fabric.status();
    const std::string text = fabric.value()->address();
    if (text.size() > *address_bytes) return pop::internalError("the address is too long");
    std::memcpy(address, text.data(), text.size());
    *address_bytes = text.size();
    *group = new Group{.info = *info, .fabric = std::move(fabric).value()};
    return {};
  }));
}

void connect(void* group, const char* const* addresses, const std::size_t* address_bytes,
             PopdistStatus* status) {
  fill(*status, caught([&] {
    const Group& self = groupAt(group);
    std::vector<std::string> all;
    for (std::int32_t rank = 0; rank < self.info.ranks; ++rank)
      all.emplace_back(addresses[rank], address_bytes[rank]);
    return self.fabric->connect(all);
  }));
}

std::size_t trySend(void* group, std::int32_t to, const void* first, std::size_t first_bytes,
                    const void* second, std::size_t second_bytes) {
  std::size_t taken = 0;
  guarded(group, [&](Fabric& fabric) {
    taken = fabric.trySend(to, bytesAt(first, first_bytes), bytesAt(second, second_bytes));
  });
  return taken;
}

const void* tryReceive(void* group, std::int32_t from, std::size_t* bytes) {
  std::span<const std::byte> arrived;
  guarded(group, [&](Fabric& fabric) { arrived = fabric.tryReceive(from); });
  *bytes = arrived.size();
  return arrived.data();
}

void release(void* group, std::int32_t from, std::size_t bytes) {
  guarded(group, [&](Fabric& fabric) { fabric.release(from, bytes); });
}

std::int32_t isDelivered(void* group, std::int32_t to) {
  bool delivered = true;
  guarded(group, [&](Fabric& fabric) { delivered = fabric.isDelivered(to); });
  return delivered ? 1 : 0;
}

std::int32_t isLost(void* group, std::int32_t peer, PopdistStatus* why, const void** last,
                    std::size_t* last_bytes) {
  pop::Status failure;
  std::span<const std::byte> words;
  guarded(group, [&](Fabric& fabric) {
    failure = fabric.failure(peer);
    words = fabric.lastOf(peer);
  });
  const Group& self = groupAt(group);
  *last = words.data();
  *last_bytes = words.size();
  fill(*why, self.failure.ok() ? failure : self.failure);
  return why->code == 0 ? 0 : 1;
}

void wait(void* group, std::int64_t timeout_ms) {
  guarded(group, [&](Fabric& fabric) { fabric.wait(std::chrono::milliseconds(timeout_ms)); });
}

void close(void* group, std::int32_t to, const void* last, std::size_t last_bytes) {
  guarded(group, [&](Fabric& fabric) { fabric.close(to, bytesAt(last, last_bytes)); });
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
                                      .try_send = &trySend,
                                      .try_recv = &tryReceive,
                                      .release = &release,
                                      .delivered = &isDelivered,
                                      .lost = &isLost,
                                      .wait = &wait,
                                      .close = &close,
                                      .destroy = &destroy};
  return &backend;
}
