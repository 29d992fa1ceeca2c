// SPDX-License-Identifier: Apache-2.0
// Damaged records of a job, from its directory or the runner's socket: they are refused, or what they say can
// be placed, shown and written again. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <variant>

#include "common/base/random.h"
#include "common/model/placement.h"
#include "common/wire/job_codec.h"
#include "poprun/plan/binding_report.h"
#include "poprun/ui/summary.h"
#include "tests/unit/common/wire/job_samples.h"

namespace pop::wire {
namespace {

using testing::kSampleInstances;

constexpr std::uint64_t kJobRecordsRounds = 60'000;

std::string damaged(std::string bytes, SplitMix64& random) {
  for (std::uint64_t times = 1 + random.below(4); times > 0 && !bytes.empty(); --times) {
    const std::size_t at = random.below(bytes.size());
    switch (random.below(5)) {
      case 0:
        bytes.erase(at, 1 + random.below(8));
        break;
      case 1:
        bytes.insert(at, bytes.substr(random.below(bytes.size()), random.below(40)));
        break;
      case 2:
        bytes[at] = static_cast<char>(random.next());
        break;
      default:  // most of what is read at all
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
    }
  }
  return bytes;
}

// A job whose numbers hold, so that some damage leaves them so.
model::JobSpec runnableSpec() {
  model::JobSpec spec = testing::sampleSpec();
  spec.ipus_per_replica = 1;
  spec.num_ilds = 1;
  spec.min_hosts = 1;
  return spec;
}

TEST(JobRecordsFuzz, JobsCanBePlacedOrAreRefused) {
  const std::string whole = encode(runnableSpec());
  ASSERT_TRUE(model::findMistakes(runnableSpec()).empty());
  int placed = 0;
  for (std::uint64_t round = 0; round < kJobRecordsRounds; ++round) {
    SplitMix64 random(round);
    const Result<model::JobSpec> spec = decodeSpec(damaged(whole, random));
    if (!spec.ok()) {
      ASSERT_EQ(spec.code(), Code::kInvalidArgument) << round;
      continue;
    }
    const Result<model::JobSpec> again = decodeSpec(encode(spec.value()));
    ASSERT_TRUE(again.ok()) << round << ": " << again.status().message();
    ASSERT_TRUE(again.value() == spec.value()) << round;
    if (!model::findMistakes(spec.value()).empty()) continue;
    ++placed;
    for (const model::InstancePlacement& each : model::place(spec.value())) {
      ASSERT_LT(static_cast<std::size_t>(each.host), spec.value().hosts.size()) << round;
      ASSERT_FALSE(spec.value()
                       .programs[static_cast<std::size_t>(programOf(spec.value(), each.instance))]
                       .command.empty())
          << round;
    }
  }
  EXPECT_GT(placed, 1000);
}

void show(const JobEvent& event, const model::JobSpec& spec) {
  if (const auto* const outcome = std::get_if<JobOutcome>(&event))
    static_cast<void>(summaryOf(*outcome, spec, {}));
  if (const auto* const restarting = std::get_if<Restarting>(&event))
    static_cast<void>(restartNotice(restarting->failed, spec, restarting->restart));
  if (const auto* const placed = std::get_if<Placed>(&event)) {
    ASSERT_EQ(placed->instances.size(), static_cast<std::size_t>(spec.num_instances));
    static_cast<void>(bindingReport(placed->instances));
  }
}

TEST(JobRecordsFuzz, EventsCanBeShownOrAreRefused) {
  const model::JobSpec spec = runnableSpec();
  int shown = 0;
  for (std::uint64_t round = 0; round < kJobRecordsRounds; ++round) {
    SplitMix64 random(round);
    const std::vector<JobEvent> events = testing::sampleEvents();
    const Result<JobEvent> event =
        decodeEvent(damaged(encode(events[random.below(events.size())]), random), kSampleInstances);
    if (!event.ok()) {
      ASSERT_EQ(event.code(), Code::kInvalidArgument) << round;
      continue;
    }
    ++shown;
    show(event.value(), spec);
    const Result<JobEvent> again = decodeEvent(encode(event.value()), kSampleInstances);
    ASSERT_TRUE(again.ok()) << round << ": " << again.status().message();
    ASSERT_TRUE(again.value() == event.value()) << round;
  }
  EXPECT_GT(shown, 1000);
}

TEST(JobRecordsFuzz, OutputIsOfOneOfTheInstances) {
  const std::string whole = encode(testing::sampleOutput());
  int read = 0;
  for (std::uint64_t round = 0; round < kJobRecordsRounds; ++round) {
    SplitMix64 random(round);
    const Result<Output> output = decodeOutput(damaged(whole, random), kSampleInstances);
    if (!output.ok()) {
      ASSERT_EQ(output.code(), Code::kInvalidArgument) << round;
      continue;
    }
    ++read;
    ASSERT_GE(output.value().instance, 0) << round;
    ASSERT_LT(output.value().instance, kSampleInstances) << round;
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace pop::wire
