#include "scatter_nd_op.hpp"

#include "scatter_nd.hpp"
#include "scatters.hpp"
#include "tensors.hpp"

namespace ov_gather {

ScatterNDOp::ScatterNDOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes,
                         bool is_unsigned)
    : Op(inputs), m_reduction(reduction), m_lanes(lanes), m_is_unsigned(is_unsigned) {
    constructor_validate_and_infer_types();
}

bool ScatterNDOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("reduction", m_reduction);
    visitor.on_attribute("lanes", m_lanes);
    return true;
}

void ScatterNDOp::validate_and_infer_types() {
    check_scatter(*this, m_reduction, m_lanes);
    check_shapes(get_input_partial_shape(0), get_input_partial_shape(1), get_input_partial_shape(2));
    m_is_unsigned |= get_input_element_type(0) == ov::element::u32;
    set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
}

void ScatterNDOp::check_shapes(const ov::PartialShape& given_data, const ov::PartialShape& indices,
                               const ov::PartialShape& given_updates) const {
    const auto data = shape_of_numbers(*this, given_data, m_lanes);
    const auto updates = shape_of_numbers(*this, given_updates, m_lanes);
    for (const auto* shape : {&data, &indices})
        NODE_VALIDATION_CHECK(this, shape->rank().is_dynamic() || shape->rank().get_length() > 0,
                              "data and indices must have a rank of at least 1, not ", data, " and ", indices);
    if (indices.rank().is_dynamic() || indices.rbegin()->is_dynamic() || data.rank().is_dynamic()) return;
    const int64_t depth = indices.rbegin()->get_length();
    NODE_VALIDATION_CHECK(this, depth <= static_cast<int64_t>(data.size()), "tuples of ", depth, " coordinates index data ",
                          data);
    std::vector<ov::Dimension> expected(indices.begin(), indices.end() - 1);
    expected.insert(expected.end(), data.begin() + depth, data.end());
    NODE_VALIDATION_CHECK(this, updates.compatible(expected), "updates ", updates, " must have the shape ",
                          ov::PartialShape(expected), " of the tuples in indices ", indices, " and of slices of data ", data);
}

std::shared_ptr<ov::Node> ScatterNDOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_new_args_count(this, inputs);
    return std::make_shared<ScatterNDOp>(inputs, m_reduction, m_lanes, m_is_unsigned);
}

bool ScatterNDOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    check_shapes(inputs[0].get_shape(), inputs[1].get_shape(), inputs[2].get_shape());
    if (outputs[0].get_shape() != inputs[0].get_shape()) outputs[0].set_shape(inputs[0].get_shape());
    check_continuous(*this, {inputs[0], inputs[1], inputs[2], outputs[0]});
    const auto data = numbers_of(inputs[0], m_lanes), updates = numbers_of(inputs[2], m_lanes);
    auto output = numbers_of(outputs[0], m_lanes);
    const ov::Tensor& indices = inputs[1];
    const auto shape = data.get_shape(), index_shape = indices.get_shape();

    const std::vector<int64_t> dims(shape.begin(), shape.begin() + index_shape.back());
    const int64_t rows = ov::shape_size(dims), row_size = data.get_size() / std::max<int64_t>(rows, 1);
    const auto flat = flatten(*this, indices, dims, 0);
    return scatter_tensors(
        data, updates, output, m_reduction, m_is_unsigned, [&](const Elements& elements, const char* values, char* to) {
            scatter_nd({static_cast<int64_t>(flat.size()), rows, row_size, elements.reduction, elements.kind, elements.size},
                       flat.data(), values, to);
            return true;
        });
}

}  // namespace ov_gather
