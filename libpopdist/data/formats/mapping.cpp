// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/data/formats/mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>

#include "common/base/text.h"

namespace popdist::io {
namespace {

using Place = Mapping::Place;

std::atomic<Place*> places{nullptr};
std::mutex places_mutex;  // for threads that take and give back places; the handler takes none
struct sigaction handler_before {};
const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));

Place* placeOf(std::uintptr_t address) {
  for (Place* place = places.load(std::memory_order_acquire); place != nullptr; place = place->next) {
    if (address >= place->begin.load(std::memory_order_acquire) &&
        address < place->end.load(std::memory_order_acquire))
      return place;
  }
  return nullptr;
}

/// Passes on an access to memory of others.
void passOn(int signal, siginfo_t* info, void* context) {
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  std::signal(signal, SIG_DFL);  // the access happens again
}

/// From the missing page on the mapping becomes zeros, so that the access goes on.
void onBusError(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  Place* const place = info->si_code > 0 ? placeOf(address) : nullptr;
  bool is_mended = false;
  if (place != nullptr) {
    const std::uintptr_t page = address / page_bytes * page_bytes;
    place->lost.store(true, std::memory_order_relaxed);
    is_mended = ::mmap(reinterpret_cast<void*>(page), place->end.load() - page, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
  }
  errno = saved_errno;
  if (!is_mended) passOn(signal, info, context);
}

void installHandler() {
  static std::once_flag installed;
  std::call_once(installed, [] {
    struct sigaction action {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigaction(SIGBUS, &action, &handler_before);
  });
}

Place* takePlace(std::span<const std::byte> bytes) {
  const std::scoped_lock lock(places_mutex);
  Place* place = places.load();
  while (place != nullptr && place->begin.load() != 0) place = place->next;
  const bool is_new = place == nullptr;
  if (is_new) place = new Place{.next = places.load()};
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  place->lost = false;
  place->end = begin + bytes.size();
  place->begin.store(begin, std::memory_order_release);
  if (is_new) places.store(place, std::memory_order_release);
  return place;
}

void giveBack(Place* place) {
  const std::scoped_lock lock(places_mutex);
  place->end = 0;
  place->begin = 0;
}

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

}  // namespace

pop::Result<std::unique_ptr<Mapping>> Mapping::of(int file, const FileState& state) {
  void* const memory = ::mmap(nullptr, state.bytes, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) return pop::errnoStatus("cannot map " + pop::inQuotes(state.path), errno);
  installHandler();
  const std::span bytes(static_cast<const std::byte*>(memory), state.bytes);
  return std::unique_ptr<Mapping>(new Mapping(bytes, takePlace(bytes)));
}

Mapping::~Mapping() {
  giveBack(place_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

pop::Status Mapping::hasLost(const FileState& state) {
  return {pop::Code::kDataLoss, pop::inQuotes(state.path) +
                                    " has lost bytes since it was opened: it was made shorter, or its disk " +
                                    "fails; write a new file and rename it over this one instead"};
}

pop::Status Mapping::checkUnchanged(const FileState& state) const {
  constexpr std::int64_t kBetweenLooksNs = 25'000;
  POP_RETURN_IF_ERROR(checkRead(state));
  const std::int64_t time = now();
  if (time < next_look_ns_.load(std::memory_order_relaxed)) return {};
  struct stat found {};
  // Another file of this name, or none, is not the one that is mapped.
  const bool is_same = ::stat(state.path.c_str(), &found) == 0 && found.st_ino == state.inode;
  if (is_same &&
      (static_cast<std::uint64_t>(found.st_size) != state.bytes || modifiedNs(found) != state.modified_ns)) {
    return {pop::Code::kDataLoss, pop::inQuotes(state.path) +
                                      " was written to since it was opened: start again with the file as " +
                                      "it is now, and replace files by renaming new ones over them"};
  }
  next_look_ns_.store(time + kBetweenLooksNs, std::memory_order_relaxed);
  return {};
}

}  // namespace popdist::io
