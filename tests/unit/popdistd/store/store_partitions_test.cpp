// SPDX-License-Identifier: Apache-2.0
// Partitions: an IPU has one owner, a partition one job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/popdistd/store/store_fixture.h"

namespace pop::popdistd {
namespace {

using pop::testing::ipus;
using pop::testing::jobRecord;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StorePartitionsTest : public pop::testing::StoreTest {
 protected:
  void put(std::string_view id, const std::vector<IpuKey>& ipus, std::string_view bytes = "record") {
    const Status status = store_->putPartition(id, bytes, ipus);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  std::optional<StoredPartition> find(const std::string& id) {
    const std::vector<StoredPartition> partitions = store_->partitions().value();
    for (const StoredPartition& partition : partitions) {
      if (partition.id == id) return partition;
    }
    return std::nullopt;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, StorePartitionsTest, pop::testing::kPlaces, pop::testing::placeName);

TEST_P(StorePartitionsTest, AreReadAsTheyWereWritten) {
  put("b", ipus(4, 4), "of b");
  put("a", {{"pod", 1, 0}, {"other", 0, 4}, {"pod", 0, 9}}, "of a");
  commit();
  const std::vector<StoredPartition> partitions = store_->partitions().value();
  ASSERT_EQ(partitions.size(), 2u);
  EXPECT_EQ(partitions[0].id, "a");
  EXPECT_EQ(partitions[0].bytes, "of a");
  EXPECT_EQ(partitions[0].ipus, (std::vector<IpuKey>{{"other", 0, 4}, {"pod", 0, 9}, {"pod", 1, 0}}));
  EXPECT_EQ(partitions[0].job, std::nullopt);
  EXPECT_EQ(partitions[1].id, "b");
  EXPECT_EQ(partitions[1].ipus, ipus(4, 4));
}

TEST_P(StorePartitionsTest, OwnTheirIpusAlone) {
  put("p", ipus(0, 8));
  const Status status = store_->putPartition("q", "record", ipus(4, 8));
  EXPECT_EQ(status.code(), Code::kAlreadyExists);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("IPU 4"), HasSubstr("'pod'"), HasSubstr("'p'")));
  commit();
  EXPECT_FALSE(find("q").has_value());
  put("q", ipus(8, 8));
}

// The same number in another domain or cluster is another IPU.
TEST_P(StorePartitionsTest, OwnIpusOfADomainOfACluster) {
  put("p", {{"pod", 0, 0}});
  put("q", {{"pod", 1, 0}, {"other", 0, 0}});
}

TEST_P(StorePartitionsTest, KeepWhatTheyHadIfAChangeIsRefused) {
  put("p", ipus(0, 4));
  put("q", ipus(4, 4), "before");
  EXPECT_EQ(store_->putPartition("q", "after", {ipus(8, 60)}).code(), Code::kOk);
  EXPECT_EQ(store_->putPartition("q", "refused", {ipus(2, 60)}).code(), Code::kAlreadyExists);
  EXPECT_EQ(find("q")->bytes, "after");
  EXPECT_EQ(find("q")->ipus, ipus(8, 60));
  const std::vector<IpuKey> twice{{"pod", 0, 90}, {"pod", 0, 91}, {"pod", 0, 90}};
  EXPECT_EQ(store_->putPartition("q", "refused", twice).code(), Code::kInvalidArgument);
  EXPECT_EQ(find("q")->ipus, ipus(8, 60));
  commit();
  EXPECT_THAT(store_->check().value().findings, IsEmpty());
}

TEST_P(StorePartitionsTest, GiveUpIpusThatTheyNoLongerName) {
  put("p", ipus(0, 8));
  put("p", ipus(4, 4));
  put("q", ipus(0, 4));
  ASSERT_TRUE(store_->removePartition("p").ok());
  put("q", ipus(0, 8));
  EXPECT_FALSE(find("p").has_value());
  EXPECT_TRUE(store_->removePartition("p").ok());
}

TEST_P(StorePartitionsTest, HaveOneJobWhichHasOnePartition) {
  put("p", ipus(0, 4));
  put("q", ipus(4, 4));
  for (const std::int64_t job : {1, 2}) StoreTest::put(jobRecord(job));
  ASSERT_TRUE(store_->bind("p", 1).ok());
  EXPECT_TRUE(store_->bind("p", 1).ok()) << "it is so already";
  const Status taken = store_->bind("p", 2);
  EXPECT_EQ(taken.code(), Code::kAlreadyExists);
  EXPECT_THAT(taken.message(), AllOf(HasSubstr("'p'"), HasSubstr("job 1")));
  const Status second = store_->bind("q", 1);
  EXPECT_EQ(second.code(), Code::kAlreadyExists);
  EXPECT_THAT(second.message(), AllOf(HasSubstr("'p'"), HasSubstr("job 1")));
  commit();
  EXPECT_EQ(find("p")->job, 1);
  EXPECT_EQ(find("q")->job, std::nullopt);
  put("p", ipus(0, 4), "has become");
  EXPECT_EQ(find("p")->job, 1);
  ASSERT_TRUE(store_->unbind("p").ok());
  ASSERT_TRUE(store_->unbind("p").ok());
  ASSERT_TRUE(store_->bind("p", 2).ok());
  EXPECT_EQ(find("p")->job, 2);
}

TEST_P(StorePartitionsTest, StayWhileAJobIsBound) {
  put("p", ipus(0, 4));
  StoreTest::put(jobRecord(1));
  ASSERT_TRUE(store_->bind("p", 1).ok());
  const Status partition = store_->removePartition("p");
  EXPECT_EQ(partition.code(), Code::kFailedPrecondition);
  EXPECT_THAT(partition.message(), HasSubstr("job 1"));
  const Status job = store_->removeJob(1);
  EXPECT_EQ(job.code(), Code::kFailedPrecondition);
  EXPECT_THAT(job.message(), HasSubstr("'p'"));
  EXPECT_EQ(find("p")->ipus, ipus(0, 4));
  ASSERT_TRUE(store_->unbind("p").ok());
  EXPECT_TRUE(store_->removePartition("p").ok());
  EXPECT_TRUE(store_->removeJob(1).ok());
}

TEST_P(StorePartitionsTest, AreBoundOnlyIfBothAreThere) {
  const Status no_partition = store_->bind("p", 1);
  EXPECT_EQ(no_partition.code(), Code::kNotFound);
  EXPECT_THAT(no_partition.message(), HasSubstr("'p'"));
  put("p", ipus(0, 4));
  const Status no_job = store_->bind("p", 1);
  EXPECT_EQ(no_job.code(), Code::kNotFound);
  EXPECT_THAT(no_job.message(), HasSubstr("job 1"));
}

}  // namespace
}  // namespace pop::popdistd
