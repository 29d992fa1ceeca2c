// SPDX-License-Identifier: Apache-2.0
// The environment of processes that are started alike. The common part is built once, and only the
// differences for each process.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace pop::keeper {

class Environment {
 public:
  /// This process's environment with `variables` ("NAME=value") added or replaced; the last one of a name
  /// wins.
  explicit Environment(std::vector<std::string> variables = {});
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// The environment with `variables` added or replaced, as execve takes it: the pointers live as long as
  /// this object and `variables`.
  std::vector<char*> with(const std::vector<std::string>& variables) const;

 private:
  std::vector<std::string> own_;
  std::vector<char*> all_;
  std::unordered_map<std::string_view, std::size_t> place_of_;  ///< in all_, by name
};

/// Returns the value of `name` in the result of with(); empty if it is not set.
std::string_view valueIn(const std::vector<char*>& environment, std::string_view name);

}  // namespace pop::keeper
