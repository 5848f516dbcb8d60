#include "scatter_op.hpp"

#include <openvino/core/type/bfloat16.hpp>
#include <openvino/core/type/float16.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tensors.hpp"

namespace ov_gather {
namespace {

const std::vector<std::string> reductions{"none", "add", "mul", "min", "max"};  // as in ov_gather_reduction

struct Lanes {
    std::string name;
    int64_t count;
    char kind;
};

const std::vector<Lanes> numbers_in_lanes{{"i64", 2, 'i'}, {"u64", 2, 'u'}, {"f64", 2, 'f'}, {"c64", 2, 'c'}, {"c128", 4, 'c'}};

// Return the lanes named `name`; null for "none".
const Lanes* find(const std::string& name) {
    const auto found =
        std::find_if(numbers_in_lanes.begin(), numbers_in_lanes.end(), [&](const Lanes& lanes) { return lanes.name == name; });
    return found == numbers_in_lanes.end() ? nullptr : &*found;
}

bool has_reductions(const ov::element::Type& type) {
    const bool is_small_float = type.is_real() && type.bitwidth() < 16;
    return type != ov::element::string && !is_small_float;
}

// Round to nearest, ties to even. What ov::bfloat16 does depends on the release.
ov::bfloat16 rounded(float value, ov::bfloat16) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = value != value ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1);
    return ov::bfloat16::from_bits(static_cast<uint16_t>(bits >> 16));
}

ov::float16 rounded(float value, ov::float16) { return ov::float16(value); }

// Scatter half floats as float32. Unchanged elements keep all bits, which a NaN would lose in the conversions.
template <typename Half>
void scatter_widened(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, ov_gather_reduction reduction,
                     const Update& update) {
    const auto *const from = data.data<Half>(), *const given = updates.data<Half>();
    auto* const to = output.data<Half>();
    const std::vector<float> before(from, from + data.get_size()), wide_updates(given, given + updates.get_size());
    std::vector<float> wide(before.size());
    update({sizeof(float), 'f', reduction}, reinterpret_cast<const char*>(before.data()),
           reinterpret_cast<const char*>(wide_updates.data()), reinterpret_cast<char*>(wide.data()));
    for (size_t i = 0; i < wide.size(); ++i) {
        const bool same = std::memcmp(&wide[i], &before[i], sizeof(float)) == 0;
        to[i] = same ? from[i] : rounded(wide[i], Half());
    }
}

// Strings own memory and cannot be moved as bytes: scatter positions instead, with those of updates after those of data.
void scatter_strings(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const Update& update) {
    const auto *const from = data.data<std::string>(), *const given = updates.data<std::string>();
    const int64_t size = data.get_size();
    std::vector<int64_t> chosen(size), position_of_update(updates.get_size());
    std::iota(chosen.begin(), chosen.end(), 0);
    std::iota(position_of_update.begin(), position_of_update.end(), size);
    auto* const positions = reinterpret_cast<char*>(chosen.data());
    update({sizeof(int64_t), 'i', ov_gather_replace}, positions, reinterpret_cast<const char*>(position_of_update.data()),
           positions);
    std::transform(chosen.begin(), chosen.end(), output.data<std::string>(),
                   [&](int64_t position) { return position < size ? from[position] : given[position - size]; });
}

// Scatter the elements themselves, half floats widened to float32, or positions of strings. All tensors are contiguous.
void scatter_tensors(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const Elements& elements,
                     const Update& update) {
    const auto type = data.get_element_type();
    if (type == ov::element::string) return scatter_strings(data, updates, output, update);
    if (elements.reduction != ov_gather_replace && type == ov::element::f16)
        return scatter_widened<ov::float16>(data, updates, output, elements.reduction, update);
    if (elements.reduction != ov_gather_replace && type == ov::element::bf16)
        return scatter_widened<ov::bfloat16>(data, updates, output, elements.reduction, update);
    if (data.get_size() == 0) return;  // nothing to update; the addresses may be null
    update(elements, static_cast<const char*>(data.data()), static_cast<const char*>(updates.data()),
           static_cast<char*>(output.data()));
}

}  // namespace

ScatterOp::ScatterOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes)
    : Op(inputs), m_reduction(reduction), m_lanes(lanes) {}

std::shared_ptr<ov::Node> ScatterOp::as_copy(const std::shared_ptr<ScatterOp>& op) const {
    op->m_type = type_in_model(op->get_input_element_type(0));
    return op;
}

