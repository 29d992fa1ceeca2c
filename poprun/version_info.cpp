// SPDX-License-Identifier: Apache-2.0
#include "poprun/version_info.h"

#include <array>
#include <string_view>

namespace pop {
namespace {

struct Part {
  std::string_view name;
  std::string_view version;
};

// The build says which versions it found (poprun/CMakeLists.txt).
constexpr std::array kParts{
    Part{"poprun", POPRUN_VERSION},       Part{"popdist", POPRUN_VERSION},
    Part{"compiler", "g++ " __VERSION__}, Part{"boost", POPRUN_BOOST_VERSION},
    Part{"cli11", POPRUN_CLI11_VERSION},  Part{"spdlog", POPRUN_SPDLOG_VERSION},
    Part{"zlib", POPRUN_ZLIB_VERSION},
};

}  // namespace

std::string versionText(VersionFormat format) {
  if (format == VersionFormat::kText) return "poprun " POPRUN_VERSION "\n";
  const bool json = format == VersionFormat::kFullJson;
  std::string text = json ? "{" : "";
  for (const Part& part : kParts) {
    const std::string name(part.name);
    const std::string version(part.version);
    if (json) {
      text += (text.size() > 1 ? ", \"" : "\"") + name + "\": \"" + version + '"';
    } else {
      text += name + ' ' + version + '\n';
    }
  }
  return json ? text + "}\n" : text;
}

}  // namespace pop
