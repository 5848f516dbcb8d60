#include "gather_scatter_op.hpp"

#include <cstring>
#include <limits>

#include "tensors.hpp"

namespace ov_gather {
namespace {

enum Port { data_port, sources_port, targets_port, weights_port };

// Return true if weights have the shape of `rows`, or 1 from some dimension on.
bool fit(const ov::PartialShape& weights, const ov::PartialShape& rows) {
    size_t rank = weights.size();
    while (rank > 1 && weights[rank - 1] == 1) --rank;
    bool result = weights.size() == rows.size();
    for (size_t i = 0; result && i < rank; ++i) result = weights[i].compatible(rows[i]);
    return result;
}

}  // namespace

GatherScatterOp::GatherScatterOp(const ov::OutputVector& inputs, int64_t size, const std::string& bounds)
    : Op(inputs), m_size(size), m_bounds(bounds) {
    constructor_validate_and_infer_types();
}

bool GatherScatterOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("size", m_size);
    visitor.on_attribute("bounds", m_bounds);
    return true;
}

void GatherScatterOp::validate_and_infer_types() {
    NODE_VALIDATION_CHECK(this, m_bounds == "error" || m_bounds == "zero", "bounds must be 'error' or 'zero', not '", m_bounds,
                          "'");
    NODE_VALIDATION_CHECK(this, m_size >= 0, "size must be 0 or more, not ", m_size);
    check_inputs(*this, get_input_size() == 4 ? 4 : 3, "data, sources, targets and optionally weights");
    const auto data = get_input_element_type(data_port), targets = get_input_element_type(targets_port);
    NODE_VALIDATION_CHECK(
        this, data.is_dynamic() || data == ov::element::f32 || data == ov::element::f16 || data == ov::element::bf16,
        "data must be f32, f16 or bf16, not ", data);
    NODE_VALIDATION_CHECK(this, targets.is_dynamic() || targets == ov::element::i32 || targets == ov::element::i64,
                          "targets must be i32 or i64, not ", targets);
    std::vector<ov::PartialShape> shapes;
    for (const auto& input : input_values()) shapes.push_back(input.get_partial_shape());
    NODE_VALIDATION_CHECK(this, shapes.size() == 3 || data.compatible(get_input_element_type(weights_port)),
                          "weights must have the type ", data, " of data");
    set_output_type(0, data, infer_shape(shapes));
}

ov::PartialShape GatherScatterOp::infer_shape(const std::vector<ov::PartialShape>& inputs) const {
    const auto &data = inputs[data_port], &sources = inputs[sources_port], &targets = inputs[targets_port];
    auto edges = ov::PartialShape::dynamic(1);
    NODE_VALIDATION_CHECK(this, ov::PartialShape::merge_into(edges, sources) && ov::PartialShape::merge_into(edges, targets),
                          "sources ", sources, " and targets ", targets, " must be vectors of the same size");
    if (data.rank().is_dynamic()) return ov::PartialShape::dynamic();
    NODE_VALIDATION_CHECK(this, data.size() > 0, "data is a scalar; it must have a rank of at least 1");
    auto result = data;
    result[0] = edges[0];
    NODE_VALIDATION_CHECK(
        this, inputs.size() == 3 || inputs[weights_port].rank().is_dynamic() || fit(inputs[weights_port], result), "weights ",
        inputs.back(), " must have the shape ", result, " of the gathered rows, or 1 from some dimension on");
    result[0] = m_size;
    return result;
}

std::shared_ptr<ov::Node> GatherScatterOp::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_count(*this, inputs);
    return std::make_shared<GatherScatterOp>(inputs, m_size, m_bounds);
}

int64_t GatherScatterOp::aggregate(const ov::TensorVector& inputs, ov::Tensor& output) const {
    const auto &data = inputs[data_port], &sources = inputs[sources_port], &targets = inputs[targets_port];
    const Sizes& shape = data.get_shape();
    const bool has_weights = inputs.size() > weights_port;
    const Sizes weights = has_weights ? Sizes(inputs[weights_port].get_shape()) : Sizes{};
    const int64_t edges = sources.get_size();
    const int64_t most = std::numeric_limits<int32_t>::max();
    OPENVINO_ASSERT(edges <= most && m_size <= most && static_cast<int64_t>(shape[0]) < most, "GatherScatter '",
                    get_friendly_name(), "': there may be no more than ", most, " rows or edges");
    const ov_gather_aggregate_arguments given{
        edges,
        static_cast<int64_t>(shape[0]),
        m_size,
        static_cast<int64_t>(ov::shape_size(shape.begin() + 1, shape.end())),
        has_weights ? static_cast<int64_t>(ov::shape_size(weights.begin() + 1, weights.end())) : 0,
        size_of_element(sources),
        size_of_element(targets),
        size_of_element(data),
        ov_gather_sum,
        false,
        data.get_element_type() == ov::element::bf16 ? 'b' : 'f'};
    return checked(ov_gather_aggregate(&tbb_threads, &given, data.data(), sources.data(), targets.data(),
                                       has_weights ? inputs[weights_port].data() : nullptr, output.data()));
}

// Append a row of zeros to data, and let each source out of bounds name it.
ov::TensorVector GatherScatterOp::with_row_of_zeros(ov::TensorVector inputs) const {
    const ov::Tensor data = inputs[data_port], sources = inputs[sources_port];
    ov::Shape shape = data.get_shape();
    const int64_t rows = shape[0]++;
    ov::Tensor padded(data.get_element_type(), shape), redirected(ov::element::i64, sources.get_shape());
    std::memset(padded.data(), 0, padded.get_byte_size());
    std::memcpy(padded.data(), data.data(), data.get_byte_size());
    for (size_t edge = 0; edge < sources.get_size(); ++edge) {
        const int64_t source = index_at(sources, {edge});
        redirected.data<int64_t>()[edge] = !is_in_bounds(source, rows) ? rows : source < 0 ? source + rows : source;
    }
    inputs[data_port] = padded;
    inputs[sources_port] = redirected;
    return inputs;
}

bool GatherScatterOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& given) const {
    ov::TensorVector inputs = given;
    std::vector<ov::PartialShape> shapes;
    for (size_t i = 0; i < given.size(); ++i) {
        OPENVINO_ASSERT(is_contiguous(given[i]), "GatherScatter '", get_friendly_name(),
                        "': a part of a tensor is not aggregated: copy it");
        aligned(given[i], inputs[i]);
        shapes.emplace_back(given[i].get_shape());
    }
    if (!has_known_shapes(*this, given)) outputs[0].set_shape(infer_shape(shapes).to_shape());
    if (aggregate(inputs, outputs[0]) == ov_gather_done) return true;
    const auto &sources = inputs[sources_port], &targets = inputs[targets_port];
    const int64_t rows = inputs[data_port].get_shape()[0], bad = first_bad(targets, m_size);
    if (bad != ov_gather_done) reject_index(*this, targets, {static_cast<size_t>(bad)}, 0, m_size, "targets");
    if (m_bounds == "zero" && aggregate(with_row_of_zeros(inputs), outputs[0]) == ov_gather_done) return true;
    const int64_t wrong = first_bad(sources, rows);
    reject_index(*this, sources, {static_cast<size_t>(wrong == ov_gather_done ? 0 : wrong)}, 0, rows, "sources");
}

}  // namespace ov_gather
