// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/pod/device/pod_trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "libpopdist/pod/device/pod_clock.h"
#include "tests/testing/temp_dir.h"
#include "tests/unit/libpopdist/trace/trace_events.h"

namespace popdist::pod {
namespace {

using std::chrono::microseconds;
using trace::numberOf;
using trace::textOf;

struct Slice {
  std::string track;
  std::string name;
  double begin_us = 0;
  double end_us = 0;

  friend bool operator==(const Slice&, const Slice&) = default;
};

class ThePodsTrace : public ::testing::Test {
 protected:
  ThePodsTrace() { recorder_.setInstance(0); }

  std::vector<pop::JsonValue> events() {
    recorder_.flush();
    return trace::eventsOf(traces_ + "/instance-0.json");
  }

  // The tracks of all Pods in the file, but for their IPUs and links.
  std::vector<Slice> slices() {
    std::vector<Slice> found = slicesOfAll();
    std::erase_if(found, [](const Slice& slice) {
      return slice.track != "computation" && slice.track != "collectives" && slice.track != "streaming";
    });
    return found;
  }

  std::vector<Slice> slicesOfAll() {
    std::map<std::pair<double, double>, std::string> tracks;
    std::vector<Slice> found;
    const std::vector<pop::JsonValue> all = events();
    for (const pop::JsonValue& event : all) {
      const std::pair track{numberOf(event, "pid"), numberOf(event, "tid")};
      const double begin = numberOf(event, "ts");
      if (textOf(event, "name") == "thread_name") tracks[track] = textOf(*event.find("args"), "name");
      if (textOf(event, "ph") == "X")
        found.push_back({tracks[track], textOf(event, "name"), begin, begin + numberOf(event, "dur")});
    }
    return found;
  }

  // 40 KiB on all replicas of a Pod4, and how long it takes.
  double addAllReduce(PodClock& clock) {
    const Collective all{.kind = CollectiveKind::kAllReduce, .group = {4, 1}, .count = 10240};
    pop::Result<Program*> program = programs_.of(all);
    EXPECT_TRUE(program.ok()) << program.status().message();
    clock.addCollective(**program);
    return inMicroseconds((*program)->report.time);
  }
  static double inMicroseconds(SimulatedTime time) { return static_cast<double>(time.count()) / 1e6; }

  PodClock clockOf(int instance) { return PodClock(makePodTrace(&recorder_, instance, layout_)); }

  // The arguments of the first slice on this track.
  pop::JsonValue argumentsOn(int track) {
    const std::vector<pop::JsonValue> all = events();
    for (const pop::JsonValue& event : all)
      if (numberOf(event, "tid") == track && textOf(event, "ph") == "X") return *event.find("args");
    ADD_FAILURE() << "nothing is on track " << track;
    return {};
  }

  const pop::testing::TempDir directory_;
  const std::string traces_ = directory_ / "traces";
  trace::Recorder recorder_{traces_};
  const ReplicaLayout layout_{podSpecByName("pod4").value(), 4, 1};
  Programs programs_{layout_, "auto", ""};
};

TEST_F(ThePodsTrace, IsAProcessWithATrackForEachThatTakesTime) {
  PodClock clock = clockOf(0);
  std::vector<std::string> names;
  const std::vector<pop::JsonValue> all = events();
  for (std::size_t at = 1; at < all.size(); ++at) {  // the first is this process itself
    names.push_back(textOf(*all[at].find("args"), "name"));
    EXPECT_GE(numberOf(all[at], "pid"), 1 << 30);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"pod4 (simulated time)", "computation", "collectives", "streaming"}));
}

TEST_F(ThePodsTrace, OneFollowsTheOtherUntilThePodsTime) {
  PodClock clock = clockOf(0);
  ASSERT_TRUE(clock.addCompute(microseconds(50)).ok());
  const double sum = addAllReduce(clock);
  ASSERT_TRUE(clock.addStreaming(microseconds(7)).ok());
  ASSERT_TRUE(clock.addStreaming(microseconds(0)).ok());
  const std::vector<Slice> found = slices();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (Slice{"computation", "computation", 0, 50}));
  EXPECT_EQ(found[1], (Slice{"collectives", "all-reduce", 50, 50 + sum}));
  EXPECT_EQ(found[2].track, "streaming");
  EXPECT_DOUBLE_EQ(found[2].begin_us, found[1].end_us);
  EXPECT_DOUBLE_EQ(found[2].end_us, inMicroseconds(clock.time()));
}

TEST_F(ThePodsTrace, AnOverlapIsSideBySide) {
  PodClock clock = clockOf(0);
  ASSERT_TRUE(clock.addCompute(microseconds(10)).ok());
  clock.beginOverlap();
  clock.beginOverlap();
  ASSERT_TRUE(clock.addCompute(microseconds(3)).ok());
  clock.endOverlap();
  ASSERT_TRUE(clock.addStreaming(microseconds(5)).ok());
  ASSERT_TRUE(clock.addCompute(microseconds(4)).ok());
  clock.endOverlap();
  ASSERT_TRUE(clock.addStreaming(microseconds(1)).ok());
  EXPECT_EQ(slices(), (std::vector<Slice>{{"computation", "computation", 0, 10},
                                          {"computation", "computation", 10, 13},
                                          {"streaming", "streaming", 10, 15},
                                          {"computation", "computation", 13, 17},
                                          {"streaming", "streaming", 17, 18}}));
  EXPECT_EQ(clock.time(), microseconds(18));
}

