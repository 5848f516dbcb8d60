#include "gather_elements_op.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "gather.hpp"

namespace ov_gather {
namespace {

using ov::Dimension;

// Indices, which are one or as many as data has here; data's dimension is what the output gets.
bool broadcasts(const Dimension& indices, const Dimension& data, Dimension& output) {
    output = data;
    return indices.compatible(1) || Dimension::merge(output, indices, data);
}

// Indices, which are at most as many as data has here, are the output.
bool fits(const Dimension& indices, const Dimension& data, Dimension& output) {
    return Dimension::merge(output, indices, Dimension(0, data.get_max_length()));
}

int64_t normalized(int64_t axis, size_t rank) { return axis < 0 ? axis + static_cast<int64_t>(rank) : axis; }

// The loops over the output; a dimension of indices that is broadcast does not step.
Gather describe(const ov::Tensor& data, const ov::Tensor& indices, const ov::Tensor& output, size_t axis) {
    const auto shape = output.get_shape(), index_shape = indices.get_shape();
    const auto data_strides = data.get_strides(), index_strides = indices.get_strides(), strides = output.get_strides();
    Gather gather{{},
                  static_cast<int64_t>(data.get_shape()[axis]),
                  static_cast<int64_t>(data_strides[axis]),
                  static_cast<int64_t>(data.get_element_type().size()),
                  indices.get_element_type() == ov::element::i32 ? IndexType::int32 : IndexType::int64};
    gather.loops.reserve(shape.size());
    for (size_t i = 0; i < shape.size(); ++i)
        gather.loops.push_back({static_cast<int64_t>(shape[i]),
                                index_shape[i] == shape[i] ? static_cast<int64_t>(index_strides[i]) : 0,
                                i == axis ? 0 : static_cast<int64_t>(data_strides[i]), static_cast<int64_t>(strides[i])});
    return gather;
}

// Strings own memory, so they cannot be moved as bytes: gather their positions, then copy each.
int64_t gather_strings(const ov::Tensor& data, const ov::Tensor& indices, ov::Tensor& output, size_t axis) {
    OPENVINO_ASSERT(data.is_continuous() && output.is_continuous(), "strings that are a part of a tensor are not gathered: copy it");
    ov::Tensor numbers(ov::element::i64, data.get_shape()), chosen(ov::element::i64, output.get_shape());
    auto* const number = numbers.data<int64_t>();
    std::iota(number, number + numbers.get_size(), 0);
    const int64_t bad = gather_elements(describe(numbers, indices, chosen, axis), reinterpret_cast<const char*>(number),
                                        static_cast<const char*>(indices.data()), static_cast<char*>(chosen.data()));
    if (bad != all_in_bounds) return bad;
    const auto* const from = data.data<std::string>();
    const auto* const position = chosen.data<int64_t>();
    std::transform(position, position + chosen.get_size(), output.data<std::string>(),
                   [from](int64_t at) -> const std::string& { return from[at]; });
    return all_in_bounds;
}

// "indices[0, 17] = 52" for a position in the output.
std::string name_index(const ov::Tensor& indices, const ov::Shape& output, size_t position) {
    const auto shape = indices.get_shape();
    const auto strides = indices.get_strides();
    std::vector<size_t> coordinates(shape.size());
    size_t offset = 0;
    for (size_t i = shape.size(); i-- > 0; position /= output[i]) {
        coordinates[i] = shape[i] == output[i] ? position % output[i] : 0;
        offset += coordinates[i] * strides[i];
    }
    const char* const at = static_cast<const char*>(indices.data()) + offset;
    const int64_t value = indices.get_element_type() == ov::element::i32 ? *reinterpret_cast<const int32_t*>(at)
                                                                         : *reinterpret_cast<const int64_t*>(at);
    std::ostringstream text;
    text << "indices[";
    for (size_t i = 0; i < coordinates.size(); ++i) text << (i ? ", " : "") << coordinates[i];
    text << "] = " << value;
    return text.str();
}

}  // namespace

GatherElementsOp::GatherElementsOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, int64_t axis,
                                   bool broadcast)
    : Op({data, indices}), m_axis(axis), m_broadcast(broadcast) {
    constructor_validate_and_infer_types();
}

