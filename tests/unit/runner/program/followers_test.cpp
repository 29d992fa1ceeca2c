// SPDX-License-Identifier: Apache-2.0
// Followers of a job's records, on real ones: each once and in order, as far as credit and the link go.
#include "runner/program/followers.h"
#include "common/contract/record_streams.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "common/sys/fd.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/runner/store/known_records.h"

namespace pop::runner {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::KnownRecords;

namespace v1 = ::popdist::v1;

constexpr std::int64_t kPlenty = std::int64_t{1} << 40;

v1::Follow from(std::uint64_t sequence, std::int64_t credit, std::int64_t stream = 1) {
  v1::Follow order;
  order.set_stream(stream);
  order.set_from_sequence(sequence);
  order.set_credit_bytes(credit);
  return order;
}

v1::Credit more(std::int64_t bytes, std::int64_t stream = 1) {
  v1::Credit order;
  order.set_stream(stream);
  order.set_bytes(bytes);
  return order;
}

class FollowersTest : public ::testing::Test {
 protected:
  void append(std::uint64_t until) {
    while (writer_.lastSequence() < until) ASSERT_TRUE(testing::appendKnown(writer_).ok());
    followers_.appended();
  }

  void sendAll() {
    while (followers_.send()) {
      ASSERT_TRUE(room_ > 0) << "there is more, and the link is full";
    }
  }

  void take(const v1::RunnerReport& report) {
    --room_;
    if (report.has_end()) return ends_.push_back(report.end());
    std::size_t cost = 0;
    for (const v1::StoredRecord& record : report.records().records()) {
      got_[report.records().stream()].push_back(
          {record.sequence(), static_cast<RecordKind>(record.kind()), record.bytes()});
      cost += static_cast<std::size_t>(contract::creditOf(record.bytes().size()));
    }
    EXPECT_GT(cost, 0u);
    EXPECT_TRUE(cost <= kMostBatchBytes || report.records().records_size() == 1);
    order_.push_back(report.records().stream());
  }

  std::int64_t costOf(std::int64_t stream) {
    std::int64_t cost = 0;
    for (const Record& record : got_[stream]) cost += contract::creditOf(record.bytes.size());
    return cost;
  }

  void expectAll(std::int64_t stream, std::uint64_t first, std::uint64_t last) {
    std::uint64_t next = first;
    for (const Record& record : got_[stream]) {
      ASSERT_EQ(record.sequence, next);
      ASSERT_TRUE(record == testing::knownRecord(next++));
    }
    EXPECT_EQ(next, last + 1);
  }

