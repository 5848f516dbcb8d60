#include "scatter_elements_op.hpp"

#include "tensors.hpp"

namespace ov_gather {
namespace {

// Return the loops over contiguous indices, that along the axis first, then the others in their order.
std::vector<ov_gather_scatter_loop> loops_over(const ov::Shape& indices, const ov::Shape& data, size_t axis, int64_t index_size,
                                               int64_t element_size) {
    std::vector<ov_gather_scatter_loop> loops(data.size());
    int64_t step = 1, output_step = 1;
    for (size_t i = data.size(); i-- > 0; step *= indices[i], output_step *= data[i])
        loops[i == axis ? 0 : i + (i < axis)] = {static_cast<int64_t>(indices[i]), step * index_size, step * element_size,
                                                 output_step * element_size};
    return loops;
}

// Off the axis, a dimension of indices is at most data's.
bool fits(const ov::Dimension& part, const ov::Dimension& whole) {
    return part.compatible(ov::Dimension(0, whole.get_max_length()));
}

}  // namespace

ScatterElementsOp::ScatterElementsOp(const ov::OutputVector& inputs, int64_t axis, const std::string& reduction,
                                     const std::string& lanes)
    : ScatterOp(inputs, reduction, lanes), m_axis(axis) {
    constructor_validate_and_infer_types();
}

bool ScatterElementsOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("axis", m_axis);
    return ScatterOp::visit_attributes(visitor);
}

void ScatterElementsOp::check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices,
                                     const ov::PartialShape& updates) const {
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
    check_count(*this, inputs);
    return as_copy(std::make_shared<ScatterElementsOp>(inputs, m_axis, m_reduction, m_lanes));
}

Update ScatterElementsOp::update(const ov::Shape& data, const ov::Tensor& indices) const {
    const size_t axis = normalized(m_axis, data.size());
    return [this, axis, &data, &indices](const Elements& elements, const char* from, const char* updates, char* output) {
        const int64_t axis_size = data[axis], index_size = size_of_element(indices);
        const auto loops = loops_over(indices.get_shape(), data, axis, index_size, elements.size);
        const ov_gather_scatter_arguments scatter{loops.data() + 1,
                                                  static_cast<int64_t>(loops.size()) - 1,
                                                  loops[0],
                                                  axis_size,
                                                  static_cast<int64_t>(ov::shape_size(data)),
                                                  elements.size,
                                                  index_size,
                                                  elements.reduction,
                                                  elements.kind};
        const int64_t result = checked(ov_gather_scatter(&tbb_threads, &scatter, from, indices.data(), updates, output));
        if (result == ov_gather_done) return;
        const int64_t position = std::max<int64_t>(first_bad(indices, axis_size), 0);  // 0 if indices were changed
        reject_index(*this, indices, unravel(position, indices.get_shape()), axis, axis_size);
    };
}

}  // namespace ov_gather
