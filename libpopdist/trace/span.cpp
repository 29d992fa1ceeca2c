// SPDX-License-Identifier: Apache-2.0
#include "popdist/span.hpp"

#include "libpopdist/trace/recorder.h"

namespace popdist {

Span::Span(std::string_view name)
    : name_(name),
      begin_(trace::recorder() == nullptr ? trace::Moment() : std::chrono::steady_clock::now()) {}

Span::~Span() {
  if (trace::Recorder* const found = trace::recorder())
    found->add(trace::Kind::kProgram, name_, begin_, std::chrono::steady_clock::now());
}

}  // namespace popdist
