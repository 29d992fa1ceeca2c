// SPDX-License-Identifier: Apache-2.0
// One command line of popctl, as values.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/popdist/v1/controller.pb.h"

namespace pop::popctl {

namespace v1 = ::popdist::v1;

enum class Action : std::uint8_t {
  kSubmitJob,      ///< by way of poprun
  kSubmitRequest,  ///< what poprun hands on
  kListJobs,
  kListHosts,
  kGetJob,
  kGetHost,
  kCancelJob,
  kSignalJob,
  kHoldJob,
  kReleaseJob,
  kWaitJob,
  kForgetJob,
  kLogsJob,
  kAttachJob,
  kDrainHost,
  kResumeHost,
  kRemoveHost,
  kCheckStore,
  kBackup,
  kAbout,
  kTop,
  kCompletion,
};

/// Options of all commands.
struct CommonOptions {
  std::string server;  ///< as given; empty: see settings.h
  std::string tls;     ///< likewise
  bool json = false;
  bool quiet = false;
  std::optional<double> timeout_s;  ///< missing: 30, but none for `wait job`
  int reconnect_s = 60;
};

struct JobFilter {
  std::string user;
  std::vector<v1::JobState> states;
  std::string name;
  std::string host;
};

struct SubmitOptions {
  std::string name;
  bool held = false;
  std::optional<int> priority;
  std::optional<int> num_hosts;
  bool no_wait = false;
  bool wait = false;    ///< for the job's end
  bool attach = false;  ///< show the job
  int request_fd = -1;  ///< of what poprun hands on
  bool from_popctl = false;
};

struct Command {
  Action action = Action::kAbout;
  std::string words;  ///< "cancel job", for messages
  CommonOptions common;
  std::string object;  ///< job, host, file or shell
  std::string signal;
  std::string reason;
  JobFilter filter;
  int limit = 100;  ///< of a list; 0: none
  bool watch = false;
  bool follow = false;
  bool control = false;
  std::uint64_t since_sequence = 0;
  SubmitOptions submit;
  std::vector<std::string> rest;  ///< options about output, or a job's command line, for poprun's parser
};

}  // namespace pop::popctl
