// SPDX-License-Identifier: Apache-2.0
// Many requests by HTTP in one curl, and their codes.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace pop::testing {

struct CurlRequest {
  std::string method;  ///< "GET", "HEAD", "POST"
  std::string url;
  std::string body;                    ///< JSON, of a POST
  std::vector<std::string> options{};  ///< "interface = \"127.0.0.7\""
  std::vector<std::string> headers{};  ///< "Authorization: Bearer …"
  int limit_s = 10;                    ///< a stream's code is known before its end
};

/// In order; 0: there was no answer. `config`: a file that it may write.
inline std::vector<int> codesOf(const std::vector<CurlRequest>& requests, const std::string& config) {
  if (requests.empty()) return {};
  const auto quoted = [](const std::string& text) {
    std::string all = "\"";
    for (const char each : text)
      all += each == '"' || each == '\\' ? std::string{'\\', each} : std::string{each};
    return all + '"';
  };
  {
    std::ofstream file(config);
    for (const CurlRequest& each : requests) {
      if (&each != &requests.front()) file << "next\n";
      file << "silent\noutput = \"/dev/null\"\nwrite-out = \"%{http_code}\\n\"\nurl = " << quoted(each.url)
           << "\nmax-time = " << each.limit_s << '\n';
      if (each.method == "HEAD") file << "head\n";
      if (each.method == "POST")
        file << "header = \"Content-Type: application/json\"\ndata = " << quoted(each.body) << '\n';
      for (const std::string& option : each.options) file << option << '\n';
      for (const std::string& header : each.headers) file << "header = " << quoted(header) << '\n';
    }
  }
  std::vector<int> codes;
  FILE* const pipe = ::popen(("curl --config " + config).c_str(), "r");
  for (int code = 0; std::fscanf(pipe, "%d", &code) == 1;) codes.push_back(code);
  ::pclose(pipe);
  EXPECT_EQ(codes.size(), requests.size());
  codes.resize(requests.size());
  return codes;
}

}  // namespace pop::testing
