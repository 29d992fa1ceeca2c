// SPDX-License-Identifier: Apache-2.0
// `poprun simulate` on the Pods that were measured, with the simulated clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "common/base/json_reader.h"
#include "pod/chakra/execution_trace.h"
#include "tests/testing/file_text.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string example(const std::string& file) {
  return POP_SOURCE_DIR "/examples/pods/" + file;
}

Outcome simulate(std::vector<std::string> options) {
  options.insert(options.begin(), "simulate");
  return run({.options = options});
}

Outcome simulateExample(const std::string& name, std::vector<std::string> options) {
  options.insert(options.begin(), {"--model", example(name + ".model"), "--fit", example(name + ".csv")});
  return simulate(options);
}

JsonValue parsed(const Outcome& outcome) {
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return parseJson(outcome.out).value();
}

double heldOutError(const std::string& name, const std::string& held_out) {
  const JsonValue report = parsed(simulateExample(name, {"--hold-out", held_out, "--json"}));
  for (const JsonValue& each : *report.find("runs")->array()) {
    if (*each.find("held_out")->boolean()) return std::abs(each.find("error")->number().value());
  }
  return 1;
}

TEST(Simulate, PredictsPodsThatWereHeldOut) {
  for (const char* held_out : {"pod16", "pod64", "pod128", "pod256"})
    EXPECT_LE(heldOutError("resnet50_v1.1", held_out), 0.05) << held_out;
  EXPECT_LE(heldOutError("bert_large_v2.0", "bow-pod16"), 0.05) << "of another memory format";
}

TEST(Simulate, PredictsEachPodOfTheChipAndSaysWhereTheTimeGoes) {
  const Outcome result = simulateExample("resnet50_v1.1", {});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  for (const char* text : {"## What the runs say", "micro_batch_time", "| pod256 ", "Amdahl's law"})
    EXPECT_THAT(result.out, HasSubstr(text));
  EXPECT_THAT(result.out, Not(HasSubstr("bow-")));
  EXPECT_THAT(simulateExample("resnet50_v1.1", {"--svg"}).out, StartsWith("<svg"));
}

TEST(Simulate, PartsComeToTheStep) {
  const JsonValue report = parsed(simulateExample("resnet50_v1.1", {"--system", "pod128,pod256", "--json"}));
  const JsonValue::Array& predictions = *report.find("predictions")->array();
  ASSERT_EQ(predictions.size(), 2U);
  for (const JsonValue& each : predictions) {
    double sum = 0;
    for (const auto& [name, seconds] : *each.find("step_parts")->object()) sum += seconds.number().value();
    EXPECT_NEAR(sum, each.find("step")->number().value(), 1e-12);
  }
}

TEST(Simulate, AnExportedModelPredictsTheSame) {
  const TempDir directory;
  const std::string model = directory / "fitted.model";
  const JsonValue learned = parsed(
      simulateExample("bert_large_v2.0", {"--hold-out", "bow-pod16", "--export-model", model, "--json"}));
  const JsonValue again = parsed(simulate({"--model", model, "--json"}));
  const JsonValue::Array& first = *learned.find("predictions")->array();
  const JsonValue::Array& second = *again.find("predictions")->array();
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    EXPECT_NEAR(first[i].find("step")->number().value(), second[i].find("step")->number().value(), 1e-6);
  EXPECT_THAT(fileText(model), HasSubstr("# Learned by poprun simulate --fit"));
  EXPECT_EQ(simulateExample("bert_large_v2.0", {"--export-model", model}).exit_code, 125) << "it is there";
}

TEST(Simulate, LearnsFromAScalingLog) {
  const TempDir directory;
  const std::string log = directory / "runs.jsonl";
  const auto row = [](int replicas, int accumulation, double seconds) {
    return R"({"replicas":)" + std::to_string(replicas) +
           R"(,"instances":1,"micro_batch":20,"accumulation":)" + std::to_string(accumulation) +
           R"(,"updates":10,"seconds":{"all":)" + std::to_string(seconds) +
           R"(,"input":0,"step":0,"reduction":0,"update":0,"constant":0}})" + "\n";
  };
  std::ofstream(log) << row(16, 10, 1.079) << row(64, 3, 0.3546);
  const Outcome result = simulate({"--model", example("resnet50_v1.1.model"), "--fit", log});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("| pod16 "));
  EXPECT_THAT(result.out, HasSubstr("no run is on several IPU-Link domains"));
}

