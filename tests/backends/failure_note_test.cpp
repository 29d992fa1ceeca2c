// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/messages/failure_note.h"

#include <gtest/gtest.h>

#include "common/base/random.h"

namespace popdist::backends {
namespace {

std::optional<Failure> read(const std::string& note) {
  return failureOf(std::as_bytes(std::span(note)));
}

TEST(FailureNote, SaysWhatWentWrongAndWhoIsToBlame) {
  const auto failure = read(noteOf({.status = pop::unavailable("rank 3 has gone"), .peer_rank = 3}));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, pop::unavailable("rank 3 has gone"));
  EXPECT_EQ(failure->peer_rank, 3);
  EXPECT_TRUE(failure->known_to_all);
}

TEST(FailureNote, IsCutWhereItIsTooLong) {
  const std::string note = noteOf({.status = pop::unavailable(std::string(5000, 'x'))});
  EXPECT_EQ(note.size(), kMostNoteBytes);
  EXPECT_TRUE(read(note));
}

TEST(WaitNote, SaysWhoWaitsForWhom) {
  const std::string note = noteOf(Wait{.rank = 2, .awaited = {1, 3}});
  EXPECT_FALSE(read(note));
  const auto wait = waitOf(std::as_bytes(std::span(note)));
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->rank, 2);
  EXPECT_EQ(wait->awaited, (std::vector{1, 3}));
  const std::string failure = noteOf(Failure{.status = pop::unavailable("gone")});
  EXPECT_FALSE(waitOf(std::as_bytes(std::span(failure))));
}

TEST(FailureNote, IsNotMadeOfAnyBytes) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("short"));
  EXPECT_FALSE(read(std::string(8, '\0')));    // no failure at all
  EXPECT_FALSE(read(std::string(8, '\x7f')));  // no code that there is
  EXPECT_FALSE(read(std::string(kMostNoteBytes + 1, '\1')));
  pop::SplitMix64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string note(random.below(40), '\0');
    for (char& byte : note) byte = static_cast<char>(random.next());
    const auto failure = read(note);
    EXPECT_TRUE(!failure || !failure->ok());
  }
}

}  // namespace
}  // namespace popdist::backends
