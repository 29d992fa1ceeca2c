// SPDX-License-Identifier: Apache-2.0
#include "attention.h"

#include <cmath>

#include "products.h"

namespace {

/// Beginning of one head of one sample in matrices of rows, and the length of their rows.
struct Head {
  std::size_t query, key, value;  ///< in qkv
  std::size_t output;
  std::size_t probabilities;
  int places, width;
  int qkv_row, output_row;
  float scale;
};

template <typename Function>
void forEachHead(const AttentionShape& shape, Function function) {
  const std::size_t width = shape.width / shape.heads;
  Head head{};
  head.places = static_cast<int>(shape.context);
  head.width = static_cast<int>(width);
  head.qkv_row = static_cast<int>(3 * shape.width);
  head.output_row = static_cast<int>(shape.width);
  head.scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (std::size_t sample = 0; sample < shape.samples; ++sample) {
    for (std::size_t i = 0; i < shape.heads; ++i) {
      head.query = sample * shape.context * 3 * shape.width + i * width;
      head.key = head.query + shape.width;
      head.value = head.key + shape.width;
      head.output = sample * shape.context * shape.width + i * width;
      head.probabilities = (sample * shape.heads + i) * shape.context * shape.context;
      function(head);
    }
  }
}

}  // namespace

void attention(const AttentionShape& shape, const SequenceLoops& loops, const float* qkv,
               float* probabilities, float* output) {
  forEachHead(shape, [&](const Head& head) {
    float* const p = probabilities + head.probabilities;
    multiply({.rows = head.places,
              .columns = head.places,
              .inner = head.width,
              .b = Transposed::kYes,
              .factor = head.scale,
              .a_stride = head.qkv_row,
              .b_stride = head.qkv_row},
             qkv + head.query, qkv + head.key, p);
    loops.causalSoftmax(p, 1, shape.context);
    multiply({.rows = head.places,
              .columns = head.width,
              .inner = head.places,
              .b_stride = head.qkv_row,
              .c_stride = head.output_row},
             p, qkv + head.value, output + head.output);
  });
}

void attentionBackward(const AttentionShape& shape, const SequenceLoops& loops, const float* qkv,
                       const float* probabilities, const float* d_output, float* scratch, float* d_qkv) {
  forEachHead(shape, [&](const Head& head) {
    const float* const p = probabilities + head.probabilities;
    const float* const d_out = d_output + head.output;
    multiply({.rows = head.places,
              .columns = head.places,
              .inner = head.width,
              .b = Transposed::kYes,
              .a_stride = head.output_row,
              .b_stride = head.qkv_row},
             d_out, qkv + head.value, scratch);
    loops.causalSoftmaxBackward(p, 1, shape.context, scratch);
    const Product places_by_width{.rows = head.places,
                                  .columns = head.width,
                                  .inner = head.places,
                                  .b_stride = head.qkv_row,
                                  .c_stride = head.qkv_row};
    Product d_value = places_by_width;
    d_value.a = Transposed::kYes;
    d_value.b_stride = head.output_row;
    multiply(d_value, p, d_out, d_qkv + head.value);
    Product d_query = places_by_width;
    d_query.factor = head.scale;
    multiply(d_query, scratch, qkv + head.key, d_qkv + head.query);
    Product d_key = d_query;
    d_key.a = Transposed::kYes;
    multiply(d_key, scratch, qkv + head.query, d_qkv + head.key);
  });
}
