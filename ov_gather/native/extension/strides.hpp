// Strides of tensors, without a system call. OpenVINO computes strides on demand, with a system call for each new tensor, as
// all tensors of an inference are. For three tensors that takes longer than a small gather.
#pragma once

#include <openvino/runtime/tensor.hpp>

namespace ov_gather {

// Return the strides in bytes.
ov::Strides strides_of(const ov::Tensor& tensor);

bool is_contiguous(const ov::Tensor& tensor);

}  // namespace ov_gather