TEST(Simulate, ErrorsNameTheFileAndWhatToDo) {
  const TempDir directory;
  const std::string model = directory / "x.model";
  std::ofstream(model) << "chip = Mk2\nmicro_batch = 20\ngradients = 51.1\n";
  const Outcome mistyped = simulate({"--model", model});
  EXPECT_EQ(mistyped.exit_code, 125);
  EXPECT_EQ(mistyped.out, "");
  EXPECT_THAT(mistyped.err, HasSubstr(model + "', line 3: gradients: '51.1' has no unit"));
  EXPECT_THAT(simulate({"--model", directory / "none"}).err, HasSubstr("none"));
  EXPECT_THAT(simulate({"--model", example("resnet50_v1.1.model")}).err,
              HasSubstr("no micro_batch_time: measure it and write it there, or learn it with --fit"));
  EXPECT_THAT(simulateExample("bert_large_v1.1", {}).err, HasSubstr("all of them have 110 slots"));
  EXPECT_THAT(simulateExample("resnet50_v1.1", {"--hold-out", "pod4"}).err, HasSubstr("has no run on pod4"));
  EXPECT_THAT(simulateExample("resnet50_v1.1", {"--system", "bow-pod64"}).err,
              HasSubstr("those of Mk2 IPUs"));
  EXPECT_THAT(simulateExample("resnet50_v1.1", {"--system", "pod4", "--num-replicas", "5"}).err,
              HasSubstr("need 5 IPUs, and pod4 has 4"));
}

TEST(Simulate, AProgramOfThatNameIsStartedAfterDashes) {
  const Outcome result = run({.options = {"--", "simulate"}});
  EXPECT_EQ(result.exit_code, 127) << "there is none";
  EXPECT_EQ(simulate({"--help"}).exit_code, 0);
}

TEST(SimulateAllReduce, GivesEachWayAndItsTimeBesideTheBound) {
  const JsonValue report =
      parsed(simulate({"--all-reduce", "64 MiB", "--system", "pod64,pod64-torus", "--json"}));
  const auto* systems = report.find("systems")->array();
  ASSERT_EQ(systems->size(), 2U);
  for (const JsonValue& system : *systems) {
    const double bound = system.find("bound_seconds")->number().value();
    const auto* ways = system.find("algorithms")->array();
    double before = bound;
    int gcl_choices = 0;
    for (const JsonValue& way : *ways) {
      const double seconds = way.find("seconds")->number().value();
      EXPECT_GE(seconds, before) << "the quickest first, none below the bound";
      before = seconds;
      if (*way.find("gcl_choice")->boolean()) {
        ++gcl_choices;
        EXPECT_EQ(*way.find("algorithm")->text(), "meet_in_middle_ring");
        EXPECT_EQ(way.find("rounds")->number().value(), 64);
      }
    }
    EXPECT_EQ(gcl_choices, 1);
  }
}

TEST(SimulateAllReduce, ShowsItsSteps) {
  const Outcome result = simulate({"--all-reduce=1KB", "--system=pod4", "--num-replicas=2",
                                   "--ipus-per-replica=2", "--algorithm=gcl", "--show-steps"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "# clockwise_ring: 2 replicas, 2 blocks, 2 rounds\n"
            "replica 0: IPU 0-1\nreplica 1: IPU 2-3\n"
            "\nround 0, reduce-scatter\n0 -> 1: block 1, added\n1 -> 0: block 0, added\n"
            "\nround 1, all-gather\n0 -> 1: block 0\n1 -> 0: block 1\n");
}

TEST(SimulateSystem, IsPrintedAsAFileThatIsThatSystem) {
  const TempDir directory;
  const std::string file = directory.path() + "/own.system";
  const Outcome text = simulate({"--system", "pod64-torus", "--show-system", "--slow-ipu", "ipu3=0.5"});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("speed ipu3 0.5\n"));
  std::ofstream(file) << text.out;
  EXPECT_EQ(simulate({"--system", file, "--show-system"}).out, text.out);
}

