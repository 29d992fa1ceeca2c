// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace pop {
namespace {

// Pads with zeros to the number of digits of the number of instances.
std::string rankDirectory(const std::string& directory, int instance, int num_instances) {
  const std::string number = std::to_string(instance);
  const std::size_t digits = std::to_string(num_instances).size();
  return directory + "/1/rank." + std::string(digits - std::min(digits, number.size()), '0') + number;
}

}  // namespace

Result<OutputFiles> OutputFiles::create(const std::string& directory, int num_instances) {
  OutputFiles created;
  for (int instance = 0; instance < num_instances; ++instance) {
    const std::string rank = rankDirectory(directory, instance, num_instances);
    std::error_code error;
    std::filesystem::create_directories(rank, error);
    if (error) return errnoStatus("--output-filename: making the directory " + rank, error.value());
    for (const char* stream : {"/stdout", "/stderr"}) {
      File file{rank + stream, {}};
      file.fd = sys::Fd(::open(file.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
      if (!file.fd.valid()) {
        const int reason = errno;
        return errnoStatus("--output-filename: opening " + file.path +
                               (reason == EMFILE ? " (`ulimit -n` allows too few)" : ""),
                           reason);
      }
      created.files_.push_back(std::move(file));
    }
  }
  return created;
}

std::optional<WriteFailure> OutputFiles::write(int instance, Stream stream, std::string_view text) {
  if (files_.empty()) return std::nullopt;
  File& file = files_.at(static_cast<std::size_t>(instance) * 2 + (stream == Stream::kStdout ? 0 : 1));
  while (file.fd.valid() && !text.empty()) {
    const ssize_t written = ::write(file.fd.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      file.fd.reset();
      return WriteFailure{error, file.path};
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return std::nullopt;
}

}  // namespace pop
