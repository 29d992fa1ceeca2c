// SPDX-License-Identifier: Apache-2.0
// The example: trains to the same weights however its replicas are split over instances, and trains well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "common/base/json_reader.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/small_fashion_mnist.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace pop::testing {
namespace {

using popdist::io::testing::Bytes;
using popdist::io::testing::readAll;

constexpr std::size_t kParameters = 784 * 128 + 128 + 128 * 10 + 10;

Outcome train(int instances, const std::vector<std::string>& program) {
  PoprunSetup setup{.options = {"--num-instances", std::to_string(instances), "--num-replicas", "4"}};
  setup.options.insert(setup.options.end(), program.begin(), program.end());
  PoprunProcess poprun(setup);
  const int exit_code = poprun.wait(Milliseconds(240'000));
  return {exit_code, poprun.out(), poprun.err()};
}

class FashionMnistExample : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { data_ = new SmallFashionMnist(); }
  static void TearDownTestSuite() {
    delete data_;
    data_ = nullptr;
  }

  // The model file after an epoch on the small dataset.
  static Bytes modelOf(int instances, const std::vector<std::string>& options) {
    const TempDir directory;
    const std::filesystem::path model = directory / "model";
    std::vector<std::string> program{FASHION_MNIST_PATH, "--data",      data_->directory(), "--epochs", "1",
                                     "--output-model",   model.string()};
    program.insert(program.end(), options.begin(), options.end());
    const Outcome outcome = train(instances, program);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_FALSE(std::filesystem::exists(model.string() + ".partial"));
    return readAll(model);
  }

  static SmallFashionMnist* data_;
};

SmallFashionMnist* FashionMnistExample::data_ = nullptr;

struct InstructionSet {
  const char* name;
  bool is_here;
};

std::vector<InstructionSet> instructionSets() {
#ifdef __x86_64__
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") != 0 &&
                      __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                      __builtin_cpu_supports("avx512vl") != 0;
  return {{"baseline", true}, {"avx2", avx2}, {"avx512", avx512}};
#else
  return {{"baseline", true}, {"avx2", false}, {"avx512", false}};
#endif
}

TEST_F(FashionMnistExample, TrainsToTheSameBytesOnOneTwoAndFourInstances) {
  for (const InstructionSet& isa : instructionSets()) {
    if (!isa.is_here) continue;
    const Bytes one = modelOf(1, {"--isa", isa.name});
    ASSERT_EQ(one.size(), kParameters * sizeof(float));
    EXPECT_TRUE(modelOf(2, {"--isa", isa.name}) == one) << isa.name;
    EXPECT_TRUE(modelOf(4, {"--isa", isa.name}) == one) << isa.name;
  }
  EXPECT_FALSE(modelOf(1, {"--seed", "43"}) == modelOf(1, {"--seed", "42"}))
      << "the model does not depend on the training at all";
}

TEST_F(FashionMnistExample, TrainsItsConvolutionsToTheSameBytesToo) {
  for (const char* model : {"cnn", "small-cnn"}) {
    const Bytes one = modelOf(1, {"--model", model});
    EXPECT_TRUE(modelOf(2, {"--model", model}) == one) << model;
    EXPECT_TRUE(modelOf(4, {"--model", model}) == one) << model;
    EXPECT_FALSE(modelOf(1, {"--model", model, "--seed", "43"}) == one) << model;
  }
}

TEST_F(FashionMnistExample, ComputesWithTheInstructionSetThatItSays) {
  const std::vector<std::string> program{FASHION_MNIST_PATH, "--data", data_->directory(), "--epochs", "1"};
  std::string best;
  for (const InstructionSet& isa : instructionSets()) {
    std::vector<std::string> forced = program;
    forced.insert(forced.end(), {"--isa", isa.name});
    const Outcome outcome = train(2, forced);
    EXPECT_EQ(outcome.exit_code, isa.is_here ? 0 : 2) << outcome.err;
    const std::string said = isa.is_here ? std::string("[0] instruction set: ") + isa.name
                                         : std::string("this CPU has no ") + isa.name;
    EXPECT_NE((isa.is_here ? outcome.out : outcome.err).find(said), std::string::npos) << outcome.out;
    if (isa.is_here) best = said;
  }
  EXPECT_EQ(linesOf(train(2, program).out).front(), best) << "the best one is not the default";
}

double lastAccuracy(const std::string& out) {
  const std::size_t at = out.rfind("test accuracy ");
  double percent = -1;
  if (at != std::string::npos) std::sscanf(out.c_str() + at, "test accuracy %lf %%", &percent);
  return percent;
}

TEST_F(FashionMnistExample, ReachesEightyFivePercentInThreeEpochs) {
  const Outcome outcome = train(2, {FASHION_MNIST_PATH, "--epochs", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 4U) << outcome.out;
  EXPECT_GE(lastAccuracy(outcome.out), 85.0) << outcome.out;
}

TEST_F(FashionMnistExample, SaysWhichFileItCannotRead) {
  const Outcome outcome = train(2, {FASHION_MNIST_PATH, "--data", "/nonexistent"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("/nonexistent/train-images-idx3-ubyte.gz"), std::string::npos) << outcome.err;
}

TEST_F(FashionMnistExample, SaysBeforeItTrainsThatItCannotWriteTheModel) {
  const TempDir directory;
  for (const std::string& model : {directory.path() + "/none/model", directory.path()}) {
    const Outcome outcome = train(
        1, {FASHION_MNIST_PATH, "--data", data_->directory(), "--epochs", "1", "--output-model", model});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.err.find(model), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out.find("epoch"), std::string::npos) << outcome.out;
  }
}

TEST_F(FashionMnistExample, TakesZeroAsASeed) {
  EXPECT_EQ(modelOf(1, {"--seed", "0"}).size(), kParameters * sizeof(float));
}

// The checkpoints of a training that was killed in its second epoch; and another split goes on.
TEST_F(FashionMnistExample, GoesOnFromItsCheckpointsOnAnotherSplitToTheSameBytes) {
  const TempDir saved;
  const std::vector<std::string> options{"--epochs", "3", "--optimizer", "adam"};
  const Bytes whole = modelOf(2, options);
  std::vector<std::string> saving = options;
  saving.insert(saving.end(), {"--checkpoints", saved.path()});
  EXPECT_TRUE(modelOf(1, saving) == whole);
  std::vector<std::filesystem::path> steps;
  for (const auto& each : std::filesystem::directory_iterator(saved.path()))
    if (each.is_directory()) steps.push_back(each.path());
  std::sort(steps.begin(), steps.end());
  ASSERT_EQ(steps.size(), 3U);
  std::filesystem::remove_all(steps[1]);
  std::filesystem::remove_all(steps[2]);
  EXPECT_TRUE(modelOf(4, saving) == whole);
}

TEST_F(FashionMnistExample, TrainsWithEveryStrategy) {
  for (const char* strategy : {"popdist", "multiworker", "horovod"})
    EXPECT_EQ(modelOf(2, {"--strategy", strategy}).size(), kParameters * sizeof(float)) << strategy;
  EXPECT_EQ(modelOf(4, {"--strategy", "hpu"}).size(), kParameters * sizeof(float));
  EXPECT_EQ(modelOf(1, {"--strategy", "single"}).size(), kParameters * sizeof(float));
}

TEST_F(FashionMnistExample, OfAPipelineGivesTheSameForEveryScheduleAndSplit) {
  const auto linesWith = [&](int instances, const std::vector<std::string>& options) {
    std::vector<std::string> program{
        "--ipus-per-replica", "4", FASHION_PIPELINE_PATH, "--data", data_->directory(), "--epochs", "1"};
    program.insert(program.end(), options.begin(), options.end());
    const Outcome outcome = train(instances, program);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const std::size_t at = outcome.out.rfind("loss ");
    return at == std::string::npos ? outcome.out : outcome.out.substr(at, outcome.out.find(" %", at) - at);
  };
  const std::string expected = linesWith(1, {});
  EXPECT_NE(expected.find("test accuracy"), std::string::npos) << expected;
  EXPECT_EQ(linesWith(2, {"--schedule", "interleaved"}), expected);
  EXPECT_EQ(linesWith(4, {"--schedule", "sequential"}), expected);
  EXPECT_EQ(linesWith(2, {"--recompute"}), expected);
}

struct Mistake {
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
};

// On the 1500 samples, with 4 replicas.
TEST_F(FashionMnistExample, NamesTheOptionThatIsWrong) {
  const Mistake mistakes[] = {
      {{"foo"}, 2, "unexpected argument 'foo'"},
      {{"--epochs", "0"}, 2, "--epochs: '0' is not a whole number from 1 to 1000000"},
      {{"--seed", "-1"}, 2, "--seed: '-1' is not a whole number from 0 to 1000000"},
      {{"--optimizer", "lars"}, 2, "--optimizer: 'lars' is not momentum or adam"},
      {{"--strategy", "mirrored"}, 1, "there is no strategy 'mirrored', expected popdist, multiworker"},
      {{"--model", "gpt"}, 2, "--model: 'gpt' is not mlp, cnn or small-cnn"},
      {{"--isa", "sse9"}, 2, "--isa: 'sse9' is not baseline, avx2 or avx512"},
      {{"--momentum", "x"}, 2, "--momentum: 'x' is not a number from 0 to 10"},
      {{"--micro-batch", "200", "--accumulation", "2"},
       1,
       "takes 1600 samples (--micro-batch 200, --accumulation 2, poprun's --num-replicas 4), and there are "
       "1500"},
      {{"--micro-batch", "500", "--accumulation", "1"},
       1,
       "takes 2000 samples (--micro-batch 500, --accumulation 1, poprun's --num-replicas 4), and there are "
       "1500"},
  };
  for (const Mistake& mistake : mistakes) {
    std::vector<std::string> program{FASHION_MNIST_PATH, "--data", data_->directory()};
    program.insert(program.end(), mistake.arguments.begin(), mistake.arguments.end());
    const Outcome outcome = train(1, program);
    EXPECT_EQ(outcome.exit_code, mistake.exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(mistake.message), std::string::npos) << outcome.err;
  }
}

// The traces as Perfetto reads them: the trainer's phases, the program's own, and the threads that read
// ahead; in the first also the Pod on its clock.
TEST_F(FashionMnistExample, EachInstanceLeavesATraceOfItsPhases) {
  const TempDir directory;
  const std::string traces = directory / "traces";
  const std::vector<std::string> variable{"-x", "POPDIST_TRACE=" + traces};
  std::vector<std::string> program = variable;
  for (const char* const each : {FASHION_MNIST_PATH, "--data", data_->directory().c_str(), "--epochs", "1"})
    program.emplace_back(each);
  const Outcome outcome = train(2, program);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const std::string instance : {"0", "1"}) {
    const Bytes bytes = readAll(traces + "/instance-" + instance + ".json");
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_EQ(text.find(R"("ipu0 to ipu1")") != std::string_view::npos, instance == "0");
    pop::Result<pop::JsonValue> json = pop::parseJson(text);
    ASSERT_TRUE(json.ok()) << json.status().message();
    std::set<std::string> names;
    for (const pop::JsonValue& event : *json->array()) names.insert(*event.find("name")->text());
    std::set<std::string> expected{"evaluation",   "input",      "open the training images",
                                   "process_name", "read ahead", "reduction",
                                   "start",        "step",       "thread_name",
                                   "update"};
    if (instance == "0") expected.insert({"all-gather", "all-reduce", "computation", "streaming"});
    EXPECT_EQ(names, expected);
  }
}

}  // namespace
}  // namespace pop::testing
