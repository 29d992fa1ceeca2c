// SPDX-License-Identifier: Apache-2.0
// Real programs, and one whose every byte is damaged in turn.
#include "poprun/session/elf_libraries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tests/testing/temp_dir.h"

namespace pop {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::SizeIs;

// A program of a header, two segments, the dynamic section and its strings.
struct SmallProgram {
  Elf64_Ehdr header{};
  std::array<Elf64_Phdr, 2> segments{};
  std::array<Elf64_Dyn, 5> dynamic{};
  std::array<char, 32> strings{};

  SmallProgram() {
    constexpr std::uint64_t kLoadedAt = 0x400000;
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = offsetof(SmallProgram, segments);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 2;
    segments[0].p_type = PT_LOAD;
    segments[0].p_vaddr = kLoadedAt;
    segments[0].p_filesz = sizeof(SmallProgram);
    segments[1].p_type = PT_DYNAMIC;
    segments[1].p_offset = offsetof(SmallProgram, dynamic);
    segments[1].p_filesz = sizeof(dynamic);
    std::memcpy(strings.data(), "\0libmpi.so.40\0libc.so.6", 24);
    dynamic[0] = {DT_NEEDED, {1}};
    dynamic[1] = {DT_NEEDED, {14}};
    dynamic[2] = {DT_STRTAB, {kLoadedAt + offsetof(SmallProgram, strings)}};
    dynamic[3] = {DT_STRSZ, {strings.size()}};
  }

  std::string bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
};

class NeededLibraries : public ::testing::Test {
 protected:
  std::vector<std::string> of(const std::string& bytes) const {
    const std::string path = directory_.path() + "/program";
    std::ofstream(path, std::ios::binary) << bytes;
    return neededLibraries(path);
  }

  testing::TempDir directory_;
};

TEST_F(NeededLibraries, OfThisProgram) {
  EXPECT_THAT(neededLibraries("/proc/self/exe"), Contains("libc.so.6"));
}

TEST_F(NeededLibraries, InTheirOrder) {
  EXPECT_THAT(of(SmallProgram().bytes()), ElementsAre("libmpi.so.40", "libc.so.6"));
}

TEST_F(NeededLibraries, OfWhatIsNoProgram) {
  EXPECT_THAT(of(""), IsEmpty());
  EXPECT_THAT(of("#!/bin/sh\n"), IsEmpty());
  EXPECT_THAT(of(std::string(100000, 'x')), IsEmpty());
  EXPECT_THAT(neededLibraries(directory_.path()), IsEmpty());
  EXPECT_THAT(neededLibraries(directory_.path() + "/none"), IsEmpty());
  EXPECT_THAT(neededLibraries("/dev/zero"), IsEmpty());
  const std::string pipe = directory_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(neededLibraries(pipe), IsEmpty()) << "and does not wait for a writer";
}

TEST_F(NeededLibraries, OfProgramsForOtherMachines) {
  SmallProgram narrow;
  narrow.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(of(narrow.bytes()), IsEmpty());
  SmallProgram big_endian;
  big_endian.header.e_ident[EI_DATA] = ELFDATA2MSB;
  EXPECT_THAT(of(big_endian.bytes()), IsEmpty());
}

// A damaged program yields at most the libraries that were there, or texts of a bounded length.
TEST_F(NeededLibraries, OfDamagedPrograms) {
  const std::string whole = SmallProgram().bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char wrong : {'\0', '\x01', '\x7f', '\x80', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = wrong;
      const std::vector<std::string> found = of(damaged);
      EXPECT_THAT(found, SizeIs(Le(3U))) << at << ": another entry may be one of a library now";
      for (const std::string& library : found) EXPECT_LT(library.size(), 32U) << at;
    }
  }
}

TEST_F(NeededLibraries, OfTruncatedPrograms) {
  const std::string whole = SmallProgram().bytes();
  for (std::size_t bytes = 0; bytes < offsetof(SmallProgram, strings) + 14; ++bytes)
    EXPECT_THAT(of(whole.substr(0, bytes)), IsEmpty()) << bytes;
}

TEST_F(NeededLibraries, OfProgramsThatClaimTooMuch) {
  SmallProgram segments;
  segments.header.e_phnum = 65535;
  EXPECT_THAT(of(segments.bytes()), IsEmpty());
  SmallProgram entries;
  entries.segments[1].p_filesz = ~0ULL;
  EXPECT_THAT(of(entries.bytes()), ElementsAre("libmpi.so.40", "libc.so.6")) << "up to the last entry";
  SmallProgram far;
  far.segments[0].p_offset = ~0ULL;
  EXPECT_THAT(of(far.bytes()), IsEmpty());
  SmallProgram endless;
  endless.dynamic[0].d_un.d_val = 24;
  endless.dynamic[3].d_un.d_val = ~0ULL;
  endless.strings.fill('x');
  EXPECT_THAT(of(endless.bytes() + std::string(100000, 'x')), IsEmpty()) << "no name is that long";
}

TEST_F(NeededLibraries, OfProgramsWithVeryMany) {
  std::string bytes = SmallProgram().bytes();
  SmallProgram many;
  many.segments[1].p_offset = bytes.size();
  many.segments[1].p_filesz = 1 << 24;
  bytes = many.bytes();
  bytes.append(reinterpret_cast<const char*>(&many.dynamic[2]), 2 * sizeof(Elf64_Dyn));
  for (int i = 0; i < 100000; ++i)
    bytes.append(reinterpret_cast<const char*>(&many.dynamic[0]), sizeof(Elf64_Dyn));
  EXPECT_THAT(of(bytes), SizeIs(128)) << "the limit";
}

}  // namespace
}  // namespace pop
