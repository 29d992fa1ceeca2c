// SPDX-License-Identifier: Apache-2.0
// A stand-in for ssh: its hosts are directories on this one.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/check.h"
#include "tests/testing/file_text.h"
#include "tests/testing/temp_dir.h"

namespace pop::testing {

class NearShell {
 public:
  /// `script`: what happens, with the host in $host, the command in $command, and $far, the host's directory.
  explicit NearShell(const std::string& script) {
    write("shell", "#!/bin/sh\n[ \"$1\" = -l ] && shift 2\nhost=$1; shift; command=\"$*\"; far=" +
                       directory_.path() + "/far/$host\nmkdir -p \"$far\"\n" + script + "\n");
  }

  std::string path() const { return directory_.path() + "/shell"; }
  /// The place that is / of a host.
  std::string rootOf(const std::string& host) const { return directory_.path() + "/far/" + host; }
  std::string directory() const { return directory_.path(); }

  /// A file that can be executed.
  void write(const std::string& name, const std::string& text) const {
    const std::string file = directory_.path() + '/' + name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file) << text;
    POP_CHECK(::chmod(file.c_str(), 0755) == 0);
  }

  std::string read(const std::string& path) const { return fileText(path); }

 private:
  TempDir directory_;
};

}  // namespace pop::testing
