// SPDX-License-Identifier: Apache-2.0
// Values that each option takes, for tests that go through all of them, and random command lines made of
// them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/base/random.h"
#include "poprun/cli/option_table.h"

namespace pop::testing {

inline const std::vector<std::string> kBools{"yes", "no", "On", "FALSE", "1", "0"};

/// By the option's name; a flag has one empty value.
inline const std::map<std::string, std::vector<std::string>, std::less<>> kOptionSamples{
    {"--help", {""}},
    {"--version", {""}},
    {"--version-format", {"text", "full-text", "full-json"}},
    {"--verbose", {""}},
    {"--vv", {""}},
    {"--num-instances", {"1", "2", "12", "-3", "0"}},
    {"--num-replicas", {"1", "24", "7"}},
    {"--uneven-replicas", kBools},
    {"--ipus-per-replica", {"1", "2", "4"}},
    {"--num-ilds", {"1", "2"}},
    {"--system", {"pod16", "bow-pod64"}},
    {"--offline-mode", kBools},
    {"--host", {"a,b", "node[0-2,4]", "x:2,y:4", " odd", "a#b", "\"quoted\""}},
    {"--hostfile", {"hosts.txt", "my hosts ", "tab\tin it", "line\nbreak"}},
    {"--instances-per-host", {"1", "16", "even"}},
    {"--oversubscribe", kBools},
    {"--host-subnet", {"10.1.0.0/16", "fe80::/10", "eth0,ib0"}},
    {"--synchronise", {"/data", "a dir", "../x", "tab\tin it"}},
    {"--synchronise-python-venv", kBools},
    {"--synchronise-poplar-sdk", kBools},
    {"--distribute-ssh-key", kBools},
    {"--process-placement", {"spreadnuma", "spreadcores", "compact", "disabled", "0-3:4-7", "0,2"}},
    {"--cores-per-instance", {"0", "3"}},
    {"--numa-aware", kBools},
    {"--report-bindings", kBools},
    {"--print-topology", kBools},
    {"-x", {"A=1", "PATH", "B=", "C=a b=c # d", "D='\"\\", "E= blank around ", "F=two\nlines"}},
    {"--genvall", kBools},
    {"--wdir", {"/tmp", "a dir", "."}},
    {"--env-for", {"all", "none", "tensorflow,pytorch", "openmp"}},
    {"--collectives", {"staged", "tcp,ring", "messages,halving-doubling"}},
    {"--tf-config-tasks", {"workers", "chief", "evaluator", "chief,evaluator"}},
    {"--executable-cache-path", {"/cache", "my cache"}},
    {"--stdin", {"none", "all", "0", "3"}},
    {"--tag-output", {"auto", "no", "instance", "yes", "host", "mpi"}},
    {"--timestamp-output", kBools},
    {"--fold-output", kBools},
    {"--output-filename", {"logs", "/tmp/logs"}},
    {"--only-output-from-instance", {"0", "1"}},
    {"--only-stdout-from-instance", {"0", "1"}},
    {"--timeout", {"90", "1.5", "90s", "10m", "2h", "250ms", "0", "0.001"}},
    {"--stack-traces", kBools},
    {"--kill-grace", {"5", "0", "0.25"}},
    {"--max-restarts", {"0", "3"}},
    {"--restart-delay", {"0", "1.125"}},
    {"--ssh-config", {"/etc/ssh/cluster_config", "a b"}},
    {"--rsh", {"ssh -J gate", "my 'rsh'"}},
    {"--agent-path", {"/opt/poprun/bin/popdist-agent"}},
    {"--agent-port", {"7900", "0"}},
    {"--agent-tls", {"/etc/poprun/tls"}},
    {"--connect-timeout", {"10", "0.5"}},
    {"--host-silence", {"5", "2.5"}},
    {"--min-hosts", {"1", "3"}},
    {"--allow-run-as-root", kBools},
    {"--controller", {"head:8090", "[::1]:1"}},
    {"--controller-tls", {"/etc/poprun/tls"}},
    {"--num-hosts", {"1", "3"}},
    {"--priority", {"0", "-2", "7"}},
    {"--held", {""}},
    {"--no-wait", {""}},
    {"--detach", {""}},
    {"--name", {"train", "a.b_c-1"}},
    {"--on-hangup", {"stop", "detach"}},
    {"--log-limit", {"64M", "8MiB", "2G", "1024gib"}},
    {"--jobs", {"yes", "h1:", "me@h1:22:"}},
    {"--json", {""}},
    {"--attach", {"7", "train", "h1:7"}},
    {"--control", {""}},
    {"--logs", {"7", "h1:train"}},
    {"--scaling-report", {"runs.jsonl", "/tmp/runs of today.jsonl"}},
    {"--scaling-format", {"markdown", "json", "svg"}},
    {"--follow", {""}},
    {"--cancel", {"7", "h1:train"}},
    {"--dry-run", {"text", "json", "no", "yes"}},
    {"--debug", kBools},
    {"--import-config", {"in.cfg"}},
    {"--export-config", {"out.cfg"}},
    {"--overwrite-config", kBools},
    {"--vipu-server-host", {"vipu", "10.0.0.1"}},
    {"--vipu-server-port", {"1", "65535"}},
    {"--vipu-server-timeout", {"1", "600"}},
    {"--vipu-partition", {"p", "slurm_17"}},
    {"--vipu-partition-attempts", {"1", "9"}},
    {"--vipu-allocation", {"alloc"}},
    {"--vipu-cluster", {"c64"}},
    {"--update-partition", kBools},
    {"--reset-partition", kBools},
    {"--remove-partition", kBools},
    {"--sync-type",
     {"ST_GS2_DEFAULT", "ST_GS2_INDEPENDENT_RAILS", "ST_POD_NATIVE_DEFAULT",
      "ST_POD_NATIVE_REPLICATED_PIPELINE"}},
    {"--mpi-global-args", {"--tag-output", "-x G=1 -x 'H=a b'", "--bind-to none", "--map-by slot:PE=2"}},
    {"--mpi-local-args", {"-x LD_LIBRARY_PATH", "--wdir /tmp --timestamp-output"}},
};

inline void addOption(std::vector<std::string>& words, const cli::OptionRow& row, SplitMix64& random) {
  const std::vector<std::string>& values = kOptionSamples.at(std::string(row.name));
  const std::string& value = values[random.below(values.size())];
  if (row.traits.rule == cli::ValueRule::kNone) return words.emplace_back(row.name), void();
  words.push_back(std::string(row.name) + '=' + value);
}

/// A command line without mistakes that a configuration file can hold.
inline std::vector<std::string> randomCommandLine(SplitMix64& random) {
  static const std::vector<std::string> nasty{"./train",   "",     "a b",      "--np",  "-x",
                                              "it's",      "\"",   "\\",       "#",     "=",
                                              "[program]", "\n\n", "\xc3\xa4", "$HOME", " x "};
  std::vector<std::string> words;
  const bool hostfile = random.below(2) == 0;
  const bool only_stdout = random.below(2) == 0;
  for (const cli::OptionRow& row : cli::optionTable()) {
    if (!row.traits.in_config || random.below(3) != 0) continue;
    if (row.name == (hostfile ? "--host" : "--hostfile")) continue;
    if (row.name == (only_stdout ? "--only-output-from-instance" : "--only-stdout-from-instance")) continue;
    addOption(words, row, random);
    if (row.traits.repeatable) addOption(words, row, random);
  }
  for (std::uint64_t programs = 1 + random.below(3); programs > 0; --programs) {
    words.emplace_back("./program");
    for (std::uint64_t arguments = random.below(5); arguments > 0; --arguments) {
      words.push_back(nasty[random.below(nasty.size())]);
    }
    if (programs == 1) break;
    words.emplace_back(":");
    for (const char* name : {"--num-instances", "-x", "--wdir"}) {
      if (random.below(2) == 0) addOption(words, *cli::findOption(name), random);
    }
  }
  return words;
}

}  // namespace pop::testing
