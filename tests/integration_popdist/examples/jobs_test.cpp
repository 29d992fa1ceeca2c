// SPDX-License-Identifier: Apache-2.0
// The example as several jobs: an evaluator beside the training, and a training that is killed and goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/integration_popdist/cluster/hand_started.h"
#include "tests/testing/poprun_process.h"
#include "tests/testing/small_fashion_mnist.h"
#include "tests/unit/libpopdist/data/idx_files.h"

namespace pop::testing {
namespace {

using popdist::io::testing::readAll;
using ::testing::HasSubstr;

class FashionMnistJobs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { data_ = new SmallFashionMnist(); }
  static void TearDownTestSuite() {
    delete data_;
    data_ = nullptr;
  }

  std::vector<std::string> program(const std::vector<std::string>& options) const {
    std::vector<std::string> all{FASHION_MNIST_PATH, "--data", data_->directory()};
    all.insert(all.end(), options.begin(), options.end());
    return all;
  }
  std::vector<std::string> saving(const std::string& epochs) const {
    return program({"--epochs", epochs, "--checkpoints", saved_.path()});
  }
  /// Two instances of two replicas, started by poprun.
  static PoprunSetup jobOf(const std::vector<std::string>& program,
                           const std::vector<std::string>& options = {}) {
    PoprunSetup setup{.options = {"--num-instances", "2", "--num-replicas", "4"}};
    setup.options.insert(setup.options.end(), options.begin(), options.end());
    setup.options.insert(setup.options.end(), program.begin(), program.end());
    return setup;
  }

  bool isAnythingSaved() const {
    for (const auto& each : std::filesystem::directory_iterator(saved_.path())) {
      if (each.path().filename().string().starts_with("step-") && each.path().extension() != ".partial")
        return true;
    }
    return false;
  }

  static SmallFashionMnist* data_;
  const TempDir saved_;
};

SmallFashionMnist* FashionMnistJobs::data_ = nullptr;

std::string lastAccuracy(const std::string& out) {
  const std::size_t at = out.rfind("test accuracy ");
  return at == std::string::npos ? out : out.substr(at, out.find(" %", at) - at);
}

TEST_F(FashionMnistJobs, EvaluatorRunsBesideTheTrainingAndEndsWithIt) {
  const std::string cluster = R"({"worker":["127.0.0.1:1","127.0.0.1:2"]})";
  HandStarted evaluator =
      HandStarted::command(saving("8"), {{"TF_CONFIG", tfConfigOf(cluster, "evaluator", 0)}});
  const Outcome training = run(jobOf(saving("8")));
  EXPECT_EQ(training.exit_code, 0) << training.err;
  EXPECT_EQ(evaluator.wait(), 0) << evaluator.out();
  EXPECT_THAT(evaluator.out(), HasSubstr("epoch 8/8: test loss "));
  EXPECT_EQ(lastAccuracy(evaluator.out()), lastAccuracy(training.out));

  const Outcome all =
      run({.options = program({"--epochs", "8", "--checkpoints", saved_.path(), "--evaluate"})});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(linesOf(all.out).size(), 3U) << "those that the training keeps: " << all.out;
  EXPECT_EQ(lastAccuracy(all.out), lastAccuracy(training.out));
}

TEST_F(FashionMnistJobs, EvaluatorWithoutCheckpointsSaysWhatIsMissing) {
  const Outcome outcome = run({.options = program({"--evaluate"})});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--checkpoints"));
}

TEST_F(FashionMnistJobs, AKilledInstanceMakesTheJobGoOnToTheSameBytes) {
  constexpr const char* kEpochs = "40";
  const std::filesystem::path undisturbed = saved_ / "undisturbed";
  const std::filesystem::path restarted = saved_ / "restarted";
  const Outcome whole = run(jobOf(program({"--epochs", kEpochs, "--output-model", undisturbed.string()})));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;

  std::vector<std::string> options = saving(kEpochs);
  options.insert(options.end(), {"--output-model", restarted.string()});
  PoprunProcess poprun(jobOf(options, {"--max-restarts", "1", "--restart-delay", "0"}));
  ASSERT_TRUE(poprun.waitFor([&] { return isAnythingSaved(); })) << poprun.err();
  ASSERT_FALSE(std::filesystem::exists(restarted)) << "too late: the training is over";
  std::vector<pid_t> instances;
  for (const pid_t pid : processesWith(poprun.token())) {
    const std::optional<ProcessStat> stat = statOf(pid);
    if (stat && stat->name == "fashion_mnist") instances.push_back(pid);
  }
  ASSERT_EQ(instances.size(), 2U) << describeProcesses(instances);
  ::kill(instances.back(), SIGKILL);

  EXPECT_EQ(poprun.wait(), 0) << poprun.err();
  EXPECT_THAT(poprun.err(), HasSubstr("(restart 1 of 1)"));
  EXPECT_THAT(poprun.out(), HasSubstr("goes on after epoch "));
  EXPECT_TRUE(readAll(restarted) == readAll(undisturbed));
}

}  // namespace
}  // namespace pop::testing