  testing::TempDir directory_;
  RecordWriter writer_ = RecordWriter::open(directory_.path()).value();
  int room_ = 1 << 20;  // messages that the link takes
  std::map<std::int64_t, std::vector<Record>> got_;
  std::vector<std::int64_t> order_;  // streams that got something
  std::vector<v1::StreamEnd> ends_;
  Followers followers_{directory_.path(),
                       {.send = [this](const v1::RunnerReport& report) { take(report); },
                        .has_room = [this] { return room_ > 0; }}};
};

TEST_F(FollowersTest, GetEachRecordOnceAlsoThoseThatCome) {
  append(1000);
  followers_.follow(from(1, kPlenty));
  sendAll();
  expectAll(1, 1, 1000);
  append(1001);
  sendAll();
  append(9000);
  sendAll();
  expectAll(1, 1, 9000);
  EXPECT_THAT(ends_, IsEmpty());
}

TEST_F(FollowersTest, BeginAnywhere) {
  append(3000);
  followers_.follow(from(1234, kPlenty));
  followers_.follow(from(0, kPlenty, 2));
  followers_.follow(from(4000, kPlenty, 3));
  sendAll();
  append(5000);
  sendAll();
  expectAll(1, 1234, 5000);
  expectAll(2, 1, 5000);
  expectAll(3, 4000, 5000);
}

TEST_F(FollowersTest, GetNoMoreThanTheyHaveCreditFor) {
  append(9000);
  followers_.follow(from(1, 1000));
  sendAll();
  const std::int64_t last_cost = contract::creditOf(got_[1].back().bytes.size());
  EXPECT_GE(costOf(1), 1000);
  EXPECT_LT(costOf(1) - last_cost, 1000) << "the last one may go beyond";
  for (std::int64_t credit = 1000; got_[1].size() < 9000; credit += 100'000) {
    followers_.addCredit(more(100'000));
    sendAll();
    ASSERT_LT(costOf(1), credit + 100'000 + 300'100);
  }
  expectAll(1, 1, 9000);
}

TEST_F(FollowersTest, WithoutCreditHoldUpNobody) {
  followers_.follow(from(1, 0, 1));
  followers_.follow(from(1, -5, 2));
  followers_.follow(from(1, kPlenty, 3));
  append(5000);
  sendAll();
  expectAll(3, 1, 5000);
  EXPECT_THAT(got_[1], IsEmpty());
  EXPECT_THAT(got_[2], IsEmpty());
  followers_.noMore();
  sendAll();
  EXPECT_EQ(ends_.size(), 1u) << "they have not got all";
  followers_.addCredit(more(kPlenty, 1));
  sendAll();
  expectAll(1, 1, 5000);
  EXPECT_EQ(ends_.size(), 2u);
}

TEST_F(FollowersTest, TakeTurnsAtAFullLink) {
  append(20'000);
  for (const std::int64_t stream : {5, 7, 9}) followers_.follow(from(1, kPlenty, stream));
  for (int turn = 0; turn < 6; ++turn) {
    room_ = 1;
    EXPECT_TRUE(followers_.send());
  }
  EXPECT_THAT(order_, ElementsAre(5, 7, 9, 5, 7, 9));
  room_ = 1 << 20;
  sendAll();
  for (const std::int64_t stream : {5, 7, 9}) expectAll(stream, 1, 20'000);
}

TEST_F(FollowersTest, OfEventsGetNothingElse) {
  followers_.follow([] {
    v1::Follow order = from(10, kPlenty);
    order.set_events_only(true);
    return order;
  }());
  append(5000);
  sendAll();
  std::uint64_t next = 14;  // every seventh
  for (const Record& record : got_[1]) {
    EXPECT_TRUE(record == testing::knownRecord(next)) << next;
    next += 7;
  }
  EXPECT_EQ(next, 5005u);
}

TEST_F(FollowersTest, LearnTheEndWhenTheyHaveAll) {
  append(100);
  followers_.follow(from(1, kPlenty, 1));
  followers_.follow(from(101, 0, 2));
  followers_.noMore();
  sendAll();
  expectAll(1, 1, 100);
  ASSERT_EQ(ends_.size(), 2u);
  for (const v1::StreamEnd& end : ends_) EXPECT_EQ(end.problem(), "");
  EXPECT_TRUE(followers_.empty());
  followers_.follow(from(50, kPlenty, 3));
  sendAll();
  expectAll(3, 50, 100);
  EXPECT_EQ(ends_.size(), 3u);
}

TEST_F(FollowersTest, ThatGoGetNothingMore) {
  append(100);
  followers_.follow(from(1, 500));
  sendAll();
  followers_.unfollow(1);
  const std::size_t had = got_[1].size();
  followers_.addCredit(more(kPlenty));
  followers_.unfollow(1);
  sendAll();
  EXPECT_EQ(got_[1].size(), had);
  EXPECT_TRUE(followers_.empty());
  followers_.follow(from(had + 1, kPlenty));
  followers_.follow(from(had + 1, kPlenty));
  sendAll();
  expectAll(1, 1, 100);
}

TEST_F(FollowersTest, KnowWhatOutputIsMissing) {
  const testing::TempDir small;
  RecordWriter writer =
      RecordWriter::open(small.path(), {.bytes = 128 << 10, .kept_first = 8 << 10, .segment_bytes = 8 << 10})
          .value();
  while (writer.lastSequence() < 20'000) ASSERT_TRUE(testing::appendKnown(writer).ok());
  KnownRecords known;
  Followers followers(
      small.path(),
      {.send =
           [&](const v1::RunnerReport& report) {
             for (const v1::StoredRecord& record : report.records().records())
               known.take({record.sequence(), static_cast<RecordKind>(record.kind()), record.bytes()});
           },
       .has_room = [] { return true; }});
  followers.follow(from(1, kPlenty));
  while (followers.send()) {
  }
  EXPECT_EQ(known.last(), 20'000u);
  EXPECT_GT(known.gaps(), 0);
}

TEST_F(FollowersTest, LearnThatRecordsAreDamaged) {
  append(1000);
  // A byte in the middle of the journal.
  const std::string journal = directory_.path() + "/journal";
  const sys::Fd file(::open(journal.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::pwrite(file.get(), "?", 1, 2000), 1);
  followers_.follow(from(1, kPlenty));
  sendAll();
  ASSERT_EQ(ends_.size(), 1u);
  EXPECT_THAT(ends_.front().problem(), HasSubstr("damaged"));
  EXPECT_FALSE(got_[1].empty());
  EXPECT_TRUE(followers_.empty());
}

TEST_F(FollowersTest, OfAJobWithoutADirectoryLearnIt) {
  std::vector<v1::StreamEnd> ends;
  Followers followers("/nowhere",
                      {.send = [&](const v1::RunnerReport& report) { ends.push_back(report.end()); },
                       .has_room = [] { return true; }});
  followers.follow(from(1, kPlenty));
  EXPECT_FALSE(followers.send());
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_THAT(ends.front().problem(), HasSubstr("/nowhere"));
}

}  // namespace
}  // namespace pop::runner
