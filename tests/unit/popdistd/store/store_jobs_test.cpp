// SPDX-License-Identifier: Apache-2.0
// Jobs, their events, small records and numbers, as every store keeps them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::event;
using pop::testing::jobRecord;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreJobsTest : public pop::testing::StoreTest {};
INSTANTIATE_TEST_SUITE_P(Stores, StoreJobsTest, pop::testing::kPlaces, pop::testing::placeName);

TEST_P(StoreJobsTest, AreReadAsTheyWereWrittenById) {
  put(jobRecord(10, "request 10"));
  put(jobRecord(9));
  commit();
  const std::vector<v1::JobRecord> jobs = store_->jobs().value();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].SerializeAsString(), jobRecord(9).SerializeAsString());
  EXPECT_EQ(jobs[1].SerializeAsString(), jobRecord(10, "request 10").SerializeAsString());
}

TEST_P(StoreJobsTest, BecomeWhatWasWrittenLast) {
  put(jobRecord(1, "once"));
  v1::JobRecord job = jobRecord(1, "once");
  job.mutable_info()->set_state(v1::JOB_RUNNING);
  job.set_spec("another spec");
  put(job);
  const std::vector<v1::JobRecord> jobs = store_->jobs().value();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].SerializeAsString(), job.SerializeAsString());
}

TEST_P(StoreJobsTest, LoseTheirSpecWhenTheyEnd) {
  put(jobRecord(1));
  put(pop::testing::ended(jobRecord(1)));
  const std::vector<v1::JobRecord> jobs = store_->jobs().value();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].spec(), "");
  EXPECT_EQ(jobs[0].info().state(), v1::JOB_ENDED);
  EXPECT_EQ(jobs[0].info().ended().seconds(), 1'700'001'000);
}

TEST_P(StoreJobsTest, HaveARequestIdOfTheirOwn) {
  put(jobRecord(1, "request"));
  put(jobRecord(2));
  put(jobRecord(3));  // none is not the same one
  const Status status = store_->putJob(jobRecord(4, "request"));
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_THAT(status.message(), HasSubstr("job 1"));
  v1::JobRecord renamed = jobRecord(2, "request");
  EXPECT_EQ(store_->putJob(renamed).code(), Code::kAlreadyExists);
  commit();
  EXPECT_THAT(pop::testing::jobIds(*store_), ElementsAre(1, 2, 3));
  EXPECT_EQ(store_->jobs().value()[1].request_id(), "");
}

TEST_P(StoreJobsTest, HaveAPositiveId) {
  EXPECT_EQ(store_->putJob(jobRecord(0)).code(), Code::kInvalidArgument);
  EXPECT_THAT(pop::testing::jobIds(*store_), IsEmpty());
}

TEST_P(StoreJobsTest, GoWithTheirEventsAndTheirRequestId) {
  put(jobRecord(1, "request"));
  put(jobRecord(2));
  for (const std::int64_t job : {1, 2}) ASSERT_TRUE(store_->putEvent(job, event(7)).ok());
  ASSERT_TRUE(store_->removeJob(1).ok());
  EXPECT_THAT(pop::testing::jobIds(*store_), ElementsAre(2));
  EXPECT_THAT(store_->events(1, 0, 10).value(), IsEmpty());
  EXPECT_THAT(store_->events(2, 0, 10).value(), ElementsAre(event(7)));
  put(jobRecord(3, "request"));
  EXPECT_TRUE(store_->removeJob(99).ok());
  commit();
  EXPECT_THAT(store_->check().value().findings, IsEmpty());
}

TEST_P(StoreJobsTest, HaveEventsBySequenceEachOnce) {
  put(jobRecord(1));
  for (const std::uint64_t sequence : {5u, 1u, 300u}) ASSERT_TRUE(store_->putEvent(1, event(sequence)).ok());
  ASSERT_TRUE(store_->putEvent(1, {5, "told again, otherwise"}).ok());
  EXPECT_THAT(store_->events(1, 0, 10).value(), ElementsAre(event(1), event(5), event(300)));
  EXPECT_THAT(store_->events(1, 2, 1).value(), ElementsAre(event(5)));
  EXPECT_THAT(store_->events(1, 301, 10).value(), IsEmpty());
  EXPECT_THAT(store_->events(1, UINT64_MAX, 10).value(), IsEmpty());
  EXPECT_THAT(store_->events(1, 0, SIZE_MAX).value().size(), 3u);
}

TEST_P(StoreJobsTest, HaveNoEventsBeforeTheyAreThere) {
  const Status status = store_->putEvent(8, event(1));
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("job 8"));
  put(jobRecord(1));
  EXPECT_EQ(store_->putEvent(1, event(UINT64_MAX)).code(), Code::kInvalidArgument);
  EXPECT_THAT(store_->events(1, 0, 10).value(), IsEmpty());
}

TEST_P(StoreJobsTest, ReadBytesOfEveryValue) {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<char>(value));
  ASSERT_TRUE(store_->putRecord(RecordKind::kToken, bytes, bytes).ok());
  ASSERT_TRUE(store_->putRecord(RecordKind::kToken, "empty", "").ok());
  ASSERT_TRUE(store_->putMeta("empty", std::string_view()).ok());
  const NamedRecord all{bytes, bytes}, empty{"empty", ""};
  EXPECT_THAT(store_->records(RecordKind::kToken).value(), ElementsAre(all, empty));
  EXPECT_EQ(store_->meta("empty").value(), "");
}

TEST_P(StoreJobsTest, ShareAStoreWithRecordsOfEveryKind) {
  const RecordKind kinds[] = {RecordKind::kHost,       RecordKind::kCluster, RecordKind::kAgent,
                              RecordKind::kAllocation, RecordKind::kUser,    RecordKind::kToken,
                              RecordKind::kQuota};
  for (const RecordKind kind : kinds) {
    const std::string kind_number = std::to_string(static_cast<int>(kind));
    ASSERT_TRUE(store_->putRecord(kind, "b", "first").ok());
    ASSERT_TRUE(store_->putRecord(kind, "b", kind_number).ok());
    ASSERT_TRUE(store_->putRecord(kind, "a", "also").ok());
    ASSERT_TRUE(store_->putRecord(kind, "c", "gone").ok());
    ASSERT_TRUE(store_->removeRecord(kind, "c").ok());
  }
  EXPECT_TRUE(store_->removeRecord(RecordKind::kHost, "nobody").ok());
  commit();
  for (const RecordKind kind : kinds) {
    const NamedRecord also{"a", "also"}, own{"b", std::to_string(static_cast<int>(kind))};
    EXPECT_THAT(store_->records(kind).value(), ElementsAre(also, own));
  }
}

TEST_P(StoreJobsTest, ShareAStoreWithNumbers) {
  EXPECT_EQ(store_->meta("epoch").value(), std::nullopt);
  ASSERT_TRUE(store_->putMeta("epoch", "1").ok());
  ASSERT_TRUE(store_->putMeta("epoch", "2").ok());
  EXPECT_EQ(store_->meta("epoch").value(), "2");
}

}  // namespace
}  // namespace pop::popdistd
