// SPDX-License-Identifier: Apache-2.0
#include "poprun/cli/option_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/sys/fd.h"
#include "common/sys/memfd.h"
#include "poprun/cli/file_text.h"

namespace pop::cli {
namespace {

// Precedes the descriptor and the path of each file. It is not for users, so it is not in the option table.
constexpr const char* kReadBefore = "--read-before";

}  // namespace

Result<std::string> OptionFiles::text(const std::string& path) {
  if (const auto known = texts_.find(path); known != texts_.end()) return known->second;
  POP_ASSIGN_OR_RETURN(std::string text, readFileText(path));
  return texts_[path] = std::move(text);
}

Result<std::vector<std::string>> OptionFiles::handOver() const {
  std::vector<std::string> arguments;
  for (const auto& [path, text] : texts_) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) continue;  // it can be read again
    POP_ASSIGN_OR_RETURN(sys::Fd file, sys::createMemfd("poprun-options", text.size()));
    POP_RETURN_IF_ERROR(sys::writeAll(file.get(), text));
    if (::lseek(file.get(), 0, SEEK_SET) != 0 || ::fcntl(file.get(), F_SETFD, 0) != 0)
      return errnoStatus("handing over " + path, errno);
    arguments.insert(arguments.end(), {kReadBefore, std::to_string(file.release()), path});
  }
  return arguments;
}

Status OptionFiles::takeOver(std::vector<std::string>& arguments) {
  while (arguments.size() >= 3 && arguments.front() == kReadBefore) {
    const sys::Fd file(std::atoi(arguments[1].c_str()));
    POP_ASSIGN_OR_RETURN(texts_[arguments[2]], sys::readAll(file, arguments[2]));
    arguments.erase(arguments.begin(), arguments.begin() + 3);
  }
  return {};
}

}  // namespace pop::cli
