// The strides of a tensor. In OpenVINO a tensor computes its strides when they are asked for, with a system call each time the
// tensor is new, as all tensors of an inference are. For three of them that takes longer than a small gather.
#pragma once

#include <openvino/runtime/tensor.hpp>

namespace ov_gather {

// Gives the strides in bytes.
ov::Strides strides_of(const ov::Tensor& tensor);

bool is_contiguous(const ov::Tensor& tensor);

}  // namespace ov_gather
