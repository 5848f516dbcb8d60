#include "gather_op.hpp"

#include <openvino/op/constant.hpp>

#include <algorithm>

#include "slices.hpp"

namespace ov_gather {

GatherOp::GatherOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, const ov::Output<ov::Node>& axis,
                   int64_t batch_dims, const std::string& bounds)
    : Op({data, indices, axis}), m_batch_dims(batch_dims), m_bounds(bounds) {
    constructor_validate_and_infer_types();
}

bool GatherOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("batch_dims", m_batch_dims);
    visitor.on_attribute("bounds", m_bounds);
    return true;
}

void GatherOp::validate_and_infer_types() {
    NODE_VALIDATION_CHECK(this, m_bounds == "error" || m_bounds == "zero", "bounds must be 'error' or 'zero', not '", m_bounds,
                          "'");
    check_inputs(*this, 3, "data, indices and axis");
    keep_narrow_table(*this);
    const auto type = get_input_element_type(2);
    NODE_VALIDATION_CHECK(this, type.is_dynamic() || type == ov::element::i32 || type == ov::element::i64,
                          "axis must be i32 or i64, not ", type);
    const auto& shape = get_input_partial_shape(2);
    NODE_VALIDATION_CHECK(this, shape.compatible(ov::Shape{}) || shape.compatible(ov::Shape{1}),
                          "axis must be a scalar or of shape [1], not ", shape);
    std::optional<int64_t> axis;
    if (const auto constant = ov::as_type<ov::op::v0::Constant>(get_input_node_ptr(2)))
        axis = constant->cast_vector<int64_t>()[0];
    set_output_type(0, get_input_element_type(0), infer_shape(get_input_partial_shape(0), get_input_partial_shape(1), axis));
}

ov::PartialShape GatherOp::infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices,
                                       std::optional<int64_t> axis) const {
    int64_t batch = m_batch_dims;
    if (indices.rank().is_static()) {
        const int64_t rank = indices.rank().get_length();
        NODE_VALIDATION_CHECK(this, -rank <= batch && batch <= rank, "batch_dims ", batch, " is out of range for indices ",
                              indices, " (valid ", -rank, "..", rank, ")");
        batch = normalized(batch, rank);
    }
    if (data.rank().is_static()) {
        const int64_t rank = data.rank().get_length(), last = rank - 1;
        NODE_VALIDATION_CHECK(this, rank > 0, "data is a scalar; it must have a rank of at least 1");
        NODE_VALIDATION_CHECK(this, !axis || (-rank <= *axis && *axis <= last), "axis ", *axis, " is out of range for rank ",
                              rank, " (valid ", -rank, "..", last, ")");
        if (axis) axis = normalized(*axis, rank);
    }
    NODE_VALIDATION_CHECK(this, !axis || *axis < 0 || batch <= *axis, "batch_dims ", batch, " exceeds axis ", *axis);
    if (data.rank().is_dynamic() || indices.rank().is_dynamic()) return ov::PartialShape::dynamic();

    NODE_VALIDATION_CHECK(this, batch < static_cast<int64_t>(data.size()), "batch_dims ", batch,
                          " must be less than the rank of data ", data);
    auto output = infer_batch(*this, data, indices, batch);
    if (!axis) {
        output.resize(data.size() + indices.size() - 1 - batch);
        return output;
    }
    output.insert(output.end(), data.begin() + batch, data.begin() + *axis);
    output.insert(output.end(), indices.begin() + batch, indices.end());
    output.insert(output.end(), data.begin() + *axis + 1, data.end());
    return output;
}

std::shared_ptr<ov::Node> GatherOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_count(*this, inputs);
    return std::make_shared<GatherOp>(inputs[0], inputs[1], inputs[2], m_batch_dims, m_bounds);
}

// infer_shape without its arithmetic of intervals and messages, which takes longer than a small gather.
bool GatherOp::is_inferred(const Sizes& output, const Sizes& data, const Sizes& indices, int64_t given) const {
    const int64_t rank = data.size(), own_rank = indices.size(), batch = normalized(m_batch_dims, own_rank);
    const int64_t axis = normalized(given, rank), shift = own_rank - batch - 1;  // dimensions behind the axis move by `shift`
    if (axis < 0 || axis >= rank || batch < 0 || batch > std::min(axis, own_rank)) return false;
    return static_cast<int64_t>(output.size()) == rank + shift &&
           std::equal(indices.begin(), indices.begin() + batch, data.begin()) &&
           std::equal(data.begin(), data.begin() + axis, output.begin()) &&
           std::equal(indices.begin() + batch, indices.end(), output.begin() + axis) &&
           std::equal(data.begin() + axis + 1, data.end(), output.begin() + axis + 1 + shift);
}

bool GatherOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    ov::Tensor copy;
    const ov::Tensor &data = inputs[0], &indices = aligned(inputs[1], copy);
    const int64_t given = index_at(inputs[2], {});
    ov::Tensor& output = outputs[0];
    if (!is_inferred(output.get_shape(), data.get_shape(), indices.get_shape(), given))
        output.set_shape(infer_shape(data.get_shape(), indices.get_shape(), given).to_shape());
    const Sizes& shape = output.get_shape();
    const size_t rank = indices.get_shape().size(), batch = normalized(m_batch_dims, rank);
    const size_t axis = normalized(given, data.get_shape().size());
    const TensorStrides from(data), index(indices), to(output);
    const auto loops = slice_loops(shape, shape.size(), rank - batch, axis, batch, from, index, to);
    const int64_t axis_size = data.get_shape()[axis];
    const bool zero = m_bounds == "zero";
    ov::Coordinate place;
    if (output.get_size() == 0 && !zero) {
        const int64_t position = first_bad(indices, axis_size);
        if (position == ov_gather_done) return true;
        place = unravel(position, indices.get_shape());
    } else {
        const int64_t position = gather_tensors(loops, axis, from[axis], data, indices, output, zero);
        if (position == ov_gather_done) return true;
        place = unravel(position, output.get_shape());
        place.erase(place.begin() + axis + rank - batch, place.end());
        place.erase(place.begin() + batch, place.begin() + axis);
    }
    reject_index(*this, indices, place, axis, axis_size);
}

}  // namespace ov_gather
