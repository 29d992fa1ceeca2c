// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/collectives/shared/peer_memory.h"

#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "common/base/check.h"

namespace popdist::shared {
namespace {

constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;  // the kernel's limit is 2 GiB less a page

std::uint64_t randomWord() {
  std::uint64_t word = 0;
  POP_CHECK(::getrandom(&word, sizeof(word), 0) == sizeof(word));
  return word;
}

// A random word of this process; it never changes.
const std::uint64_t& ownWord() {
  static const std::uint64_t word = randomWord();
  return word;
}

// An address in another process. It must never be dereferenced here.
iovec there(std::uint64_t address, std::size_t bytes) {
  return {reinterpret_cast<void*>(address), bytes};  // NOLINT(performance-no-int-to-ptr)
}

pop::Status cannotRead(const ProcessMark& process, const std::string& why) {
  return pop::unavailable("cannot read the memory of process " + std::to_string(process.pid) +
                          " (process_vm_readv): " + why);
}

// The mark is read last in the same system call, so it comes from the same process as the data.
pop::Status readPiece(const ProcessMark& process, std::uint64_t address, std::byte* to, std::size_t bytes) {
  std::uint64_t word = 0;
  const std::array local{iovec{to, bytes}, iovec{&word, sizeof(word)}};
  const std::array remote{there(address, bytes), there(process.word_at, sizeof(word))};
  const ssize_t taken =
      ::process_vm_readv(process.pid, local.data(), local.size(), remote.data(), remote.size(), 0);
  if (taken < 0) return cannotRead(process, std::generic_category().message(errno));
  if (static_cast<std::size_t>(taken) != bytes + sizeof(word))
    return cannotRead(process, std::generic_category().message(EFAULT));
  return word == process.word ? pop::Status() : cannotRead(process, "another process has this pid");
}

}  // namespace

ProcessMark ownMark() {
  return {.word = ownWord(),
          .word_at = reinterpret_cast<std::uintptr_t>(&ownWord()),
          .pid = static_cast<std::int32_t>(::getpid())};
}

bool isThisProcess(const ProcessMark& mark) {
  return mark.word == ownWord() && mark.pid == static_cast<std::int32_t>(::getpid());
}

pop::Status readFrom(const ProcessMark& process, std::uint64_t address, void* to, std::size_t bytes) {
  std::size_t done = 0;
  do {
    const std::size_t piece = std::min(bytes - done, kMaxAtOnce);
    POP_RETURN_IF_ERROR(readPiece(process, address + done, static_cast<std::byte*>(to) + done, piece));
    done += piece;
  } while (done < bytes);
  return {};
}

bool canRead(const void* memory, std::size_t bytes) {
  if (bytes == 0) return true;
  const auto* const first = static_cast<const std::byte*>(memory);
  for (const std::byte* const each : {first, first + bytes - 1}) {
    std::byte read{};
    const iovec local{&read, 1};
    const iovec own = there(reinterpret_cast<std::uintptr_t>(each), 1);
    if (::process_vm_readv(::getpid(), &local, 1, &own, 1, 0) != 1) return false;
  }
  return true;
}

}  // namespace popdist::shared
