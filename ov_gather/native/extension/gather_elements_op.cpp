#include "gather_elements_op.hpp"

namespace ov_gather {
namespace {

using ov::Dimension;

// Off the axis with broadcast: a dimension of indices is 1 or data's, and the output has data's.
bool broadcasts(const Dimension& indices, const Dimension& data, Dimension& output) {
    output = data;
    return indices.compatible(1) || Dimension::merge(output, indices, data);
}

// Off the axis with same_shape: a dimension of indices equals data's. The symbol of data's dimension is not merged, since it
// would become the symbol of indices, whatever size these have at run time.
bool equals(const Dimension& indices, const Dimension& data, Dimension& output) {
    return Dimension::merge(output, indices, Dimension(data.get_min_length(), data.get_max_length()));
}

// Off the axis otherwise: a dimension of indices is at most data's, and the output has that of indices.
bool fits(const Dimension& indices, const Dimension& data, Dimension& output) {
    return Dimension::merge(output, indices, Dimension(0, data.get_max_length()));
}

// Return true if both are the same size, which fits by each of the rules above.
bool are_equal(const Dimension& indices, const Dimension& data) {
    return indices.is_static() && data.is_static() && indices.get_length() == data.get_length();
}

// Return the dimension of the output for dimension i of indices and data, or the reverse.
size_t swapped(size_t i, size_t rank, bool transpose) { return transpose && i + 2 >= rank ? 2 * rank - 3 - i : i; }

// Return the loops over the output before it is transposed. Indices have stride 0 along broadcast dimensions and lanes.
std::vector<ov_gather_loop> loops_over(const ov::Tensor& output, const TensorStrides& from, const ov::Tensor& indices,
                                       size_t axis, bool transpose) {
    const Sizes &shape = output.get_shape(), &index_shape = indices.get_shape();
    const TensorStrides index(indices), to(output);
    std::vector<ov_gather_loop> loops;
    loops.reserve(shape.size());
    for (size_t i = 0; i < shape.size(); ++i) {
        const size_t place = swapped(i, shape.size(), transpose);
        const bool steps = i < index_shape.size() && index_shape[i] == shape[place];
        loops.push_back({static_cast<int64_t>(shape[place]), steps ? index[i] : 0, i == axis ? 0 : from[i], to[place]});
    }
    return loops;
}

}  // namespace

GatherElementsOp::GatherElementsOp(const ov::Output<ov::Node>& data, const ov::Output<ov::Node>& indices, int64_t axis,
                                   bool broadcast, bool transpose, bool same_shape, bool lanes)
    : Op({data, indices}),
      m_axis(axis),
      m_broadcast(broadcast),
      m_transpose(transpose),
      m_same_shape(same_shape),
      m_lanes(lanes) {
    constructor_validate_and_infer_types();
}

bool GatherElementsOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("axis", m_axis);
    visitor.on_attribute("broadcast", m_broadcast);
    visitor.on_attribute("transpose", m_transpose);
    visitor.on_attribute("same_shape", m_same_shape);
    visitor.on_attribute("lanes", m_lanes);
    return true;
}

void GatherElementsOp::validate_and_infer_types() {
    check_inputs(*this, 2, "data and indices");
    keep_narrow_table(*this);
    NODE_VALIDATION_CHECK(this, !m_lanes || !m_transpose, "lanes=true and transpose=true exclude each other");
    set_output_type(0, get_input_element_type(0), infer_shape(get_input_partial_shape(0), get_input_partial_shape(1)));
}

ov::PartialShape GatherElementsOp::infer_shape(const ov::PartialShape& data, const ov::PartialShape& indices) const {
    if (!m_lanes) return infer_elements(data, indices);
    if (data.rank().is_dynamic()) {
        auto output = infer_elements(data, indices);
        if (output.rank().is_static()) output.push_back(Dimension());
        return output;
    }
    NODE_VALIDATION_CHECK(this, data.size() > 0, "data is a scalar; with lanes=true it must have a rank of at least 2");
    auto output = infer_elements(ov::PartialShape(std::vector<Dimension>(data.begin(), data.end() - 1)), indices);
    output.push_back(*data.rbegin());
    return output;
}