TEST_F(ThePodsTrace, ACollectiveSaysWhatItWas) {
  PodClock clock = clockOf(0);
  addAllReduce(clock);
  const PodCollective& report = clock.lastCollective();
  const pop::JsonValue said = argumentsOn(1);
  EXPECT_EQ(textOf(said, "method"), report.method);
  EXPECT_EQ(numberOf(said, "bytes"), 40960);
  EXPECT_EQ(numberOf(said, "rounds"), report.rounds);
  EXPECT_EQ(numberOf(said, "efficiency"), report.efficiency());
  EXPECT_EQ(numberOf(said, "bound_us"), inMicroseconds(report.lower_bound));
}

TEST_F(ThePodsTrace, EachIpuAndLinkThatACollectiveUsesHasItOnATrack) {
  PodClock clock = clockOf(0);
  ASSERT_TRUE(clock.addCompute(microseconds(50)).ok());
  const double sum = addAllReduce(clock);
  std::map<std::string, int> slices_on;
  const std::vector<Slice> all = slicesOfAll();
  for (const Slice& slice : all) {
    ++slices_on[slice.track];
    if (slice.track == "computation") continue;
    EXPECT_EQ(slice, (Slice{slice.track, "all-reduce", 50, 50 + sum}));
  }
  for (const char* const track : {"ipu0", "ipu1", "ipu2", "ipu3", "ipu0 to ipu1", "ipu3 to ipu2"})
    EXPECT_EQ(slices_on[track], 1) << track;
  EXPECT_FALSE(slices_on.contains("ipu0 to gw0"));
  const pop::JsonValue ipu = argumentsOn(3);
  EXPECT_EQ(numberOf(ipu, "bytes"), 61440);  // 3/4 of 40 KiB, scattered and gathered
  EXPECT_GT(numberOf(ipu, "busy"), 0);
  EXPECT_LT(numberOf(ipu, "busy"), 1);
}

TEST_F(ThePodsTrace, CollectivesWithinReplicasAreOnTheirIpusAndLinks) {
  const ReplicaLayout pairs{podSpecByName("pod4").value(), 2, 2};
  Programs across(pairs, "auto", "");
  const std::unique_ptr<Programs> within = across.withinReplicas();
  PodClock clock(makePodTrace(&recorder_, 0, pairs));
  const Collective in_pairs{.kind = CollectiveKind::kAllReduce, .group = {2, 1}, .count = 10240};
  pop::Result<Program*> program = within->of(in_pairs);
  ASSERT_TRUE(program.ok()) << program.status().message();
  clock.addCollective(**program);
  std::set<std::string> tracks;
  const std::vector<Slice> all = slicesOfAll();
  for (const Slice& slice : all) {
    tracks.insert(slice.track);
    EXPECT_EQ(slice.name, "all-reduce within replicas");
  }
  EXPECT_EQ(tracks, (std::set<std::string>{"collectives", "ipu0", "ipu1", "ipu2", "ipu3", "ipu0 to ipu1",
                                           "ipu1 to ipu0", "ipu2 to ipu3", "ipu3 to ipu2"}));
}

TEST_F(ThePodsTrace, IpusAndLinksLeaveRoomForAllElse) {
  PodClock clock(std::make_unique<PodTrace>(recorder_, layout_, 1));
  ::testing::internal::CaptureStderr();
  addAllReduce(clock);
  const std::size_t first = slicesOfAll().size();
  addAllReduce(clock);
  addAllReduce(clock);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(slicesOfAll().size(), first + 2);
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("IPUs and links end here"), std::string::npos) << said;
}

TEST_F(ThePodsTrace, EachPodOfAProcessHasItsOwn) {
  for (PodClock clocks[] = {clockOf(0), clockOf(0)}; PodClock & clock : clocks)
    ASSERT_TRUE(clock.addCompute(microseconds(1)).ok());
  std::set<double> processes;
  const std::vector<pop::JsonValue> all = events();
  for (const pop::JsonValue& event : all) processes.insert(numberOf(event, "pid"));
  EXPECT_EQ(processes.size(), 3U);
}

TEST_F(ThePodsTrace, OtherInstancesWriteNone) {
  PodClock clock = clockOf(1);
  ASSERT_TRUE(clock.addCompute(microseconds(1)).ok());
  recorder_.flush();
  EXPECT_FALSE(std::filesystem::exists(traces_));
  EXPECT_EQ(makePodTrace(nullptr, 0, layout_), nullptr);
}

}  // namespace
}  // namespace popdist::pod
