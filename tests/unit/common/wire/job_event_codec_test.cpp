// SPDX-License-Identifier: Apache-2.0
// Events of a job come back from its record, for the same lines on a terminal; impossible ones are refused by
// name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "common/base/text.h"
#include "common/wire/job_codec.h"
#include "proto/popdist/v1/job.pb.h"
#include "tests/unit/common/wire/job_fields.h"
#include "tests/unit/common/wire/job_samples.h"

namespace pop::wire {
namespace {

using ::testing::HasSubstr;
using testing::kNoUtf8;
using testing::kSampleInstances;
using testing::sampleOutcome;
using testing::withEachField;

namespace v1 = ::popdist::v1;

JobEvent throughARecord(const JobEvent& event) {
  const Result<JobEvent> decoded = decodeEvent(encode(event), kSampleInstances);
  EXPECT_TRUE(decoded.ok()) << decoded.status().message();
  return decoded.ok() ? decoded.value() : Said{"was not read"};
}

void expectThatItComesBack(const JobEvent& event) {
  EXPECT_TRUE(throughARecord(event) == event);
}

TEST(EventCodec, BringsEveryEventBack) {
  for (const JobEvent& event : testing::sampleEvents()) {
    SCOPED_TRACE(event.index());
    expectThatItComesBack(event);
  }
  EXPECT_EQ(testing::sampleEvents().size(), std::variant_size_v<JobEvent>);
}

TEST(EventCodec, BringsEachFieldBack) {
  withEachField(LogEntry{.instance = 1}, testing::sampleLogEntry(), expectThatItComesBack);
  withEachField(JobOutcome(), sampleOutcome(), expectThatItComesBack);
  withEachField(JobOutcome{.failure = Failure{.reason = "was killed"}}, sampleOutcome(),
                [](const JobOutcome& failed) {
                  expectThatItComesBack(Restarting{failed, 1});
                });
  withEachField(Failure(), testing::sampleFailure(),
                [](const Failure& failure) { expectThatItComesBack(JobOutcome{.failure = failure}); });
  withEachField(StackTrace(), sampleOutcome().stack_traces.front(),
                [](const StackTrace& trace) { expectThatItComesBack(JobOutcome{.stack_traces = {trace}}); });
}

TEST(EventCodec, BringsEachFieldOfAPlaceBack) {
  const auto placed = [](const PlacedInstance& instance) {
    Placed all = testing::samplePlaced();
    all.instances[1] = instance;
    expectThatItComesBack(all);
  };
  withEachField(PlacedInstance{.host = "h"}, testing::samplePlaced().instances.front(), placed);
  withEachField(model::Binding(), testing::sampleBinding(),
                [&](const model::Binding& binding) { placed({.host = "h", .binding = binding}); });
}

TEST(EventCodec, BringsEveryKindBack) {
  for (int kind = 0; kind <= static_cast<int>(EventKind::kInstanceClosed); ++kind)
    expectThatItComesBack(LogEntry{.instance = 1, .kind = static_cast<EventKind>(kind)});
  expectThatItComesBack(LogEntry{.text = "of the whole job", .kind = EventKind::kJobStarting});
}

TEST(EventCodec, BringsOutputBackByteForByte) {
  withEachField(Output(), testing::sampleOutput(), [](const Output& output) {
    const Result<Output> decoded = decodeOutput(encode(output), kSampleInstances);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_TRUE(decoded.value() == output);
  });
}

// A reader of JSON needs UTF-8; a terminal shows the same.
TEST(EventCodec, EscapesTextsThatAreNoUtf8) {
  const std::string text = "\xff\n\x1b \xc3\xa4 " + kNoUtf8;
  const auto expectSame = [&](const std::string& came) {
    EXPECT_EQ(came, validUtf8(text));
    EXPECT_EQ(printable(came), printable(text));
  };
  expectSame(std::get<LogEntry>(throughARecord(LogEntry{.text = text})).text);
  expectSame(std::get<Said>(throughARecord(Said{text})).line);
  const JobOutcome outcome{
      .failure = Failure{.reason = text}, .why_not_again = text, .stack_traces = {{.text = text}}};
  const auto came = std::get<JobOutcome>(throughARecord(outcome));
  expectSame(came.failure->reason);
  expectSame(came.why_not_again);
  expectSame(came.stack_traces.front().text);
  Placed placed = testing::samplePlaced();
  placed.instances.front().binding.reason = text;
  expectSame(std::get<Placed>(throughARecord(placed)).instances.front().binding.reason);
}

struct Refusal {
  const char* mistake;  ///< in the message
  std::function<void(v1::JobEvent&)> make;
};

class EventRefusal : public ::testing::TestWithParam<Refusal> {};

TEST_P(EventRefusal, NamesTheMistake) {
  v1::JobEvent message;
  GetParam().make(message);
  const Result<JobEvent> decoded = decodeEvent(message.SerializeAsString(), kSampleInstances);
  ASSERT_FALSE(decoded.ok());
  EXPECT_EQ(decoded.code(), Code::kInvalidArgument);
  EXPECT_THAT(decoded.status().message(), HasSubstr(GetParam().mistake));
}

void place(v1::JobEvent& event, int instances, const char* host, const char* cpus) {
  for (int instance = 0; instance < instances; ++instance) {
    v1::PlacedInstance* const each = event.mutable_placed()->add_instances();
    each->set_host(host);
    each->mutable_binding()->set_cpus(cpus);
    each->mutable_binding()->set_threads(1);
  }
}

const Refusal kRefusals[] = {
    {"an event without a body", [](v1::JobEvent&) {}},
    {"kind 6 of event",
     [](v1::JobEvent& event) {
       event.mutable_log()->set_instance(0);
       event.mutable_log()->set_kind(static_cast<v1::EventKind>(6));
     }},
    {"instance 3 of 3", [](v1::JobEvent& event) { event.mutable_log()->set_instance(3); }},
    {"instance -1 of 3", [](v1::JobEvent& event) { event.mutable_log()->set_instance(-1); }},
    {"does not say which",
     [](v1::JobEvent& event) { event.mutable_log()->set_kind(v1::EVENT_INSTANCE_STARTED); }},
    {"after_ms is -1", [](v1::JobEvent& event) { event.mutable_log()->set_after_ms(-1); }},
    {"2 of 3 instances placed", [](v1::JobEvent& event) { place(event, 2, "h", ""); }},
    {"4 of 3 instances placed", [](v1::JobEvent& event) { place(event, 4, "h", ""); }},
    {"'../h' is not a host name", [](v1::JobEvent& event) { place(event, 3, "../h", ""); }},
    {"'1-0' is not a number", [](v1::JobEvent& event) { place(event, 3, "h", "1-0"); }},
    {"a binding of 0 threads",
     [](v1::JobEvent& event) {
       place(event, 3, "h", "0");
       event.mutable_placed()->mutable_instances(2)->clear_binding();
     }},
    {"a restart without a failure",
     [](v1::JobEvent& event) { event.mutable_restarting()->mutable_failed(); }},
    {"restart is -1",
     [](v1::JobEvent& event) {
       event.mutable_restarting()->mutable_failed()->mutable_failure();
       event.mutable_restarting()->set_restart(-1);
     }},
    {"signal 64", [](v1::JobEvent& event) { event.mutable_outcome()->set_user_signal(64); }},
    {"signal -1", [](v1::JobEvent& event) { event.mutable_outcome()->set_user_signal(-1); }},
    {"restarts is -1", [](v1::JobEvent& event) { event.mutable_outcome()->set_restarts(-1); }},
    {"instances_stopped is -1",
     [](v1::JobEvent& event) { event.mutable_outcome()->set_instances_stopped(-1); }},
    {"hosts_unanswered is -1",
     [](v1::JobEvent& event) { event.mutable_outcome()->set_hosts_unanswered(-1); }},
    {"instance 7 of 3",
     [](v1::JobEvent& event) { event.mutable_outcome()->mutable_failure()->set_instance(7); }},
    {"pid is -1", [](v1::JobEvent& event) { event.mutable_outcome()->mutable_failure()->set_pid(-1); }},
    {"instances_lost is -1",
     [](v1::JobEvent& event) { event.mutable_outcome()->mutable_failure()->set_instances_lost(-1); }},
    {"after_ms is -5",
     [](v1::JobEvent& event) { event.mutable_outcome()->mutable_failure()->set_after_ms(-5); }},
    {"instance 4 of 3",
     [](v1::JobEvent& event) { event.mutable_outcome()->add_stack_traces()->set_instance(4); }},
    {"pid is -2", [](v1::JobEvent& event) { event.mutable_outcome()->add_stack_traces()->set_pid(-2); }},
};
INSTANTIATE_TEST_SUITE_P(Each, EventRefusal, ::testing::ValuesIn(kRefusals));

TEST(EventCodec, RefusesOutputOfNoInstance) {
  for (const int instance : {-1, kSampleInstances}) {
    const Result<Output> decoded = decodeOutput(encode(Output{.instance = instance}), kSampleInstances);
    ASSERT_FALSE(decoded.ok());
    EXPECT_EQ(decoded.code(), Code::kInvalidArgument);
    EXPECT_THAT(decoded.status().message(), HasSubstr("instance " + std::to_string(instance) + " of 3"));
  }
}

}  // namespace
}  // namespace pop::wire
