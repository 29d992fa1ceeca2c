// SPDX-License-Identifier: Apache-2.0
#include "poprun/plan/copy_paths.h"

#include <algorithm>
#include <string_view>

#include "common/base/text.h"

namespace pop {
namespace {

// "/a/b" from "/a/./x/../b/". As `cd` does, ".." undoes the name before it, whatever that is.
std::string tidied(std::string_view path) {
  std::vector<std::string> names;
  for (std::string& name : split(path, '/')) {
    if (name.empty() || name == ".") continue;
    if (name != "..") {
      names.push_back(std::move(name));
    } else if (!names.empty()) {
      names.pop_back();
    }
  }
  return '/' + join(names, "/");
}

bool isInside(const std::string& path, const std::string& directory) {
  return path == directory || path.starts_with(directory + '/');
}

class Collector {
 public:
  Collector(const Surroundings& here, std::vector<std::string>& mistakes)
      : here_(here), mistakes_(mistakes) {}

  void addPath(const std::string& path) { add("--synchronise " + path, here_.absolute(path)); }

  void addPythonVenv() {
    const std::string option = "--synchronise-python-venv";
    const char* directory = here_.variable("VIRTUAL_ENV");
    if (directory == nullptr || *directory != '/') {
      mistakes_.push_back(option +
                          ": no Python environment is active (VIRTUAL_ENV names none); activate it " +
                          "before poprun, or name its directory with --synchronise");
      return;
    }
    add(option + " (VIRTUAL_ENV=" + directory + ')', directory);
  }

  // The variable names the SDK's poplar directory; the rest of the SDK is next to it.
  void addPoplarSdk() {
    const std::string option = "--synchronise-poplar-sdk";
    const char* directory = here_.variable("POPLAR_SDK_ENABLED");
    if (directory == nullptr || *directory != '/') {
      mistakes_.push_back(option +
                          ": no Poplar SDK is enabled (POPLAR_SDK_ENABLED names no directory); source " +
                          "its enable script before poprun, or name its directory with --synchronise");
      return;
    }
    add(option + " (POPLAR_SDK_ENABLED=" + directory + ')', std::string(directory) + "/..");
  }

  std::vector<std::string> take() { return std::move(paths_); }

 private:
  void add(const std::string& option, const std::string& absolute) {
    const std::string path = tidied(absolute);
    if (path == "/") {
      mistakes_.push_back(option +
                          ": that would copy all of this host over the others; name a directory in it");
    } else if (!here_.exists(path)) {
      mistakes_.push_back(option + ": there is no " + path + " on this host");
    } else if (std::none_of(paths_.begin(), paths_.end(),
                            [&](const std::string& other) { return isInside(path, other); })) {
      std::erase_if(paths_, [&](const std::string& other) { return isInside(other, path); });
      paths_.push_back(path);
    }
  }

  const Surroundings& here_;
  std::vector<std::string>& mistakes_;
  std::vector<std::string> paths_;
};

}  // namespace

std::vector<std::string> pathsToCopy(const Options& options, const Surroundings& here,
                                     std::vector<std::string>& mistakes) {
  Collector collector(here, mistakes);
  for (const std::string& path : options.synchronise) collector.addPath(path);
  if (options.synchronise_python_venv) collector.addPythonVenv();
  if (options.synchronise_poplar_sdk) collector.addPoplarSdk();
  return collector.take();
}

}  // namespace pop
