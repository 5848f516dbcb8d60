#include "scatter_nd_op.hpp"

#include "tensors.hpp"

namespace ov_gather {

ScatterNDOp::ScatterNDOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes)
    : ScatterOp(inputs, reduction, lanes) {
    constructor_validate_and_infer_types();
}

void ScatterNDOp::check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices,
                               const ov::PartialShape& updates) const {
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
    check_count(*this, inputs);
    return as_copy(std::make_shared<ScatterNDOp>(inputs, m_reduction, m_lanes));
}

Update ScatterNDOp::update(const ov::Shape& data, const ov::Tensor& indices) const {
    const auto slice = data.begin() + indices.get_shape().back();
    const std::vector<int64_t> dims(data.begin(), slice);
    const int64_t rows = ov::shape_size(dims), row_size = ov::shape_size(slice, data.end());
    return [=, places = flatten(*this, indices, dims, 0)](const Elements& elements, const char* from, const char* updates,
                                                          char* output) {
        const int64_t count = places.size();
        const ov_gather_rows_arguments scatter{count,        rows, row_size, row_size, elements.size, elements.reduction,
                                               elements.kind};
        checked(ov_gather_scatter_rows(&tbb_threads, &scatter, places.data(), from, updates, output));
    };
}

}  // namespace ov_gather