// Infer the shape without lanes.
ov::PartialShape GatherElementsOp::infer_elements(const ov::PartialShape& data, const ov::PartialShape& indices) const {
    NODE_VALIDATION_CHECK(this, data.rank().compatible(indices.rank()), "data ", data, " and indices ", indices,
                          " must have the same rank");
    const ov::Rank rank = data.rank().is_static() ? data.rank() : indices.rank();
    if (rank.is_dynamic()) return ov::PartialShape::dynamic();
    const int64_t length = rank.get_length(), lanes = m_lanes;
    NODE_VALIDATION_CHECK(this, length > 0, "data and indices are scalars; they must have a rank of at least 1");
    NODE_VALIDATION_CHECK(this, -length - lanes <= m_axis && m_axis < length && (m_axis < -lanes || m_axis >= 0), "axis ",
                          m_axis, " is out of range for rank ", length + lanes, " (valid ", -length - lanes, "..", length - 1,
                          ")");
    NODE_VALIDATION_CHECK(this, length > 1 || !m_transpose, "transpose=true needs a rank of at least 2, not 1");
    if (data.rank().is_dynamic()) return infer_elements(ov::PartialShape::dynamic(rank), indices);
    if (indices.rank().is_dynamic()) return infer_elements(data, ov::PartialShape::dynamic(rank));
    const int64_t axis = normalized(m_axis, length + lanes);
    auto output = indices;
    for (int64_t i = 0; i < length; ++i) {
        if (i == axis || are_equal(indices[i], data[i])) continue;
        const auto rule = m_same_shape ? equals : m_broadcast ? broadcasts : fits;
        NODE_VALIDATION_CHECK(this, rule(indices[i], data[i], output[i]), "indices ", indices, " do not fit data ", data,
                              " in dimension ", i,
                              m_same_shape  ? ": with same_shape=true it must be data's"
                              : m_broadcast ? ": with broadcast=true it must be 1 or data's"
                                            : ": off the axis it may not exceed data's");
    }
    if (m_transpose) std::iter_swap(output.end() - 1, output.end() - 2);
    return output;
}

std::shared_ptr<ov::Node> GatherElementsOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_count(*this, inputs);
    return std::make_shared<GatherElementsOp>(inputs[0], inputs[1], m_axis, m_broadcast, m_transpose, m_same_shape, m_lanes);
}

// infer_shape without its arithmetic of intervals and messages, which takes longer than a small gather.
bool GatherElementsOp::is_inferred(const Sizes& output, const Sizes& data, const Sizes& indices) const {
    const size_t rank = data.size();
    const int64_t axis = normalized(m_axis, rank);
    if (indices.size() + m_lanes != rank || output.size() != rank || rank < size_t{1} + (m_transpose || m_lanes)) return false;
    if (axis < 0 || axis >= static_cast<int64_t>(indices.size()) || (m_lanes && output[rank - 1] != data[rank - 1]))
        return false;
    for (size_t i = 0; i < indices.size(); ++i) {
        const bool is_axis = i == static_cast<size_t>(axis), repeats = !is_axis && m_broadcast && !m_same_shape;
        const bool fits =
            is_axis || indices[i] == data[i] || (repeats ? indices[i] == 1 : !m_same_shape && indices[i] < data[i]);
        if (!fits || output[swapped(i, rank, m_transpose)] != (repeats ? data[i] : indices[i])) return false;
    }
    return true;
}

bool GatherElementsOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    ov::Tensor copy;
    const ov::Tensor &data = inputs[0], &indices = aligned(inputs[1], copy);
    ov::Tensor& output = outputs[0];
    if (!is_inferred(output.get_shape(), data.get_shape(), indices.get_shape()))
        output.set_shape(infer_shape(data.get_shape(), indices.get_shape()).to_shape());
    const size_t axis = normalized(m_axis, output.get_shape().size());
    const TensorStrides from(data);
    const auto loops = loops_over(output, from, indices, axis, m_transpose);
    const int64_t position = gather_tensors(loops, axis, from[axis], data, indices, output);
    if (position == ov_gather_done) return true;
    ov::Shape shape;
    for (const ov_gather_loop& loop : loops) shape.push_back(loop.size);
    auto place = unravel(position, shape);
    place.resize(indices.get_shape().size());                                      // drop the lanes
    for (size_t i = 0; i < place.size(); ++i) place[i] %= indices.get_shape()[i];  // 0 along broadcast dimensions
    reject_index(*this, indices, place, axis, data.get_shape()[axis]);
}

}  // namespace ov_gather