TEST(SimulateSystem, IsDrawnWithItsReplicas) {
  const Outcome picture = simulate(
      {"--system", "pod16", "--show-system", "--svg", "--num-replicas", "2", "--ipus-per-replica", "4"});
  EXPECT_EQ(picture.exit_code, 0) << picture.err;
  EXPECT_THAT(picture.out, HasSubstr("</svg>"));
  EXPECT_NE(picture.out, simulate({"--system", "pod16", "--show-system", "--svg"}).out);
  EXPECT_THAT(simulate({"--system", "pod16", "--show-system", "--svg", "--num-replicas", "17"}).err,
              HasSubstr("there are 16"));
}

TEST(SimulateAllReduce, TakesASystemFileAndNamesItsWrongLine) {
  const TempDir directory;
  const std::string file = directory.path() + "/slow.system";
  std::ofstream(file) << "system slow\nbase pod16\nrate rail 14.6 GB/s\n";
  EXPECT_THAT(simulate({"--all-reduce", "1MB", "--system", file}).out,
              HasSubstr("on slow, 16 replicas of 1 IPU"));
  std::ofstream(file) << "system slow\nbase pod16\nrate rail 0 GB/s\n";
  const Outcome wrong = simulate({"--all-reduce", "1MB", "--system", file});
  EXPECT_NE(wrong.exit_code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("slow.system:3: rate: '0 GB/s' is less than 1 B/s"));
}

TEST(SimulateAllReduce, WritesATimelineOfItsIpusAndLinks) {
  const TempDir directory;
  const std::string file = directory.path() + "/trace.json";
  const std::vector<std::string> options{"--all-reduce", "1MB",  "--system", "pod4",
                                         "--algorithm",  "meet", "--trace",  file};
  EXPECT_EQ(simulate(options).exit_code, 0);
  const JsonValue trace = parseJson(fileText(file)).value();
  int tracks = 0;
  int slices = 0;
  for (const JsonValue& event : *trace.array()) {
    tracks += *event.find("name")->text() == "thread_name" ? 1 : 0;
    slices += *event.find("ph")->text() == "X" ? 1 : 0;
  }
  EXPECT_EQ(tracks, 4 + 2 * 4) << "IPUs, and links of two rungs and two rails in both directions";
  EXPECT_EQ(slices, 4 * 2 * 4 + (8 + 4 + 8 + 4))
      << "four rounds of IPUs with their syncs; of links, both ways, then one";
  EXPECT_THAT(simulate(options).err, HasSubstr("trace.json"));
}

JsonValue firstSystem(const JsonValue& report) {
  return report.find("systems")->array()->front();
}

double numberIn(const JsonValue& object, const std::string& key) {
  return object.find(key)->number().value();
}

TEST(SimulateReplay, OfAnExportedAllReduceTakesAsLong) {
  const TempDir directory;
  const std::string prefix = directory.path() + "/w";
  for (const std::string algorithm : {"gcl", "quickest"}) {
    const std::string traces = prefix + algorithm;
    const JsonValue all_reduce = firstSystem(
        parsed(simulate({"--all-reduce", "3.3 MB", "--system", "pod64-torus", "--algorithm", algorithm,
                         "--num-replicas", "16", "--export-chakra", traces, "--json"})));
    const JsonValue replay = firstSystem(parsed(
        simulate({"--replay", traces, "--system", "pod64-torus", "--algorithm", algorithm, "--json"})));
    const JsonValue way = all_reduce.find("algorithms")->array()->front();
    EXPECT_EQ(numberIn(replay, "replicas"), 16);
    EXPECT_EQ(numberIn(replay, "seconds"), numberIn(way, "seconds"));
    EXPECT_EQ(numberIn(replay, "bound_seconds"), numberIn(all_reduce, "bound_seconds"));
    const JsonValue collective = replay.find("collectives")->array()->front();
    EXPECT_EQ(numberIn(collective, "seconds"), numberIn(way, "seconds"));
    EXPECT_EQ(*collective.find("algorithm")->text(), *way.find("algorithm")->text());
  }
}

