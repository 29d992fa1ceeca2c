// SPDX-License-Identifier: Apache-2.0
#include "common/contract/env_family.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/text.h"

namespace pop::contract {
namespace {

struct Named {
  std::string_view name;
  EnvFamily family;
};
constexpr std::array kNames{
    Named{"poplar", EnvFamily::kPoplar},   Named{"tensorflow", EnvFamily::kTensorFlow},
    Named{"pytorch", EnvFamily::kPyTorch}, Named{"horovod", EnvFamily::kHorovod},
    Named{"jax", EnvFamily::kJax},         Named{"openmpi", EnvFamily::kOpenMpi},
    Named{"slurm", EnvFamily::kSlurm},     Named{"openmp", EnvFamily::kOpenMp},
    Named{"pmi", EnvFamily::kPmi},         Named{"pmix", EnvFamily::kPmix},
};

std::string choices() {
  std::string text;
  for (const Named& each : kNames) text += std::string(each.name) + ", ";
  return text + "all or none";
}

}  // namespace

const EnvFamilies& allEnvFamilies() {
  static const EnvFamilies all = [] {
    EnvFamilies families;
    for (const Named& each : kNames) families.insert(each.family);
    return families;
  }();
  return all;
}

Result<EnvFamilies> parseEnvFamilies(std::string_view text) {
  if (text == "all") return allEnvFamilies();
  if (text == "none") return EnvFamilies{};
  EnvFamilies families;
  for (const std::string& word : split(text, ',')) {
    if (word == "all" || word == "none") return invalidArgument(inQuotes(word) + " must be the only word");
    const auto found =
        std::find_if(kNames.begin(), kNames.end(), [&](const Named& each) { return each.name == word; });
    if (found == kNames.end()) return invalidArgument(inQuotes(word) + " is not one of " + choices());
    families.insert(found->family);
  }
  return families;
}

std::string envFamiliesText(const EnvFamilies& families) {
  if (families.empty()) return "none";
  if (families == allEnvFamilies()) return "all";
  std::vector<std::string> words;
  for (const Named& each : kNames) {
    if (families.contains(each.family)) words.emplace_back(each.name);
  }
  return join(words, ",");
}

}  // namespace pop::contract
