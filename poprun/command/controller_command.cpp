// SPDX-License-Identifier: Apache-2.0
#include "poprun/command/controller_command.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "common/sys/fd.h"
#include "common/sys/own_program.h"
#include "common/sys/random_name.h"
#include "poprun/command/command_line.h"
#include "poprun/command/output_words.h"
#include "proto/popdist/v1/controller.pb.h"
#include "runner/record_codec.h"

namespace pop {
namespace {

// Programs run elsewhere, where "here" means something else.
model::JobSpec specForOthers(model::JobSpec spec) {
  const std::string here = workingDirectory();
  for (model::Program& program : spec.programs) {
    if (program.working_directory.empty()) program.working_directory = here;
  }
  spec.stdin_policy = {.who = model::StdinPolicy::Who::kNone};
  return spec;
}

Result<std::string> requestOf(const Options& options, const model::JobSpec& spec) {
  popdist::v1::SubmitRequest request;
  request.set_request_id(sys::randomName() + sys::randomName());
  if (!request.mutable_spec()->ParseFromString(runner::encode(specForOthers(spec))))
    return internalError("the job cannot be encoded");
  if (options.host.empty() && options.hostfile.empty()) request.mutable_spec()->clear_hosts();
  request.set_name(options.detached.name);
  request.set_held(options.controller.held);
  request.set_priority(options.controller.priority);
  request.set_no_wait(options.controller.no_wait);
  request.set_log_limit_bytes(options.detached.log_limit_bytes);
  if (options.controller.num_hosts) request.set_num_hosts(*options.controller.num_hosts);
  return request.SerializeAsString();
}

// A descriptor that popctl inherits, at the beginning of `bytes`.
Result<int> inheritedFile(const std::string& bytes) {
  sys::Fd file(::memfd_create("job", 0));
  if (!file.valid()) return errnoStatus("memfd_create", errno);
  POP_RETURN_IF_ERROR(sys::writeAll(file.get(), bytes));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return errnoStatus("lseek", errno);
  return file.release();
}

std::vector<std::string> popctlWords(const Options& options, int request) {
  std::vector<std::string> words{"popctl", "--server", options.controller.server};
  if (!options.controller.tls.empty()) words.insert(words.end(), {"--tls", options.controller.tls});
  words.insert(words.end(), {"submit", "request", "--fd", std::to_string(request)});
  if (!options.detached.detach) words.emplace_back("--attach");
  for (std::string& word : outputWords(options)) words.push_back(std::move(word));
  return words;
}

}  // namespace

int controllerCommand(const Options& options, const model::JobSpec& spec) {
  const Result<std::string> bytes = requestOf(options, spec);
  if (!bytes.ok()) return launcherFailed(bytes.status());
  const Result<int> request = inheritedFile(bytes.value());
  if (!request.ok()) return launcherFailed(request.status());
  std::vector<std::string> words = popctlWords(options, request.value());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string program = sys::ownProgram("popctl");
  ::execv(program.c_str(), argv.data());
  return launcherFailed(errnoStatus("--controller needs " + program + ": starting it", errno));
}

}  // namespace pop
