// SPDX-License-Identifier: Apache-2.0
// Bytes that are no record, or that would take more memory than any record of ours.
#include "common/wire/job_field_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/testing/allocation_peak.h"
#include "tests/unit/common/wire/job_samples.h"

namespace pop::wire {
namespace {

using ::testing::HasSubstr;

// So many fields of a few bytes each.
template <typename Message>
std::string repeated(const Message& message, std::size_t times) {
  const std::string once = message.SerializeAsString();
  std::string all;
  for (std::size_t time = 0; time < times; ++time) all += once;
  return all;
}

template <typename Message>
void expectRefused(const std::string& bytes, const char* mistake) {
  const testing::AllocationPeak peak;
  Message into;
  const Status status = readRecord(bytes, into);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(mistake));
  EXPECT_LT(peak.bytes(), 10'000U);
}

constexpr std::size_t kTooManyInstances = kMaxRecordElements + 1;

TEST(RecordReader, BuildsNoLongListsOfAJob) {
  v1::JobSpec variables;
  variables.add_environment();
  expectRefused<v1::JobSpec>(repeated(variables, kTooManyInstances), "more than 1048576 elements");
  v1::JobSpec hosts;
  hosts.add_hosts();
  expectRefused<v1::JobSpec>(repeated(hosts, kTooManyInstances), "more than 1048576 elements");
  v1::JobSpec paths;
  for (int path = 0; path < 1024; ++path) paths.mutable_copies()->add_paths();
  expectRefused<v1::JobSpec>(repeated(paths, 1024), "more than 1048576 elements");
  v1::JobSpec words;
  words.add_programs();
  for (int word = 0; word < 1024; ++word) words.mutable_programs(0)->add_command();
  expectRefused<v1::JobSpec>(repeated(words, 1024), "more than 1048576 elements");
  v1::JobSpec sets;
  for (int set = 0; set < 1024; ++set) sets.mutable_binding()->add_explicit_cpus();
  expectRefused<v1::JobSpec>(repeated(sets, 1024), "more than 1048576 elements");
}

TEST(RecordReader, BuildsNoLongListsOfAnEvent) {
  v1::JobEvent places;
  places.mutable_placed()->add_instances();
  expectRefused<v1::JobEvent>(repeated(places, kTooManyInstances), "more than 1048576 elements");
  v1::JobEvent stacks;
  stacks.mutable_outcome()->add_stack_traces();
  expectRefused<v1::JobEvent>(repeated(stacks, kTooManyInstances), "more than 1048576 elements");
  v1::JobEvent failed_stacks;
  failed_stacks.mutable_restarting()->mutable_failed()->add_stack_traces();
  expectRefused<v1::JobEvent>(repeated(failed_stacks, kTooManyInstances), "more than 1048576 elements");
}

TEST(RecordReader, ReadsNoMoreBytesThanARecordHas) {
  expectRefused<v1::Output>(std::string(kMaxRecordBytes + 1, '\0'), "a record of 67108865 bytes");
}

TEST(RecordReader, RefusesWhatIsCutOff) {
  const std::string job = encode(testing::sampleSpec());
  expectRefused<v1::JobSpec>(job.substr(0, job.size() - 1), "cannot be read");
  const std::string output = encode(testing::sampleOutput());
  expectRefused<v1::Output>(output.substr(0, output.size() - 1), "cannot be read");
  expectRefused<v1::JobEvent>("\x0a", "cannot be read");
}

// Not as a text of ours, which is UTF-8.
TEST(RecordReader, RefusesStringsThatAreNoUtf8) {
  expectRefused<v1::JobEvent>("\x22\x03\x0a\x01\xff", "cannot be read");
}

}  // namespace
}  // namespace pop::wire
