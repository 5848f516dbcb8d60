// Helpers of our operations: type checks, gathers of tensors, error messages.
#pragma once

#include <openvino/op/op.hpp>
#include <openvino/runtime/tensor.hpp>

#include <array>
#include <functional>
#include <new>
#include <vector>

#include "ov_gather_kernel.h"

namespace ov_gather {

// The caller's TBB arena: inside OpenVINO, that of the plugin with its thread limit.
extern const ov_gather_threads tbb_threads;

// Return the kernel's result. Throws if it lacks memory.
inline int64_t checked(int64_t result) {
    if (result == ov_gather_no_memory) throw std::bad_alloc();
    return result;
}

// An ov::Shape, whose own operator[] is a call into OpenVINO.
using Sizes = std::vector<size_t>;

// The strides of a tensor in bytes, without a system call and, up to 8 dimensions, without an allocation. OpenVINO computes
// strides on demand, with a system call for each new tensor, as all tensors of an inference are. For three tensors that takes
// longer than a small gather.
class TensorStrides {
public:
    explicit TensorStrides(const ov::Tensor& tensor);
    TensorStrides(const TensorStrides&) = delete;
    int64_t operator[](size_t dimension) const { return m_first[dimension]; }

private:
    std::array<int64_t, 8> m_near;
    std::vector<int64_t> m_far;
    int64_t* m_first = m_near.data();
};

bool is_contiguous(const ov::Tensor& tensor);

// Check the number of inputs, named `names`, and the types of the first two: data and indices.
void check_inputs(const ov::Node& node, size_t count, const char* names);
// Check the number of inputs of a clone. OpenVINO's check_new_args_count copies the present inputs to count them, and with open
// shapes each inference makes a clone.
void check_count(const ov::Node& node, const ov::OutputVector& inputs);
// Keep the type of a constant 16-bit table if only Converts read the gathered elements: the CPU plugin would otherwise widen
// the whole table, which takes twice the memory and more time to read.
void keep_narrow_table(ov::Node& node);
ov::PartialShape infer_batch(const ov::Node& node, const ov::PartialShape& data, const ov::PartialShape& indices,
                             int64_t batch_dims);

// Return true if inputs have the static shapes that the model was compiled for, which shape inference has checked.
bool has_known_shapes(const ov::Node& node, const ov::TensorVector& inputs);

int64_t normalized(int64_t axis, int64_t rank);

inline int64_t size_of_element(const ov::Tensor& tensor) { return tensor.get_element_type().size(); }

int64_t index_at(const ov::Tensor& indices, const ov::Coordinate& place);
ov::Coordinate unravel(size_t position, const ov::Shape& shape);

// Return the row-major position of the first index out of bounds, or ov_gather_done.
int64_t first_bad(const ov::Tensor& indices, int64_t axis_size);

// Flatten each tuple of contiguous indices to one index into the dimensions `dims`, which start at `axis` of data. Throw if a
// coordinate is out of bounds.
std::vector<int64_t> flatten(const ov::Node& node, const ov::Tensor& indices, const std::vector<int64_t>& dims, size_t axis);

// Call `reject_index` for the tuple at this position.
[[noreturn]] void reject_tuple(const ov::Node& node, const ov::Tensor& indices, const std::vector<int64_t>& dims, size_t axis,
                               int64_t position);

// Return true if a tensor begins at a multiple of the size of its elements. Constants of an IR may not.
bool is_aligned(const ov::Tensor& tensor);

// Return a tensor, or a copy of it if it is not aligned.
const ov::Tensor& aligned(const ov::Tensor& tensor, ov::Tensor& copy);

// Gather elements of tensors, strings included. An index that is out of bounds gives zero if `zero`.
int64_t gather_tensors(const std::vector<ov_gather_loop>& loops, size_t axis, int64_t axis_stride, const ov::Tensor& data,
                       const ov::Tensor& indices, ov::Tensor& output, bool zero = false);

// Gather positions in the place of elements; return the kernel's result.
using GatherPositions = std::function<int64_t(const int64_t* from, int64_t* to)>;

// Gather strings, which own memory and cannot be moved as bytes: positions from 1 (0 = empty string), then each string.
int64_t gather_strings(const ov::Tensor& data, ov::Tensor& output, const GatherPositions& gather);

bool is_in_bounds(int64_t index, int64_t size);

// Throw "indices[0, 17] = 52 is out of bounds for axis 1 of size 50 (valid -50..49)", or that the indices have been changed.
// `name` is that of the input.
[[noreturn]] void reject_index(const ov::Node& node, const ov::Tensor& indices, const ov::Coordinate& place, size_t axis,
                               int64_t size, const char* name = "indices");

}  // namespace ov_gather
