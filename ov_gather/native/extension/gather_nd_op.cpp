#include "gather_nd_op.hpp"

#include <algorithm>

namespace ov_gather {

GatherNDOp::GatherNDOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, int64_t batch_dims)
    : Op({data, indices}), m_batch_dims(batch_dims) {
    constructor_validate_and_infer_types();
}

bool GatherNDOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("batch_dims", m_batch_dims);
    return true;
}

void GatherNDOp::validate_and_infer_types() {
    check_inputs(*this, 2, "data and indices");
    keep_narrow_table(*this);
    set_output_type(0, get_input_element_type(0), infer_shape(get_input_partial_shape(0), get_input_partial_shape(1)));
}

ov::PartialShape GatherNDOp::infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices) const {
    NODE_VALIDATION_CHECK(this, m_batch_dims >= 0, "batch_dims ", m_batch_dims, " is negative");
    for (const auto* shape : {&data, &indices}) {
        if (shape->rank().is_dynamic()) continue;
        NODE_VALIDATION_CHECK(this, shape->rank().get_length() > 0, "data and indices must have a rank of at least 1, not ",
                              data, " and ", indices);
        NODE_VALIDATION_CHECK(this, m_batch_dims < shape->rank().get_length(), "batch_dims ", m_batch_dims,
                              " must be less than the ranks of data ", data, " and indices ", indices);
    }
    if (data.rank().is_dynamic() || indices.rank().is_dynamic() || indices.rbegin()->is_dynamic())
        return ov::PartialShape::dynamic();

    auto output = infer_batch(*this, data, indices, m_batch_dims);
    const int64_t depth = indices.rbegin()->get_length(), behind = m_batch_dims + depth;
    NODE_VALIDATION_CHECK(this, behind <= static_cast<int64_t>(data.size()), "tuples of ", depth, " coordinates index data ",
                          data, " behind ", m_batch_dims, " batch_dims");
    output.insert(output.end(), indices.begin() + m_batch_dims, indices.end() - 1);
    output.insert(output.end(), data.begin() + behind, data.end());
    return output;
}

std::shared_ptr<ov::Node> GatherNDOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_count(*this, inputs);
    return std::make_shared<GatherNDOp>(inputs[0], inputs[1], m_batch_dims);
}

// infer_shape without its arithmetic of intervals and messages, which takes longer than a small gather.
bool GatherNDOp::is_inferred(const Sizes& output, const Sizes& data, const Sizes& indices) const {
    const size_t batch = m_batch_dims, own_rank = indices.size();
    if (batch >= own_rank || batch >= data.size() || indices.back() > data.size() - batch) return false;
    const size_t behind = batch + indices.back();
    return output.size() == own_rank - 1 + data.size() - behind &&
           std::equal(indices.begin(), indices.begin() + batch, data.begin()) &&
           std::equal(indices.begin(), indices.end() - 1, output.begin()) &&
           std::equal(data.begin() + behind, data.end(), output.begin() + own_rank - 1);
}

bool GatherNDOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    ov::Tensor copy;
    const ov::Tensor &data = inputs[0], &indices = aligned(inputs[1], copy);
    const Sizes &data_shape = data.get_shape(), &index_shape = indices.get_shape();
    ov::Tensor& output = outputs[0];
    if (!is_inferred(output.get_shape(), data_shape, index_shape))
        output.set_shape(infer_shape(data.get_shape(), indices.get_shape()).to_shape());
    OPENVINO_ASSERT(is_contiguous(data) && is_contiguous(indices) && is_contiguous(output), "GatherND '", get_friendly_name(),
                    "': a part of a tensor is not gathered by tuples: copy it");

    const auto product = [](auto begin, auto end) { return static_cast<int64_t>(ov::shape_size(begin, end)); };
    const auto indexed = data_shape.begin() + m_batch_dims, behind = indexed + index_shape.back();
    const std::vector<int64_t> dims(indexed, behind);
    ov_gather_tuples_arguments gather{product(data_shape.begin(), indexed),
                                      product(index_shape.begin() + m_batch_dims, index_shape.end() - 1),
                                      dims.data(),
                                      static_cast<int64_t>(dims.size()),
                                      product(behind, data_shape.end()),
                                      size_of_element(data),
                                      size_of_element(indices)};
    const auto gather_from = [&](const void* from, void* to) {
        return checked(ov_gather_tuples(&tbb_threads, &gather, from, indices.data(), to));
    };
    const bool are_strings = data.get_element_type() == ov::element::string;
    if (are_strings) gather.element_size = sizeof(int64_t);
    const int64_t position = are_strings ? gather_strings(data, output, gather_from) : gather_from(data.data(), output.data());
    if (position != ov_gather_done) reject_tuple(*this, indices, dims, m_batch_dims, position);
    return true;
}

}  // namespace ov_gather