TEST(SimulateReplay, OfAnExportedStepTakesAsLong) {
  const TempDir directory;
  const std::string prefix = directory.path() + "/step";
  const JsonValue report =
      parsed(simulateExample("resnet50_v1.1", {"--system", "pod128", "--export-chakra", prefix, "--json"}));
  const JsonValue prediction = report.find("predictions")->array()->front();
  const JsonValue replay =
      firstSystem(parsed(simulate({"--replay", prefix, "--system", "pod128", "--json"})));
  EXPECT_NEAR(numberIn(replay, "seconds"), numberIn(prediction, "step"), 1e-6)
      << "durations are whole microseconds";
  EXPECT_EQ(numberIn(replay, "collectives_seconds"), numberIn(*prediction.find("step_parts"), "all_reduce"));
}

void writeTrace(const std::string& file, const std::vector<pod::chakra::TraceNode>& nodes) {
  std::ofstream(file, std::ios::binary) << pod::chakra::executionTrace(nodes);
}

pod::chakra::TraceNode collectiveNode(std::uint64_t id, pod::CollectiveKind kind, std::uint64_t bytes) {
  return {.id = id,
          .name = "n" + std::to_string(id),
          .duration = {},
          .collective = pod::chakra::TracedCollective{.kind = kind, .bytes = bytes}};
}

TEST(SimulateReplay, WaitsForTheSlowestAndComparesWithTheBound) {
  const TempDir directory;
  const std::string prefix = directory.path() + "/w";
  for (int rank = 0; rank < 4; ++rank)
    writeTrace(prefix + "." + std::to_string(rank) + ".et",
               {{.id = 1, .name = "compute", .duration = std::chrono::microseconds(1000 * rank)},
                collectiveNode(2, pod::CollectiveKind::kReduceScatter, 4'000'000),
                collectiveNode(3, pod::CollectiveKind::kAllGather, 1'000'000)});
  const JsonValue replay = firstSystem(parsed(simulate({"--replay", prefix, "--system", "pod4", "--json"})));
  EXPECT_DOUBLE_EQ(numberIn(replay, "computation_seconds"), 3e-3);
  const auto* collectives = replay.find("collectives")->array();
  ASSERT_EQ(collectives->size(), 2U);
  EXPECT_EQ(numberIn((*collectives)[0], "bound_seconds"), numberIn((*collectives)[1], "bound_seconds"))
      << "the parts that ranks gather make the same vector";
  EXPECT_DOUBLE_EQ(numberIn((*collectives)[0], "begin_seconds"), 3e-3);
  for (const JsonValue& each : *collectives) {
    EXPECT_DOUBLE_EQ(numberIn(each, "efficiency"),
                     numberIn(each, "bound_seconds") / numberIn(each, "seconds"));
    EXPECT_LE(numberIn(each, "efficiency"), 1);
  }
  const Outcome table = simulate({"--replay", prefix, "--system", "pod4,pod16"});
  EXPECT_THAT(table.out, HasSubstr("## Replay on pod4, 4 replicas of 1 IPU"));
  EXPECT_THAT(table.out, HasSubstr("## Replay on pod16, 4 replicas of 1 IPU"));
  EXPECT_THAT(table.out, HasSubstr("3.00 ms of computation"));
}

