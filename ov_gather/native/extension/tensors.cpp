#include "tensors.hpp"

#include <openvino/op/constant.hpp>
#include <openvino/op/convert.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <sstream>

#include "platform.hpp"

namespace ov_gather {
namespace {

// The private implementation of a tensor. Its first word, the vtable pointer, identifies its class.
class Implementation : public ov::Tensor {
public:
    static const void* class_of(const ov::Tensor& tensor) {
        const void* result;
        std::memcpy(&result, (tensor.*(&Implementation::_impl)).get(), sizeof(result));
        return result;
    }
};

// Return the class of tensors without strides; null if tensors with strides have the same class.
const void* find_class_without_strides() {
    float memory[4] = {};
    const ov::Tensor whole(ov::element::f32, {2, 2}, memory), strided(ov::element::f32, {2, 1}, memory, ov::Strides{8, 4});
    const ov::Tensor part(whole, {0, 0}, {2, 1});
    const void* const result = Implementation::class_of(whole);
    return result == Implementation::class_of(strided) || result == Implementation::class_of(part) ? nullptr : result;
}

bool has_no_strides(const ov::Tensor& tensor) {
    static const void* const without_strides = find_class_without_strides();
    return Implementation::class_of(tensor) == without_strides;
}

}  // namespace

TensorStrides::TensorStrides(const ov::Tensor& tensor) {
    const Sizes& shape = tensor.get_shape();
    if (shape.size() > m_near.size()) {
        m_far.resize(shape.size());
        m_first = m_far.data();
    }
    if (!has_no_strides(tensor)) {
        const auto given = tensor.get_strides();
        std::copy(given.begin(), given.end(), m_first);
        return;
    }
    int64_t step = tensor.get_element_type().size();
    for (size_t i = shape.size(); i-- > 0; step *= shape[i]) m_first[i] = step;
}

bool is_contiguous(const ov::Tensor& tensor) { return has_no_strides(tensor) || tensor.is_continuous(); }

void check_inputs(const ov::Node& node, size_t count, const char* names) {
    NODE_VALIDATION_CHECK(&node, node.get_input_size() == count, "takes ", names, ", not ", node.get_input_size(), " inputs");
    const auto data = node.get_input_element_type(0), indices = node.get_input_element_type(1);
    NODE_VALIDATION_CHECK(&node, data.is_dynamic() || data == ov::element::string || data.bitwidth() % 8 == 0, "data of ", data,
                          " has elements smaller than a byte, which cannot be moved one by one: convert it to i8 or u8");
    NODE_VALIDATION_CHECK(&node, indices.is_dynamic() || indices == ov::element::i32 || indices == ov::element::i64,
                          "indices must be i32 or i64, not ", indices);
}

void check_count(const ov::Node& node, const ov::OutputVector& inputs) {
    NODE_VALIDATION_CHECK(&node, inputs.size() == node.get_input_size(), "takes ", node.get_input_size(), " inputs, not ",
                          inputs.size());
}

bool is_aligned(const ov::Tensor& tensor) {
    const size_t size = std::min<size_t>(tensor.get_element_type().size(), sizeof(int64_t));
    return size == 0 || reinterpret_cast<uintptr_t>(tensor.data()) % size == 0;
}

const ov::Tensor& aligned(const ov::Tensor& tensor, ov::Tensor& copy) {
    if (is_aligned(tensor)) return tensor;
    copy = ov::Tensor(tensor.get_element_type(), tensor.get_shape());
    tensor.copy_to(copy);
    return copy;
}

void keep_narrow_table(ov::Node& node) {
    if (node.get_output_size() == 0) return;  // the node is under construction
    const auto type = node.get_input_element_type(0);
    if (type != ov::element::f16 && type != ov::element::bf16) return;
    const auto table = ov::as_type_ptr<ov::op::v0::Constant>(node.get_input_node_shared_ptr(0));
    const auto readers = node.get_output_target_inputs(0);
    if (!table || readers.empty()) return;
    for (const auto& reader : readers)
        if (!ov::is_type<ov::op::v0::Convert>(reader.get_node())) return;
    table->get_rt_info()["keep_const_precision_0"] = std::string();  // OpenVINO's passes only check that the key exists
}

// Return the batch dimensions, which must be equal in data and indices.
ov::PartialShape infer_batch(const ov::Node& node, const ov::PartialShape& data, const ov::PartialShape& indices,
                             int64_t batch_dims) {
    auto batch = ov::PartialShape::dynamic(batch_dims);
    for (int64_t i = 0; i < batch_dims; ++i)
        NODE_VALIDATION_CHECK(&node, ov::Dimension::merge(batch[i], data[i], indices[i]), "data ", data, " and indices ",
                              indices, " differ in dimension ", i, ", which is one of ", batch_dims, " batch_dims");
    return batch;
}

bool has_known_shapes(const ov::Node& node, const ov::TensorVector& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (node.get_input_partial_shape(i).is_dynamic() || node.get_input_shape(i) != inputs[i].get_shape()) return false;
    }
    return true;
}

int64_t normalized(int64_t axis, int64_t rank) { return axis < 0 ? axis + rank : axis; }

