// SPDX-License-Identifier: Apache-2.0
// --output-filename: writes each instance's output unchanged to files, laid out as by Open MPI's mpirun,
// whose option of this name PopRun's users pass on: DIR/1/rank.03/stdout and stderr.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/status.h"
#include "common/ports/agent_port.h"
#include "common/sys/fd.h"

namespace pop {

/// Why output could not be written, and where.
struct WriteFailure {
  int error = 0;
  std::string where;  ///< "stdout", or the path of a file
};

class OutputFiles {
 public:
  OutputFiles() = default;  ///< none

  /// Creates the directories and all files, empty. An error names the path and --output-filename.
  static Result<OutputFiles> create(const std::string& directory, int num_instances);

  /// After a failure nothing more is written to that file.
  std::optional<WriteFailure> write(int instance, Stream stream, std::string_view text);

 private:
  struct File {
    std::string path;
    sys::Fd fd;
  };

  std::vector<File> files_;  ///< stdout and stderr of each instance
};

}  // namespace pop