TEST(SimulateReplay, RefusesTracesThatCannotBe) {
  const TempDir directory;
  const std::string prefix = directory.path() + "/w";
  const auto refusal = [&prefix](const std::string& system = "pod4") {
    const Outcome result = simulate({"--replay", prefix, "--system", system});
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(refusal(), HasSubstr("there is no trace " + prefix + ".0.et"));
  writeTrace(prefix + ".0.et", {collectiveNode(1, pod::CollectiveKind::kAllReduce, 8)});
  writeTrace(prefix + ".2.et", {collectiveNode(1, pod::CollectiveKind::kAllReduce, 8)});
  EXPECT_THAT(refusal(), HasSubstr("w.1.et: No such file"));
  writeTrace(prefix + ".1.et", {collectiveNode(1, pod::CollectiveKind::kAllReduce, 9)});
  EXPECT_THAT(refusal(), HasSubstr("w.1.et: collective 0 is node 1, 'n1', an all-reduce of 9 bytes"));
  std::ofstream(prefix + ".1.et") << "not a trace";
  EXPECT_THAT(refusal(), HasSubstr("w.1.et: a message of 110 bytes, and the file ends after 10"));
  writeTrace(prefix + ".1.et", {collectiveNode(1, pod::CollectiveKind::kAllReduce, 8)});
  EXPECT_THAT(simulate({"--replay", prefix, "--system", "pod4", "--num-replicas", "4"}).err,
              HasSubstr("there are traces of 3 ranks, and --num-replicas is 4"));
  EXPECT_THAT(
      simulate({"--all-reduce", "1MB", "--system", "pod4", "--num-replicas", "3", "--export-chakra", prefix})
          .err,
      HasSubstr("w.0.et already exists"));
}

TEST(SimulateAllReduce, RefusesWhatCannotBe) {
  const auto refusal = [](std::vector<std::string> options) {
    options.insert(options.begin(), {"--all-reduce", "1MB"});
    const Outcome result = simulate(options);
    EXPECT_NE(result.exit_code, 0);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(refusal({"--system", "pod4", "--num-replicas", "5"}),
              HasSubstr("takes 5 IPUs and there are 4"));
  EXPECT_THAT(refusal({"--system", "pod16", "--ipus-per-replica", "3"}), HasSubstr("power of two"));
  EXPECT_THAT(refusal({"--system", "pod16", "--algorithm", "magic"}),
              HasSubstr("is called 'magic': use gcl"));
  EXPECT_THAT(refusal({"--system", "pod65536", "--show-steps"}), HasSubstr("a million are shown at most"));
  EXPECT_THAT(refusal({"--system", "nowhere.system"}), HasSubstr("nowhere.system"));
  EXPECT_THAT(simulate({"--all-reduce", "5", "--system", "pod4"}).err, HasSubstr("no unit"));
}

TEST(SimulateWhatIf, SetsTheChangedSystemBesideTheOneThatIs) {
  const auto stepsOf = [](const std::vector<std::string>& changes) {
    std::vector<std::string> options{"--system", "pod64", "--json"};
    options.insert(options.end(), changes.begin(), changes.end());
    const JsonValue report = parsed(simulateExample("resnet50_v1.1", options));
    std::vector<double> seconds;
    for (const JsonValue& each : *report.find("predictions")->array())
      seconds.push_back(each.find("step")->number().value());
    EXPECT_EQ(seconds.size(), 2U);
    return std::pair(seconds.front(), seconds.back());
  };
  const auto slow = stepsOf({"--slow-ipu", "ipu9=0.5"});
  EXPECT_GT(slow.second, 1.5 * slow.first);
  const auto without = stepsOf({"--remove-link", "ipu4-ipu6,ipu20-ipu22"});
  EXPECT_GT(without.second, without.first);
  const auto torus = stepsOf({"--topology", "torus", "--algorithm", "quickest"});
  EXPECT_LT(torus.second, torus.first);
}

TEST(SimulateWhatIf, RefusesChangesThatCannotBe) {
  const auto refusal = [](const std::string& option, const std::string& value) {
    return simulate({"--all-reduce", "1MB", "--system", "pod16", option, value}).err;
  };
  EXPECT_THAT(refusal("--remove-link", "ipu0-ipu9"), HasSubstr("there is no link between ipu0 and ipu9"));
  EXPECT_THAT(refusal("--remove-link", "ipu0-ipu16"), HasSubstr("there is no node 'ipu16'"));
  EXPECT_THAT(refusal("--slow-ipu", "gw0=0.5"), HasSubstr("gw0 is no IPU"));
}

}  // namespace
}  // namespace pop::testing
