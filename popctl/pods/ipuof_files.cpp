// SPDX-License-Identifier: Apache-2.0
#include "popctl/pods/ipuof_files.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "common/base/text.h"
#include "common/sys/whole_file.h"

namespace pop::popctl {
namespace {

namespace fs = std::filesystem;

Status fileStatus(const std::string& what, const std::error_code& error) {
  return errnoStatus(what, error.value());
}

// A name that leads to another directory is none of ours.
Status checkName(const std::string& partition) {
  if (!partition.empty() && partition.front() != '.' && partition.find('/') == std::string::npos) return {};
  return invalidArgument(inQuotes(partition) + " cannot be the name of an IPU over Fabric file");
}

bool isOf(const std::string& file, const std::string& partition) {
  const std::string before = partition + "_gcd";
  if (!file.starts_with(before)) return false;
  const std::string rest = file.substr(before.size());
  const Result<std::int64_t> gcd = parseInteger(rest.substr(0, rest.find('_')));
  return gcd.ok() && gcd.value() >= 0 && gcd.value() <= UINT32_MAX &&
         file == vipu::ipuofFileName(partition, static_cast<std::uint32_t>(gcd.value()));
}

}  // namespace

Result<std::string> ipuofDirectory(const char* home) {
  if (home == nullptr || *home != '/')
    return failedPrecondition("HOME is not set: there is no ~/.ipuof.conf.d (--no-ipuof-files)");
  return std::string(home) + "/.ipuof.conf.d";
}

Status writeIpuofFiles(const std::string& directory, const std::string& partition,
                       const std::vector<vipu::GcdConfig>& gcds) {
  POP_RETURN_IF_ERROR(checkName(partition));
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return fileStatus("creating " + directory, error);
  POP_RETURN_IF_ERROR(removeIpuofFiles(directory, partition));
  for (std::size_t gcd = 0; gcd < gcds.size(); ++gcd)
    POP_RETURN_IF_ERROR(sys::replaceFile(directory,
                                         vipu::ipuofFileName(partition, static_cast<std::uint32_t>(gcd)),
                                         vipu::ipuofFileText(gcds[gcd])));
  return {};
}

Status removeIpuofFiles(const std::string& directory, const std::string& partition) {
  POP_RETURN_IF_ERROR(checkName(partition));
  std::error_code error;
  fs::directory_iterator files(directory, error);
  if (error == std::errc::no_such_file_or_directory) return {};
  std::vector<fs::path> ours;
  while (!error && files != fs::directory_iterator()) {
    if (isOf(files->path().filename().string(), partition)) ours.push_back(files->path());
    files.increment(error);
  }
  if (error) return fileStatus("reading " + directory, error);
  for (const fs::path& file : ours) {
    fs::remove(file, error);
    if (error) return fileStatus("removing " + file.string(), error);
  }
  return {};
}

}  // namespace pop::popctl
