#include "scatter_elements_op.hpp"

#include "scatter.hpp"
#include "scatters.hpp"
#include "tensors.hpp"

namespace ov_gather {
namespace {

// Makes the loops over indices; all tensors are contiguous.
Scatter describe(const ov::Shape& data, const ov::Shape& indices, size_t axis, const Elements& elements, IndexType type) {
    Scatter scatter{{}, {}, static_cast<int64_t>(data[axis]), type, elements.reduction, elements.kind, elements.size};
    const int64_t index_size = type == IndexType::int32 ? sizeof(int32_t) : sizeof(int64_t);
    int64_t step = 1, output_step = 1;
    for (size_t i = data.size(); i-- > 0; step *= indices[i], output_step *= data[i]) {
        const ScatterLoop loop{static_cast<int64_t>(indices[i]), step * index_size, step * elements.size,
                               output_step * elements.size};
        if (i == axis)
            scatter.axis = loop;
        else
            scatter.loops.insert(scatter.loops.begin(), loop);
    }
    return scatter;
}

// Gives the row-major position of the first index that is out of bounds; 0 if another thread has changed indices since.
int64_t first_bad(const ov::Tensor& indices, int64_t axis_size) {
    const Gather gather{index_loops(indices), axis_size, 0, 1, index_type(indices)};
    return std::max<int64_t>(first_out_of_bounds(gather, static_cast<const char*>(indices.data())), 0);
}

// Off the axis a dimension of indices is at most data's.
bool fits(const ov::Dimension& part, const ov::Dimension& whole) {
    return part.compatible(ov::Dimension(0, whole.get_max_length()));
}

}  // namespace

ScatterElementsOp::ScatterElementsOp(const ov::OutputVector& inputs, int64_t axis, const std::string& reduction,
                                     const std::string& lanes, bool is_unsigned)
    : Op(inputs), m_axis(axis), m_reduction(reduction), m_lanes(lanes), m_is_unsigned(is_unsigned) {
    constructor_validate_and_infer_types();
}

bool ScatterElementsOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("axis", m_axis);
    visitor.on_attribute("reduction", m_reduction);
    visitor.on_attribute("lanes", m_lanes);
    return true;
}

void ScatterElementsOp::validate_and_infer_types() {
    check_scatter(*this, m_reduction, m_lanes);
    check_shapes(get_input_partial_shape(0), get_input_partial_shape(1), get_input_partial_shape(2));
    m_is_unsigned |= get_input_element_type(0) == ov::element::u32;
    set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
}

void ScatterElementsOp::check_shapes(const ov::PartialShape& given_data, const ov::PartialShape& indices,
                                     const ov::PartialShape& given_updates) const {
    const auto data = shape_of_numbers(*this, given_data, m_lanes);
    const auto updates = shape_of_numbers(*this, given_updates, m_lanes);
    NODE_VALIDATION_CHECK(this, updates.compatible(indices), "updates ", updates, " must have the shape of indices ", indices);
    NODE_VALIDATION_CHECK(this, data.rank().compatible(indices.rank()) && data.rank().compatible(updates.rank()), "data ", data,
                          ", indices ", indices, " and updates ", updates, " must have the same rank");
    for (const auto* shape : {&data, &indices, &updates}) {
        if (shape->rank().is_dynamic()) continue;
        const int64_t rank = shape->rank().get_length();
        NODE_VALIDATION_CHECK(this, rank > 0, "data and indices are scalars; they must have a rank of at least 1");
        NODE_VALIDATION_CHECK(this, -rank <= m_axis && m_axis < rank, "axis ", m_axis, " is out of range for rank ", rank,
                              " (valid ", -rank, "..", rank - 1, ")");
        if (data.rank().is_dynamic() || shape == &data) continue;
        for (int64_t i = 0; i < rank; ++i)
            NODE_VALIDATION_CHECK(this, i == normalized(m_axis, rank) || fits((*shape)[i], data[i]),
                                  shape == &indices ? "indices " : "updates ", *shape, " do not fit data ", data,
                                  " in dimension ", i, ": off the axis it may not exceed data's");
    }
}

std::shared_ptr<ov::Node> ScatterElementsOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_new_args_count(this, inputs);
    return std::make_shared<ScatterElementsOp>(inputs, m_axis, m_reduction, m_lanes, m_is_unsigned);
}

bool ScatterElementsOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    check_shapes(inputs[0].get_shape(), inputs[1].get_shape(), inputs[2].get_shape());
    if (outputs[0].get_shape() != inputs[0].get_shape()) outputs[0].set_shape(inputs[0].get_shape());
    check_continuous(*this, {inputs[0], inputs[1], inputs[2], outputs[0]});
    const auto data = numbers_of(inputs[0], m_lanes), updates = numbers_of(inputs[2], m_lanes);
    auto output = numbers_of(outputs[0], m_lanes);
    const ov::Tensor& indices = inputs[1];
    const auto shape = data.get_shape(), index_shape = indices.get_shape();

    const size_t axis = normalized(m_axis, shape.size());
    const auto* const index = static_cast<const char*>(indices.data());
    const IndexType type = index_type(indices);
    const bool in_bounds = are_in_bounds(index, type, indices.get_size(), shape[axis]) &&
                           scatter_tensors(data, updates, output, m_reduction, m_is_unsigned,
                                           [&](const Elements& elements, const char* values, char* to) {
                                               const Scatter scatter = describe(shape, index_shape, axis, elements, type);
                                               return scatter_elements(scatter, index, values, to);
                                           });
    if (in_bounds) return true;
    const auto place = unravel(first_bad(indices, shape[axis]), index_shape);
    OPENVINO_THROW("ScatterElements '", get_friendly_name(),
                   "': ", out_of_bounds(place, index_at(indices, place), axis, shape[axis]));
}

}  // namespace ov_gather
