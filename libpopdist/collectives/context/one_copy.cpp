// SPDX-License-Identifier: Apache-2.0
// Each copy carries an ELF note that leads to its mark. Unlike a symbol, the dynamic linker finds it in every
// program and library, also in static programs and where all symbols are hidden.
#include "libpopdist/collectives/context/one_copy.h"

#include <link.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/sys/module_file.h"
#include "popdist/error.hpp"

extern "C" {
// One byte, so that copies of all versions agree what it is: 1 once its copy has made a context.
__attribute__((visibility("hidden"))) std::atomic<std::uint8_t> popdist_copy_in_use{0};
}

// Name "popdist", type 1, and the distance from the note's last word to the mark.
asm(R"(
  .pushsection .note.popdist, "a", %note
  .balign 4
  .long 8
  .long 4
  .long 1
  .asciz "popdist"
  .long popdist_copy_in_use - .
  .popsection
)");

namespace popdist::context {
namespace {

using Mark = std::atomic<std::uint8_t>;

constexpr std::size_t aligned(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// The mark of the copy in a module; nullptr: it has none.
const Mark* markIn(const dl_phdr_info& module) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(module.dlpi_addr + segment.p_vaddr);
    const char* const end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) header;
      std::memcpy(&header, at, sizeof(header));
      const char* const name = at + sizeof(header);
      if (header.n_namesz == 8 && header.n_descsz == 4 && header.n_type == 1 &&
          std::memcmp(name, "popdist", 8) == 0) {
        std::int32_t to_mark = 0;
        std::memcpy(&to_mark, name + 8, sizeof(to_mark));
        return reinterpret_cast<const Mark*>(name + 8 + to_mark);
      }
      at = name + aligned(header.n_namesz) + aligned(header.n_descsz);
    }
  }
  return nullptr;
}

// The mark of another copy that is in use.
const Mark* otherInUse() {
  const Mark* found = nullptr;
  const auto look = [](dl_phdr_info* module, std::size_t, void* result) {
    const Mark* const mark = markIn(*module);
    if (mark == nullptr || mark == &popdist_copy_in_use || *mark == 0) return 0;
    *static_cast<const Mark**>(result) = mark;
    return 1;
  };
  ::dl_iterate_phdr(look, &found);
  return found;
}

}  // namespace

void claimThisProcess() {
  if (popdist_copy_in_use.exchange(1) == 1) return;
  const Mark* const other = otherInUse();  // after the exchange: of two that come at once, one sees the other
  if (other == nullptr) return;
  popdist_copy_in_use = 0;
  throw popdist_error(
      ErrorCode::kFailedPrecondition,
      "Context: this process has two copies of libpopdist, and the other one has a context: " +
          pop::sys::fileOfModule(other) + ", beside " + pop::sys::fileOfModule(&popdist_copy_in_use) +
          ". Link both with the shared library (pop::popdist_shared, or pkg-config popdist_shared)");
}

}  // namespace popdist::context
