// Our operations share these functions, which check types, gather tensors, and name an index that is out of bounds.
#pragma once

#include <openvino/op/op.hpp>
#include <openvino/runtime/tensor.hpp>

#include "gather.hpp"
#include "strides.hpp"

namespace ov_gather {

// Shape rules call this for a node that takes data, then indices.
void check_types(const ov::Node& node);
// Lets a constant table of 16-bit numbers keep its type, if nothing but Converts read what is gathered from it: the CPU plugin
// would widen the whole table, and take twice the memory and more time to read it.
void keep_narrow_table(ov::Node& node);
ov::PartialShape infer_batch(const ov::Node& node, const ov::PartialShape& data, const ov::PartialShape& indices,
                             int64_t batch_dims);

// Tells whether inputs have those shapes that the model was compiled for, which the shape rules have seen.
bool has_known_shapes(const ov::Node& node, const ov::TensorVector& inputs);

// Gives the output the shape that `infer` gives, unless it is known. Shape rules cost more than a small gather.
template <typename Infer>
void set_shape(const ov::Node& node, const ov::TensorVector& inputs, ov::Tensor& output, const Infer& infer) {
    const bool is_known = node.get_output_partial_shape(0).is_static() && has_known_shapes(node, inputs);
    const ov::Shape shape = is_known ? node.get_output_shape(0) : infer().to_shape();
    if (output.get_shape() != shape) output.set_shape(shape);
}

int64_t normalized(int64_t axis, int64_t rank);
IndexType index_type(const ov::Tensor& indices);
int64_t index_at(const ov::Tensor& indices, const ov::Coordinate& place);
ov::Coordinate unravel(size_t position, const ov::Shape& shape);

// Makes the loops over the indices alone: where the output has no elements, an index may be out of bounds all the same.
std::vector<Loop> index_loops(const ov::Tensor& indices);

// Turns each tuple of contiguous indices into one index into the dimensions `dims`, of which the first is this axis of data.
// Throws what `out_of_bounds` says of a coordinate.
std::vector<int64_t> flatten(const ov::Node& node, const ov::Tensor& indices, const std::vector<int64_t>& dims, size_t axis);

// Throws what `out_of_bounds` says of the tuple at this position.
[[noreturn]] void reject_tuple(const ov::Node& node, const ov::Tensor& indices, const std::vector<int64_t>& dims, size_t axis,
                               int64_t position);

// Gathers elements of tensors, also of tensors of strings.
int64_t gather_tensors(const Gather& gather, const ov::Tensor& data, const void* indices, ov::Tensor& output);

bool is_in_bounds(int64_t index, int64_t size);

// Says "indices[0, 17] = 52 is out of bounds for axis 1 of size 50 (valid -50..49)", or that indices have changed meanwhile.
std::string out_of_bounds(const ov::Coordinate& place, int64_t index, size_t axis, int64_t size);

}  // namespace ov_gather
