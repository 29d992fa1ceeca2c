// SPDX-License-Identifier: Apache-2.0
#include "libpopdist/backends/mpi/pmi_answers.h"

#include <algorithm>

namespace popdist::backends {
namespace {

constexpr const char* kSpace = "popdist";

// Finds a value in "… name=value …". It ends at a blank, except that of `value`, which is the last field.
std::string fieldOf(std::string_view line, std::string_view name) {
  const std::string start = ' ' + std::string(name) + '=';
  const std::string padded = ' ' + std::string(line);
  const std::size_t at = padded.find(start);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + start.size();
  const std::size_t end = name == "value" ? std::string::npos : padded.find(' ', begin);
  return padded.substr(begin, end == std::string::npos ? end : end - begin);
}

}  // namespace

std::vector<PmiAnswers::Line> PmiAnswers::to(int rank, std::string_view line) {
  const std::string command = fieldOf(line, "cmd");
  const auto answer = [rank](std::string text) { return std::vector<Line>{{rank, std::move(text)}}; };
  if (command == "init") return answer("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0");
  if (command == "get_maxes") return answer("cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024");
  if (command == "get_appnum") return answer("cmd=appnum appnum=0");
  if (command == "get_my_kvsname") return answer(std::string("cmd=my_kvsname kvsname=") + kSpace);
  if (command == "get_universe_size")
    return answer("cmd=universe_size size=" + std::to_string(in_barrier_.size()));
  if (command == "put") {
    values_[fieldOf(line, "key")] = fieldOf(line, "value");
    return answer("cmd=put_result rc=0 msg=success");
  }
  if (command == "get") return answer(valueOf(fieldOf(line, "key")));
  if (command == "barrier_in") return enterBarrier(rank);
  if (command == "finalize") return answer("cmd=finalize_ack");
  return {};
}

std::vector<PmiAnswers::Line> PmiAnswers::enterBarrier(int rank) {
  in_barrier_[static_cast<std::size_t>(rank)] = true;
  if (!std::all_of(in_barrier_.begin(), in_barrier_.end(), [](bool in) { return in; })) return {};
  std::vector<Line> lines;
  for (std::size_t each = 0; each < in_barrier_.size(); ++each) {
    in_barrier_[each] = false;
    lines.push_back({static_cast<int>(each), "cmd=barrier_out"});
  }
  return lines;
}

std::string PmiAnswers::valueOf(const std::string& key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return "cmd=get_result rc=-1 msg=key_not_found value=unknown";
  return "cmd=get_result rc=0 msg=success value=" + found->second;
}

}  // namespace popdist::backends
