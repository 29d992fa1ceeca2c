// SPDX-License-Identifier: Apache-2.0
// The example: trains to the same weights however its replicas are split over instances, and trains well.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "popdist/io.hpp"
#include "tests/testing/poprun_process.h"
#include "tests/unit/io/idx_files.h"

namespace pop::testing {
namespace {

using popdist::io::testing::Bytes;
using popdist::io::testing::idxHeader;
using popdist::io::testing::readAll;
using popdist::io::testing::TempDir;
using popdist::io::testing::writeGzip;

const std::filesystem::path kDataset = "/usr/share/datasets/fashion-mnist";
constexpr std::size_t kParameters = 784 * 128 + 128 + 128 * 10 + 10;

// The first `samples` of a part ("train", "t10k") of the dataset, as files in `directory`.
void writeFirst(const std::string& part, std::size_t samples, const TempDir& directory) {
  const std::string images_file = part + "-images-idx3-ubyte.gz";
  const std::string labels_file = part + "-labels-idx1-ubyte.gz";
  const popdist::io::IdxDataset all(kDataset / images_file, kDataset / labels_file);
  Bytes images = idxHeader({static_cast<std::uint32_t>(samples), 28, 28});
  Bytes labels = idxHeader({static_cast<std::uint32_t>(samples)});
  std::vector<float> features(all.featureCount());
  for (std::size_t sample = 0; sample < samples; ++sample) {
    const auto image = all.image(sample);
    images.insert(images.end(), image.begin(), image.end());
    std::int32_t label = 0;
    all.read(sample, features, label);
    labels.push_back(static_cast<std::uint8_t>(label));
  }
  writeGzip(directory / images_file, images);
  writeGzip(directory / labels_file, labels);
}

Outcome train(int instances, const std::vector<std::string>& program) {
  PoprunSetup setup{.options = {"--num-instances", std::to_string(instances), "--num-replicas", "4"}};
  setup.options.insert(setup.options.end(), program.begin(), program.end());
  PoprunProcess poprun(setup);
  const int exit_code = poprun.wait(Milliseconds(240'000));
  return {exit_code, poprun.out(), poprun.err()};
}

class FashionMnistExample : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!std::filesystem::exists(kDataset)) return;
    directory_ = new TempDir();
    writeFirst("train", 1500, *directory_);
    writeFirst("t10k", 300, *directory_);
  }
  static void TearDownTestSuite() {
    delete directory_;
    directory_ = nullptr;
  }
  void SetUp() override { ASSERT_NE(directory_, nullptr) << "install dataset-fashion-mnist"; }

  // The model file after an epoch on the small dataset.
  static Bytes modelOf(int instances, const std::string& seed = "42") {
    const std::filesystem::path model = *directory_ / ("model-" + std::to_string(instances) + '-' + seed);
    const Outcome outcome =
        train(instances, {FASHION_MNIST_PATH, "--data", (*directory_ / "").string(), "--epochs", "1",
                          "--seed", seed, "--output-model", model.string()});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    EXPECT_FALSE(std::filesystem::exists(model.string() + ".partial"));
    return readAll(model);
  }

  static TempDir* directory_;
};

TempDir* FashionMnistExample::directory_ = nullptr;

TEST_F(FashionMnistExample, TrainsToTheSameBytesOnOneTwoAndFourInstances) {
  const Bytes one = modelOf(1);
  ASSERT_EQ(one.size(), kParameters * sizeof(float));
  EXPECT_TRUE(modelOf(2) == one);
  EXPECT_TRUE(modelOf(4) == one);
  EXPECT_FALSE(modelOf(1, "43") == one) << "the model does not depend on the training at all";
}

double lastAccuracy(const std::string& out) {
  const std::size_t at = out.rfind("test accuracy ");
  double percent = -1;
  if (at != std::string::npos) std::sscanf(out.c_str() + at, "test accuracy %lf %%", &percent);
  return percent;
}

TEST_F(FashionMnistExample, ReachesEightyFivePercentInThreeEpochs) {
  const Outcome outcome = train(2, {FASHION_MNIST_OPTIMISED_PATH, "--epochs", "3"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(linesOf(outcome.out).size(), 3U) << outcome.out;
  EXPECT_GE(lastAccuracy(outcome.out), 85.0) << outcome.out;
}

TEST_F(FashionMnistExample, SaysWhichFileItCannotRead) {
  const Outcome outcome = train(2, {FASHION_MNIST_PATH, "--data", "/nonexistent"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.err.find("/nonexistent/train-images-idx3-ubyte.gz"), std::string::npos) << outcome.err;
}

TEST_F(FashionMnistExample, TakesZeroAsASeed) {
  EXPECT_EQ(modelOf(1, "0").size(), kParameters * sizeof(float));
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
    std::vector<std::string> program{FASHION_MNIST_PATH, "--data", (*directory_ / "").string()};
    program.insert(program.end(), mistake.arguments.begin(), mistake.arguments.end());
    const Outcome outcome = train(1, program);
    EXPECT_EQ(outcome.exit_code, mistake.exit_code) << outcome.err;
    EXPECT_NE(outcome.err.find(mistake.message), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace pop::testing
