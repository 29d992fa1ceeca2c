// SPDX-License-Identifier: Apache-2.0
#include "one_thread.h"
#include "products.h"

#include <cstddef>
#include <map>
#include <oneapi/dnnl/dnnl.hpp>
#include <utility>
#include <vector>

namespace {

using dnnl::memory;
using Descriptor = memory::desc;
using Tag = memory::format_tag;

const dnnl::engine& cpu() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

Descriptor floats(const memory::dims& sizes, Tag layout) {
  return {sizes, memory::data_type::f32, layout};
}

/// Memory of the caller, which each call names.
memory elsewhere(const Descriptor& descriptor) {
  return {descriptor, cpu(), nullptr};
}

/// A primitive and what it works on. The C interface, since C++'s execute() allocates.
class Step {
 public:
  Step(dnnl::primitive primitive, std::vector<std::pair<int, memory>> memories)
      : primitive_(std::move(primitive)), memories_(std::move(memories)) {
    for (const auto& [argument, memory] : memories_) arguments_.push_back({argument, memory.get()});
  }
  void run() const {
    thread_local const dnnl::stream stream(cpu());
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive_.get(), stream.get(),
                                                   static_cast<int>(arguments_.size()), arguments_.data()),
                            "oneDNN could not compute");
  }

 private:
  dnnl::primitive primitive_;
  std::vector<std::pair<int, memory>> memories_;  // kept alive
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// to = from, or to += from, in another layout.
Step reorder(const memory& from, const memory& to, bool adds = false) {
  dnnl::primitive_attr attributes;
  dnnl::post_ops sum;
  if (adds) sum.append_sum(1.0F);
  attributes.set_post_ops(sum);
  return {dnnl::reorder({cpu(), from.get_desc(), cpu(), to.get_desc(), attributes}),
          {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

/// oneDNN's objects for one number of samples. It may want weights in a layout of its own.
struct Prepared {
  Prepared(const ConvolutionShape& shape, int batch)
      : input(elsewhere(floats({batch, shape.channels, shape.height, shape.width}, Tag::nhwc))),
        output(
            elsewhere(floats({batch, shape.filters, shape.outputHeight(), shape.outputWidth()}, Tag::nhwc))),
        weights(elsewhere(floats({shape.filters, shape.channels, 3, 3}, Tag::hwio))),
        bias(elsewhere(floats({shape.filters}, Tag::x))),
        forward_pd({dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, input.get_desc(),
                    any(), bias.get_desc(), output.get_desc(), kSteps, pad(shape), pad(shape)},
                   cpu()) {
    const memory own(forward_pd.weights_desc(), cpu());
    forward = {reorder(weights, own), Step(dnnl::convolution_forward(forward_pd), {{DNNL_ARG_SRC, input},
                                                                                   {DNNL_ARG_WEIGHTS, own},
                                                                                   {DNNL_ARG_BIAS, bias},
                                                                                   {DNNL_ARG_DST, output}})};
    prepareData(shape);
    prepareWeights(shape);
  }

  void prepareData(const ConvolutionShape& shape) {
    const dnnl::convolution_backward_data::primitive_desc pd(
        {dnnl::algorithm::convolution_direct, input.get_desc(), any(), output.get_desc(), kSteps, pad(shape),
         pad(shape)},
        cpu(), forward_pd);
    const memory own(pd.weights_desc(), cpu());
    backward_data = {
        reorder(weights, own),
        Step(dnnl::convolution_backward_data(pd),
             {{DNNL_ARG_DIFF_DST, output}, {DNNL_ARG_WEIGHTS, own}, {DNNL_ARG_DIFF_SRC, input}})};
  }

  void prepareWeights(const ConvolutionShape& shape) {
    const dnnl::convolution_backward_weights::primitive_desc pd(
        {dnnl::algorithm::convolution_direct, input.get_desc(), any(), bias.get_desc(), output.get_desc(),
         kSteps, pad(shape), pad(shape)},
        cpu(), forward_pd);
    const memory own(pd.diff_weights_desc(), cpu());
    const memory own_bias(pd.diff_bias_desc(), cpu());
    backward_weights = {Step(dnnl::convolution_backward_weights(pd), {{DNNL_ARG_SRC, input},
                                                                      {DNNL_ARG_DIFF_DST, output},
                                                                      {DNNL_ARG_DIFF_WEIGHTS, own},
                                                                      {DNNL_ARG_DIFF_BIAS, own_bias}}),
                        reorder(own, weights, true), reorder(own_bias, bias, true)};
  }

  Descriptor any() const { return floats(weights.get_desc().dims(), Tag::any); }
  static memory::dims pad(const ConvolutionShape& shape) { return {shape.padding, shape.padding}; }

  inline static const memory::dims kSteps{1, 1};
  memory input, output, weights, bias;
  dnnl::convolution_forward::primitive_desc forward_pd;
  std::vector<Step> forward, backward_data, backward_weights;
};

void name(memory& memory, const float* data) {
  memory.set_data_handle(const_cast<float*>(data));  // oneDNN reads and writes through the same type
}

void runAll(const std::vector<Step>& steps) {
  useOneThread();
  for (const Step& step : steps) step.run();
}

}  // namespace

class Convolution::Impl {
 public:
  explicit Impl(const ConvolutionShape& shape) : shape_(shape) {}
  Prepared& of(int batch) {
    const auto found = prepared_.find(batch);
    if (found != prepared_.end()) return found->second;
    useOneThread();
    return prepared_.try_emplace(batch, shape_, batch).first->second;
  }

 private:
  ConvolutionShape shape_;
  std::map<int, Prepared> prepared_;
};

Convolution::Convolution(const ConvolutionShape& shape) : impl_(std::make_unique<Impl>(shape)) {}
Convolution::~Convolution() = default;
Convolution::Convolution(Convolution&&) noexcept = default;
Convolution& Convolution::operator=(Convolution&&) noexcept = default;

void Convolution::forward(int batch, const float* input, const float* weights, const float* bias,
                          float* output) {
  Prepared& prepared = impl_->of(batch);
  name(prepared.input, input);
  name(prepared.weights, weights);
  name(prepared.bias, bias);
  name(prepared.output, output);
  runAll(prepared.forward);
}

void Convolution::backwardData(int batch, const float* d_output, const float* weights, float* d_input) {
  Prepared& prepared = impl_->of(batch);
  name(prepared.output, d_output);
  name(prepared.weights, weights);
  name(prepared.input, d_input);
  runAll(prepared.backward_data);
}

void Convolution::backwardWeights(int batch, const float* input, const float* d_output, float* d_weights,
                                  float* d_bias) {
  Prepared& prepared = impl_->of(batch);
  name(prepared.input, input);
  name(prepared.output, d_output);
  name(prepared.weights, d_weights);
  name(prepared.bias, d_bias);
  runAll(prepared.backward_weights);
}