int64_t index_at(const ov::Tensor& indices, const ov::Coordinate& place) {
    const TensorStrides strides(indices);
    const auto* at = static_cast<const char*>(indices.data());
    for (size_t i = 0; i < place.size(); ++i) at += place[i] * strides[i];
    return indices.get_element_type() == ov::element::i32 ? load_once(reinterpret_cast<const int32_t*>(at))
                                                          : load_once(reinterpret_cast<const int64_t*>(at));
}

ov::Coordinate unravel(size_t position, const ov::Shape& shape) {
    ov::Coordinate place(shape);
    for (size_t i = shape.size(); i-- > 0; position /= shape[i]) place[i] = position % shape[i];
    return place;
}

int64_t first_bad(const ov::Tensor& indices, int64_t axis_size) {
    const Sizes& shape = indices.get_shape();
    const TensorStrides strides(indices);
    std::vector<ov_gather_loop> loops;
    for (size_t i = 0; i < shape.size(); ++i) loops.push_back({static_cast<int64_t>(shape[i]), strides[i], 0, 0});
    const ov_gather_elements_arguments gather{
        loops.data(), static_cast<int64_t>(loops.size()), axis_size, 0, 1, size_of_element(indices), 0};
    return checked(ov_gather_first_out_of_bounds(&tbb_threads, &gather, indices.data()));
}

std::vector<int64_t> flatten(const ov::Node& node, const ov::Tensor& indices, const std::vector<int64_t>& dims, size_t axis) {
    const auto shape = indices.get_shape();
    std::vector<int64_t> flat(ov::shape_size(shape.begin(), shape.end() - 1));
    const ov_gather_tuples_arguments given{
        1, static_cast<int64_t>(flat.size()), dims.data(), static_cast<int64_t>(dims.size()), 0, 0, size_of_element(indices)};
    const int64_t bad = checked(ov_gather_flatten_tuples(&tbb_threads, &given, indices.data(), flat.data()));
    if (bad != ov_gather_done) reject_tuple(node, indices, dims, axis, bad);
    return flat;
}

void reject_tuple(const ov::Node& node, const ov::Tensor& indices, const std::vector<int64_t>& dims, size_t axis, int64_t bad) {
    auto place = unravel(bad * dims.size(), indices.get_shape());
    size_t& coordinate = place.back();
    while (is_in_bounds(index_at(indices, place), dims[coordinate]) && coordinate + 1 < dims.size()) ++coordinate;
    reject_index(node, indices, place, axis + coordinate, dims[coordinate]);
}

int64_t gather_strings(const ov::Tensor& data, ov::Tensor& output, const GatherPositions& gather) {
    OPENVINO_ASSERT(is_contiguous(data) && is_contiguous(output),
                    "strings that are a part of a tensor are not gathered: copy it");
    std::vector<int64_t> positions(data.get_size()), chosen(output.get_size());
    std::iota(positions.begin(), positions.end(), 1);
    const int64_t bad = gather(positions.data(), chosen.data());
    if (bad != ov_gather_done) return bad;
    const auto* const from = data.data<std::string>();
    std::transform(chosen.begin(), chosen.end(), output.data<std::string>(),
                   [from](int64_t position) { return position ? from[position - 1] : std::string(); });
    return ov_gather_done;
}

int64_t gather_tensors(const std::vector<ov_gather_loop>& loops, size_t axis, int64_t axis_stride, const ov::Tensor& data,
                       const ov::Tensor& indices, ov::Tensor& output, bool zero) {
    const int64_t count = loops.size(), axis_size = data.get_shape()[axis];
    ov_gather_elements_arguments gather{
        loops.data(), count, axis_size, axis_stride, size_of_element(data), size_of_element(indices), zero};
    if (data.get_element_type() != ov::element::string)
        return checked(ov_gather_elements(&tbb_threads, &gather, data.data(), indices.data(), output.data()));
    constexpr int64_t wide = sizeof(std::string), narrow = sizeof(int64_t);
    std::vector<ov_gather_loop> narrow_loops(loops);
    for (ov_gather_loop& loop : narrow_loops) {
        loop.data_stride = loop.data_stride / wide * narrow;
        loop.output_stride = loop.output_stride / wide * narrow;
    }
    gather.loops = narrow_loops.data();
    gather.axis_stride = axis_stride / wide * narrow;
    gather.element_size = narrow;
    return gather_strings(data, output, [&](const int64_t* from, int64_t* to) {
        return checked(ov_gather_elements(&tbb_threads, &gather, from, indices.data(), to));
    });
}

bool is_in_bounds(int64_t index, int64_t size) { return -size <= index && index < size; }

void reject_index(const ov::Node& node, const ov::Tensor& indices, const ov::Coordinate& place, size_t axis, int64_t size,
                  const char* name) {
    const int64_t index = index_at(indices, place);
    std::ostringstream text;
    text << node.get_type_name() << " '" << node.get_friendly_name() << "': ";
    if (is_in_bounds(index, size))
        OPENVINO_THROW(text.str(),
                       "an index was out of bounds, but another thread has changed the indices since; they must not ",
                       "change while they are in use");
    text << name << "[";
    for (size_t i = 0; i < place.size(); ++i) text << (i ? ", " : "") << place[i];
    text << "] = " << index << " is out of bounds for axis " << axis << " of size " << size;
    if (size == 0)
        text << " (no index is valid)";
    else
        text << " (valid " << -size << ".." << size - 1 << ")";
    OPENVINO_THROW(text.str());
}

}  // namespace ov_gather
