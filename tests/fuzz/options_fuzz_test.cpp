// SPDX-License-Identifier: Apache-2.0
// Damaged configuration files, host files, host lists and command lines: whatever the bytes, they are read or
// refused with a message. Seeded, so that a failure comes back.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "common/model/host_list.h"
#include "poprun/cli/config_file.h"
#include "poprun/cli/parse.h"
#include "tests/unit/poprun/cli/option_samples.h"

namespace pop {
namespace {

constexpr std::uint64_t kOptionsRounds = 4000;
constexpr std::string_view kSpecial = "[]-,:=#\"'\\\n\r\t 0189az{}%\0\xff";

char anyCharacter(SplitMix64& random) {
  return random.below(4) == 0 ? static_cast<char>(random.below(256))
                              : kSpecial[random.below(kSpecial.size())];
}

void mutate(std::string& text, SplitMix64& random) {
  for (std::uint64_t times = random.below(6); times > 0 && !text.empty(); --times) {
    const std::size_t at = random.below(text.size());
    switch (random.below(4)) {
      case 0:
        text[at] = anyCharacter(random);
        break;
      case 1:
        text.erase(at, 1 + random.below(8));
        break;
      case 2:
        text.insert(at, 1 + random.below(3), anyCharacter(random));
        break;
      default:
        text.insert(at, text.substr(random.below(text.size()), random.below(20)));
    }
  }
}

// A file that can be read is written and read back as the same.
TEST(OptionsFuzz, ConfigurationFiles) {
  for (std::uint64_t round = 0; round < kOptionsRounds; ++round) {
    SplitMix64 random(round);
    std::string text = cli::configText(cli::parseOptions(testing::randomCommandLine(random)).options);
    mutate(text, random);
    const cli::ConfigFile file = cli::parseConfig(text, "fuzz.cfg");
    for (const std::string& mistake : file.mistakes) {
      ASSERT_EQ(mistake.rfind("fuzz.cfg:", 0), 0U) << "round " << round << ": " << mistake;
    }
    if (!file.mistakes.empty()) continue;
    Options options;
    std::vector<std::string> mistakes;
    std::vector<std::string> warnings;
    cli::apply(file.assignments, options, mistakes, warnings);
    Options again;
    std::vector<std::string> later_mistakes;
    const cli::ConfigFile second = cli::parseConfig(cli::configText(options), "second.cfg");
    cli::apply(second.assignments, again, later_mistakes, warnings);
    ASSERT_TRUE(second.mistakes.empty()) << "round " << round << ": " << second.mistakes.front();
    if (mistakes.empty()) {
      ASSERT_EQ(options, again) << "round " << round;
    }
  }
}

TEST(OptionsFuzz, HostLists) {
  for (std::uint64_t round = 0; round < 10 * kOptionsRounds; ++round) {
    SplitMix64 random(round);
    std::string text = "rack[0-1]node[08-11,20]:4,localhost,[::1]:2,10.0.0.1";
    mutate(text, random);
    const Result<std::vector<model::Host>> hosts = model::parseHostList(text);
    if (!hosts.ok()) {
      ASSERT_FALSE(hosts.status().message().empty()) << "round " << round;
      continue;
    }
    ASSERT_FALSE(hosts.value().empty()) << "round " << round;
    ASSERT_LE(hosts.value().size(), 65536U) << "round " << round;
    for (const model::Host& host : hosts.value()) ASSERT_FALSE(host.name.empty()) << "round " << round;
  }
}

TEST(OptionsFuzz, HostFiles) {
  for (std::uint64_t round = 0; round < 10 * kOptionsRounds; ++round) {
    SplitMix64 random(round);
    std::string text = "# hosts\nnode1 slots=4\nnode[2-3]:2\n\nlast slots=1 max_slots=2 # end\n";
    mutate(text, random);
    const Result<std::vector<model::Host>> hosts = model::parseHostfile(text, "hosts");
    if (!hosts.ok()) {
      ASSERT_EQ(hosts.status().message().rfind("hosts:", 0), 0U) << "round " << round;
    }
  }
}

TEST(OptionsFuzz, CommandLines) {
  for (std::uint64_t round = 0; round < kOptionsRounds; ++round) {
    SplitMix64 random(round);
    std::vector<std::string> words = testing::randomCommandLine(random);
    for (std::uint64_t times = random.below(4); times > 0; --times)
      mutate(words[random.below(words.size())], random);
    for (const auto spelling : {cli::Spelling::kPoprun, cli::Spelling::kMpirun, cli::Spelling::kHorovodrun}) {
      const cli::ParsedOptions parsed = cli::parseOptions(words, spelling);
      ASSERT_FALSE(parsed.options.programs.empty()) << "round " << round;
      for (const std::string& mistake : parsed.mistakes) ASSERT_FALSE(mistake.empty()) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace pop
