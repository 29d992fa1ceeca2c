// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/base/text.h"
#include "libpopdist/data/tensor/error_edge.h"
#include "popdist/pipeline.hpp"

namespace popdist::train {
namespace {

using pop::inQuotes;

[[noreturn]] void fail(const Stage& stage, pop::Code code, const std::string& message) {
  throwIfError({code, message}, "Pipeline, stage " + inQuotes(stage.name));
  throw popdist_error(ErrorCode::kInternal, message);  // not reached: the code is not kOk
}

std::string quotedNames(const Spec& spec) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : spec) names.push_back(tensor.name);
  return names.empty() ? "there is none" : "there are " + pop::join(names, ", ");
}

std::string ofType(const TensorSpec& tensor, const char* what) {
  return std::string(what) + " " + inQuotes(tensor.name) + " is " + textOf(tensor);
}

}  // namespace

std::size_t Io::find(detail::Side side, const char* what, std::string_view name) const {
  for (std::size_t i = 0; i < side.spec->size(); ++i) {
    if ((*side.spec)[i].name == name) return i;
  }
  fail(*stage_, pop::Code::kNotFound,
       "no " + std::string(what) + " is called " + inQuotes(name) + ": " + quotedNames(*side.spec));
}

std::size_t Io::find(detail::Side side, const char* what, std::size_t position) const {
  if (position < side.spec->size()) return position;
  fail(*stage_, pop::Code::kNotFound,
       "no " + std::string(what) + " has position " + std::to_string(position) + ": " +
           quotedNames(*side.spec));
}

std::pair<std::byte*, std::size_t> Io::at(detail::Side side, const char* what, std::size_t position,
                                          Type type) const {
  const TensorSpec& tensor = (*side.spec)[position];
  if (tensor.type != type)
    fail(*stage_, pop::Code::kInvalidArgument,
         ofType(tensor, what) + ", and is read as " + std::string(nameOf(type)));
  if (side.data == nullptr || side.data[position] == nullptr)
    fail(*stage_, pop::Code::kFailedPrecondition,
         "there is no " + ofType(tensor, what) +
             (side.data == nullptr ? ": this is the last stage" : ": only floating point has gradients"));
  return {side.data[position], tensor.elements()};
}

std::string_view Io::option(std::string_view name, std::string_view fallback) const {
  if (options_ == nullptr) return fallback;
  const auto found = options_->find(name);
  return found == options_->end() ? fallback : std::string_view(found->second);
}

std::size_t Io::placeOf(std::size_t parameter, Type type) const {
  const auto found = std::find(stage_->parameters.begin(), stage_->parameters.end(), parameter);
  if (found == stage_->parameters.end())
    fail(*stage_, pop::Code::kNotFound,
         "parameter " +
             (parameter < parameters_->size() ? inQuotes((*parameters_)[parameter].name)
                                              : std::to_string(parameter)) +
             " is not one of this stage: list it in Stage::parameters");
  const TensorSpec& tensor = (*parameters_)[parameter];
  if (tensor.type != type)
    fail(*stage_, pop::Code::kInvalidArgument,
         ofType(tensor, "parameter") + ", and is read as " + std::string(nameOf(type)));
  return static_cast<std::size_t>(found - stage_->parameters.begin());
}

detail::Side Io::backwardOnly(detail::Side side, const char* what) const {
  if (pass_ != ActionKind::kBackward)
    fail(*stage_, pop::Code::kFailedPrecondition,
         std::string(what) + " is called in the forward: there are gradients in the backward only");
  return side;
}

}  // namespace popdist::train