bool GatherElementsOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("axis", m_axis);
    visitor.on_attribute("broadcast", m_broadcast);
    return true;
}

void GatherElementsOp::validate_and_infer_types() {
    NODE_VALIDATION_CHECK(this, get_input_size() == 2, "takes data and indices, not ", get_input_size(), " inputs");
    const auto data = get_input_element_type(0), indices = get_input_element_type(1);
    NODE_VALIDATION_CHECK(this, data.is_dynamic() || data == ov::element::string || data.bitwidth() % 8 == 0,
                          "data of ", data, " has elements smaller than a byte, which cannot be gathered: convert it to i8 or u8");
    NODE_VALIDATION_CHECK(this, indices.is_dynamic() || indices == ov::element::i32 || indices == ov::element::i64,
                          "indices must be i32 or i64, not ", indices);
    set_output_type(0, data, infer_shape(get_input_partial_shape(0), get_input_partial_shape(1)));
}

ov::PartialShape GatherElementsOp::infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices) const {
    NODE_VALIDATION_CHECK(this, data.rank().compatible(indices.rank()), "data ", data, " and indices ", indices,
                          " must have the same rank");
    const ov::Rank rank = data.rank().is_static() ? data.rank() : indices.rank();
    if (rank.is_dynamic()) return ov::PartialShape::dynamic();
    const int64_t length = rank.get_length();
    NODE_VALIDATION_CHECK(this, length > 0, "data and indices are scalars; they must have a rank of at least 1");
    NODE_VALIDATION_CHECK(this, -length <= m_axis && m_axis < length, "axis ", m_axis, " is out of range for rank ", length,
                          " (valid ", -length, "..", length - 1, ")");
    const auto have = data.rank().is_static() ? data : ov::PartialShape::dynamic(rank);
    const auto want = indices.rank().is_static() ? indices : ov::PartialShape::dynamic(rank);
    const int64_t axis = normalized(m_axis, length);
    auto output = want;
    for (int64_t i = 0; i < length; ++i) {
        if (i == axis) continue;
        const bool right = m_broadcast ? broadcasts(want[i], have[i], output[i]) : fits(want[i], have[i], output[i]);
        NODE_VALIDATION_CHECK(this, right, "indices ", want, " do not fit data ", have, " in dimension ", i,
                              m_broadcast ? ": with broadcast=true it must be 1 or data's"
                                          : ": off the axis it may not exceed data's");
    }
    // The CPU plugin does not execute a node whose input is empty, so this is the place to refuse.
    const bool reads = std::all_of(output.begin(), output.end(), [](const Dimension& it) { return it.get_min_length() > 0; });
    NODE_VALIDATION_CHECK(this, have[axis] != 0 || !reads, "data ", have, " has size 0 along axis ", m_axis,
                          ", so that no index is valid, but the output ", output, " has elements");
    return output;
}

std::shared_ptr<ov::Node> GatherElementsOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_new_args_count(this, inputs);
    return std::make_shared<GatherElementsOp>(inputs[0], inputs[1], m_axis, m_broadcast);
}

bool GatherElementsOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    const ov::Tensor &data = inputs[0], &indices = inputs[1];
    const auto shape = infer_shape(data.get_shape(), indices.get_shape()).to_shape();
    ov::Tensor& output = outputs[0];
    if (output.get_shape() != shape) output.set_shape(shape);
    const size_t axis = normalized(m_axis, shape.size());
    const int64_t position =
        data.get_element_type() == ov::element::string
            ? gather_strings(data, indices, output, axis)
            : gather_elements(describe(data, indices, output, axis), static_cast<const char*>(data.data()),
                              static_cast<const char*>(indices.data()), static_cast<char*>(output.data()));
    const auto size = static_cast<int64_t>(data.get_shape()[axis]);
    OPENVINO_ASSERT(position == all_in_bounds, "GatherElements '", get_friendly_name(),
                    "': ", name_index(indices, shape, position), " is out of bounds for axis ", axis, " of size ", size,
                    " (valid ", -size, "..", size - 1, ")");
    return true;
}

}  // namespace ov_gather
