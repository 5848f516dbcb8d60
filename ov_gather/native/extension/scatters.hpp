// ScatterElements and ScatterND share these functions: how they read their reduction, and how elements of each type reduce.
#pragma once

#include <openvino/op/op.hpp>
#include <openvino/runtime/tensor.hpp>

#include <functional>
#include <string>

#include "reductions.hpp"

namespace ov_gather {

// Elements as the kernel sees them: their size in bytes, their kind, and how they reduce.
struct Elements {
    int64_t size;
    char kind;
    Reduction reduction;
};

// Shape rules call this for a node that takes data, indices and updates. `reduction` is named as in ONNX. `lanes` names the
// type of the numbers whose lanes data and updates hold, i64, u64 or f64 in two i32 each, along the last dimension; it is
// "none" where they hold the numbers themselves.
void check_scatter(const ov::Node& node, const std::string& reduction, const std::string& lanes);

// Gives the shape of the numbers that data or updates hold.
ov::PartialShape shape_of_numbers(const ov::Node& node, const ov::PartialShape& shape, const std::string& lanes);

// Gives the numbers that a tensor holds, in the same memory.
ov::Tensor numbers_of(const ov::Tensor& tensor, const std::string& lanes);

// Throws where a tensor is a part of another one.
void check_continuous(const ov::Node& node, const ov::TensorVector& tensors);

// Copies data to the output, and lets `update` work on that: on the elements themselves, on half floats as float32, on strings
// by their positions. All tensors are contiguous. The CPU plugin calls u32 i32, so that `is_unsigned` tells what elements are.
// Returns what `update` returns.
using Update = std::function<bool(const Elements& elements, const char* updates, char* output)>;
bool scatter_tensors(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const std::string& reduction,
                     bool is_unsigned, const Update& update);

}  // namespace ov_gather
