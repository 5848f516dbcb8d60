// This is how the elements of each type of tensor are scattered.
#pragma once

#include <openvino/runtime/tensor.hpp>

#include <functional>

#include "reductions.hpp"

namespace ov_gather {

// Elements as the kernel sees them: their size in bytes, their kind, and how they reduce.
struct Elements {
    int64_t size;
    char kind;
    Reduction reduction;
};

// Lets `update` make the output of data and updates: of the elements themselves, of half floats as float32, of strings by their
// positions. All tensors are contiguous. Data may be the output.
using Update = std::function<void(const Elements& elements, const char* data, const char* updates, char* output)>;
void scatter_tensors(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const Elements& elements,
                     const Update& update);

}  // namespace ov_gather
