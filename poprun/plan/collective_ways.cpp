// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/collective_ways.h"

#include <algorithm>
#include <array>

#include "common/base/text.h"

namespace pop {
namespace {

// Names that can be combined set different variables.
struct Way {
  std::string_view name;
  const char* variable;
};
constexpr const char* kShared = "POPDIST_SHARED_ALGORITHM";
constexpr const char* kMessages = "POPDIST_MESSAGE_ALGORITHM";
constexpr std::array kWays{
    Way{"eager", kShared},
    Way{"staged", kShared},
    Way{"direct", kShared},
    Way{"pull", kShared},
    Way{"messages", kShared},
    Way{"tcp", "POPDIST_TRANSPORT"},
    Way{"ring", kMessages},
    Way{"segmented-ring", kMessages},
    Way{"recursive-doubling", kMessages},
    Way{"halving-doubling", kMessages},
};

const Way* wayNamed(std::string_view name) {
  const auto found =
      std::find_if(kWays.begin(), kWays.end(), [&](const Way& way) { return way.name == name; });
  return found == kWays.end() ? nullptr : &*found;
}

std::string choices() {
  std::vector<std::string> names;
  for (const Way& way : kWays) names.emplace_back(way.name);
  return join(names, ", ");
}

}  // namespace

Result<std::vector<std::string>> parseCollectiveWays(std::string_view text) {
  std::vector<std::string> ways;
  for (const std::string& name : split(text, ',')) {
    const Way* const way = wayNamed(name);
    if (way == nullptr) return invalidArgument(inQuotes(name) + " is not one of " + choices());
    for (const std::string& before : ways) {
      if (wayNamed(before)->variable == way->variable)
        return invalidArgument(before == name
                                   ? inQuotes(name) + " is there twice"
                                   : inQuotes(before) + " and " + inQuotes(name) + " exclude each other");
    }
    ways.push_back(name);
  }
  return ways;
}

std::vector<contract::Variable> collectiveVariables(const std::vector<std::string>& collective_ways) {
  std::vector<contract::Variable> variables;
  for (const std::string& name : collective_ways) {
    if (const Way* const way = wayNamed(name)) variables.emplace_back(way->variable, name);
  }
  return variables;
}

}  // namespace pop
