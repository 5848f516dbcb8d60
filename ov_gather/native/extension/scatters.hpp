// Scatters of tensors of each element type.
#pragma once

#include <openvino/runtime/tensor.hpp>

#include <functional>

#include "reductions.hpp"

namespace ov_gather {

// Properties of elements that the kernel needs: size in bytes, NumPy's kind, and reduction.
struct Elements {
    int64_t size;
    char kind;
    Reduction reduction;
};

// Compute the output by `update`: on the elements themselves, on half floats widened to float32, or on positions of strings.
// All tensors are contiguous. Data may be the output.
using Update = std::function<void(const Elements& elements, const char* data, const char* updates, char* output)>;
void scatter_tensors(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const Elements& elements,
                     const Update& update);

}  // namespace ov_gather
