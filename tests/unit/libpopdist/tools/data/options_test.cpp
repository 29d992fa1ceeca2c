// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/tools/data/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace popdist::data {
namespace {

using ::testing::ElementsAre;

Parsed parse(std::vector<const char*> words) {
  words.insert(words.begin(), kProgram);
  return parseOptions(static_cast<int>(words.size()), words.data());
}

void expectMistake(const std::vector<const char*>& words, const std::string& said) {
  const Parsed parsed = parse(words);
  EXPECT_EQ(parsed.exit_code, 1);
  EXPECT_THAT(parsed.text, ::testing::HasSubstr(said));
}

TEST(DataOptions, OfBenchmark) {
  const Parsed parsed = parse({"benchmark", "--idx", "image=a.gz", "--idx", "label=b=c", "--batch", "32",
                               "--shuffle", "7", "--infeed", "--threads", "4", "--no-memcpy"});
  ASSERT_EQ(parsed.exit_code, std::nullopt) << parsed.text;
  EXPECT_EQ(parsed.options.idx.at(1).tensor, "label");
  EXPECT_EQ(parsed.options.idx.at(1).path, "b=c");
  EXPECT_EQ(parsed.options.batch, 32U);
  EXPECT_EQ(parsed.options.shuffle_seed, 7U);
  EXPECT_EQ(parsed.options.benchmark.number_of_epochs, 10);
  EXPECT_EQ(parsed.options.benchmark.elements_per_epoch, 512);
  EXPECT_TRUE(parsed.options.by_infeed);
  EXPECT_FALSE(parsed.options.benchmark.do_memcpy);
}

TEST(DataOptions, OfLatency) {
  const Parsed parsed = parse({"benchmark", "--npy", "x=a.npy", "--latency", "--elements", "9"});
  ASSERT_EQ(parsed.exit_code, std::nullopt) << parsed.text;
  EXPECT_EQ(parsed.options.npy.at(0).tensor, "x");
  EXPECT_TRUE(parsed.options.of_latency);
  EXPECT_EQ(parsed.options.benchmark.elements_per_epoch, 9);
}

TEST(DataOptions, OfCompareTakesTheCommandAsItIs) {
  const Parsed parsed =
      parse({"compare", "--replicas", "1,4", "--", "poprun", "--num-instances", "2", "train", "--x"});
  ASSERT_EQ(parsed.exit_code, std::nullopt) << parsed.text;
  EXPECT_THAT(parsed.options.replicas, ElementsAre(1, 4));
  EXPECT_THAT(parsed.options.command, ElementsAre("poprun", "--num-instances", "2", "train", "--x"));
}

TEST(DataOptions, MistakesAreNamed) {
  expectMistake({}, "subcommand");
  expectMistake({"benchmark"}, "either --idx files, --npy files or a --records file");
  expectMistake({"benchmark", "--idx", "a=b", "--records", "c"}, "either");
  expectMistake({"benchmark", "--idx", "file.gz"}, "--idx file.gz is not NAME=FILE");
  expectMistake({"benchmark", "--records", "c", "--threads", "65"}, "65");
  expectMistake({"benchmark", "--idx", "a=b", "--npy", "a=c"}, "either");
  expectMistake({"benchmark", "--npy", "a="}, "--npy a= is not NAME=FILE");
  expectMistake({"benchmark", "--npy", "a=b", "--latency", "--batch", "2"}, "leave --infeed, --batch and");
  expectMistake({"benchmark", "--npy", "a=b", "--latency", "--threads", "4"}, "--threads out");
  expectMistake({"benchmark", "--npy", "a=b", "--shuffle", "-1"}, "--shuffle");
  expectMistake({"compare", "--replicas", "2", "--", "poprun", "--num-replicas", "1", "x"},
                "leave it out there");
  expectMistake({"records", "out"}, "records needs either --idx");
  expectMistake({"compare", "--replicas", "2", "--", "./train"}, "begins with poprun, not with train");
  expectMistake({"compare"}, "compare needs a command");
  expectMistake({"benchmark", "--records", "c", "--", "true"}, "only compare takes a command");
  EXPECT_EQ(parse({"benchmark", "--help"}).exit_code, 0);
}

}  // namespace
}  // namespace popdist::data
