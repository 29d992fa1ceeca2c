// SPDX-License-Identifier: Apache-2.0
#include "poprun/ui/output_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
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

// Whatever is no file would block poprun, or be destroyed: it is refused before it is opened. Devices of
// memory, such as /dev/null, take all that is written.
std::string kindOfNoFile(const struct stat& found) {
  constexpr unsigned kMemory = 1;
  if (S_ISFIFO(found.st_mode)) return "a FIFO";
  if (S_ISSOCK(found.st_mode)) return "a socket";
  if (S_ISDIR(found.st_mode)) return "a directory";
  if (S_ISBLK(found.st_mode) || (S_ISCHR(found.st_mode) && major(found.st_rdev) != kMemory))
    return "a device";
  return {};
}

Result<sys::Fd> openFile(const std::string& path) {
  const auto refused = [&path](const std::string& kind) {
    return failedPrecondition("--output-filename: " + path + " is " + kind +
                              ": remove it, or name another directory");
  };
  struct stat found {};
  std::string kind = ::stat(path.c_str(), &found) == 0 ? kindOfNoFile(found) : "";
  if (!kind.empty()) return refused(kind);
  sys::Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  if (!fd.valid()) {
    const int reason = errno;
    return errnoStatus(
        "--output-filename: opening " + path + (reason == EMFILE ? " (`ulimit -n` allows too few)" : ""),
        reason);
  }
  kind = ::fstat(fd.get(), &found) == 0 ? kindOfNoFile(found) : "";
  if (!kind.empty()) return refused(kind);
  return fd;
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
      POP_ASSIGN_OR_RETURN(file.fd, openFile(file.path));
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