bool ScatterOp::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("reduction", m_reduction);
    visitor.on_attribute("lanes", m_lanes);
    return true;
}

void ScatterOp::validate_and_infer_types() {
    check_types();
    const auto data = without_lanes(get_input_partial_shape(0));
    check_shapes(data, get_input_partial_shape(1), without_lanes(get_input_partial_shape(2)));
    m_type = type_in_model(get_input_element_type(0));
    set_output_type(0, get_input_element_type(0), get_input_partial_shape(0));
}

void ScatterOp::check_types() const {
    check_inputs(*this, 3, "data, indices and updates");
    const auto data = get_input_element_type(0), updates = get_input_element_type(2);
    NODE_VALIDATION_CHECK(this, data.compatible(updates), "updates must have the type ", data, " of data, not ", updates);
    NODE_VALIDATION_CHECK(this, std::find(reductions.begin(), reductions.end(), m_reduction) != reductions.end(),
                          "reduction must be none, add, mul, min or max, not '", m_reduction, "'");
    const bool is_wide = find(m_lanes) != nullptr;
    NODE_VALIDATION_CHECK(this, is_wide || m_lanes == "none", "lanes must be none, i64, u64, f64, c64 or c128, not '", m_lanes,
                          "'");
    NODE_VALIDATION_CHECK(this, !is_wide || data.is_dynamic() || data == ov::element::i32, "data of ", data,
                          " are no lanes of ", m_lanes, ": these are i32");
    NODE_VALIDATION_CHECK(this, data.is_dynamic() || m_reduction == "none" || has_reductions(data), "elements of ", data,
                          " have no reduction ", m_reduction);
}

ov::PartialShape ScatterOp::without_lanes(const ov::PartialShape& shape) const {
    const Lanes* const lanes = find(m_lanes);
    if (!lanes || shape.rank().is_dynamic()) return shape;
    NODE_VALIDATION_CHECK(this, shape.size() > 0 && shape.rbegin()->compatible(lanes->count), "the last dimension of ", shape,
                          " must be ", lanes->count, ", for the lanes of ", m_lanes);
    return std::vector<ov::Dimension>(shape.begin(), shape.end() - 1);
}

ov::element::Type ScatterOp::type_in_model(const ov::element::Type& given) const {
    const bool is_renamed = (m_type == ov::element::u32 && given == ov::element::i32) ||
                            (m_type == ov::element::boolean && given == ov::element::u8);
    return is_renamed ? m_type : given;
}

Elements ScatterOp::elements(const ov::element::Type& type) const {
    const auto found = std::find(reductions.begin(), reductions.end(), m_reduction);
    auto reduction = static_cast<ov_gather_reduction>(found - reductions.begin());
    const Lanes* const lanes = find(m_lanes);
    if (lanes) return {lanes->count * static_cast<int64_t>(sizeof(int32_t)), lanes->kind, reduction};
    if (type == ov::element::boolean && reduction == ov_gather_sum) reduction = ov_gather_max;   // or
    if (type == ov::element::boolean && reduction == ov_gather_prod) reduction = ov_gather_min;  // and
    return {static_cast<int64_t>(type.size()), type.is_real() ? 'f' : type.is_signed() ? 'i' : 'u', reduction};
}

bool ScatterOp::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    ov::Tensor copies[3], made;
    const ov::Tensor &data = aligned(inputs[0], copies[0]), &indices = aligned(inputs[1], copies[1]),
                     &updates = aligned(inputs[2], copies[2]);
    if (!has_known_shapes(*this, inputs))
        check_shapes(without_lanes(data.get_shape()), indices.get_shape(), without_lanes(updates.get_shape()));
    if (outputs[0].get_shape() != data.get_shape()) outputs[0].set_shape(data.get_shape());
    for (const auto* tensor : {&data, &indices, &updates, &static_cast<const ov::Tensor&>(outputs[0])})
        OPENVINO_ASSERT(is_contiguous(*tensor), get_type_name(), " '", get_friendly_name(),
                        "': a part of a tensor is not scattered: copy it");
    ov::Shape shape = data.get_shape();
    if (find(m_lanes)) shape.pop_back();
    const auto change = update(shape, indices);
    if (!is_aligned(outputs[0])) made = ov::Tensor(outputs[0].get_element_type(), outputs[0].get_shape());
    scatter_tensors(data, updates, made ? made : outputs[0], elements(type_in_model(data.get_element_type())), change);
    if (made) made.copy_to(outputs[0]);
    return true;
}

}  // namespace ov_gather
