#include "scatters.hpp"

#include <openvino/core/type/bfloat16.hpp>
#include <openvino/core/type/float16.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "tensors.hpp"
#include "threads.hpp"

namespace ov_gather {
namespace {

constexpr int64_t grain = 1 << 16;                                         // so many bytes to copy are worth another thread
const std::vector<std::string> names{"none", "add", "mul", "min", "max"};  // in the order of the kernel's reductions

Reduction parse(const std::string& name) {
    return static_cast<Reduction>(std::find(names.begin(), names.end(), name) - names.begin());
}

// The sum of booleans is `or`, their product `and`.
Elements describe(const ov::element::Type& type, Reduction reduction, bool is_unsigned) {
    if (type == ov::element::boolean && reduction == Reduction::sum) reduction = Reduction::max;
    if (type == ov::element::boolean && reduction == Reduction::prod) reduction = Reduction::min;
    const char kind = type.is_real() ? 'f' : type.is_signed() && !is_unsigned ? 'i' : 'u';
    return {static_cast<int64_t>(type.size()), kind, reduction};
}

bool has_reductions(const ov::element::Type& type) {
    const bool is_small_float = type.is_real() && type.bitwidth() < 16;
    return type != ov::element::string && !is_small_float;
}

// Rounds to the nearest number, and to the even one of two that are as near. What ov::bfloat16 does differs by release.
ov::bfloat16 rounded(float value, ov::bfloat16) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bits = value != value ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1);
    return ov::bfloat16::from_bits(static_cast<uint16_t>(bits >> 16));
}

ov::float16 rounded(float value, ov::float16) { return ov::float16(value); }

// What has not changed keeps all its bits, which a NaN would lose on the way there and back.
template <typename Half>
bool scatter_widened(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, Reduction reduction,
                     const Update& update) {
    const auto *const from = data.data<Half>(), *const given = updates.data<Half>();
    auto* const to = output.data<Half>();
    const std::vector<float> before(from, from + data.get_size()), wide_updates(given, given + updates.get_size());
    auto wide = before;
    const bool done = update({sizeof(float), 'f', reduction}, reinterpret_cast<const char*>(wide_updates.data()),
                             reinterpret_cast<char*>(wide.data()));
    for (size_t i = 0; i < wide.size(); ++i) {
        const bool same = std::memcmp(&wide[i], &before[i], sizeof(float)) == 0;
        to[i] = same ? from[i] : rounded(wide[i], Half());
    }
    return done;
}

// Strings own memory, so they cannot be moved as bytes: positions are scattered, those of updates behind those of data.
bool scatter_strings(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const Update& update) {
    const auto *const from = data.data<std::string>(), *const given = updates.data<std::string>();
    const int64_t size = data.get_size();
    std::vector<int64_t> chosen(size), position_of_update(updates.get_size());
    std::iota(chosen.begin(), chosen.end(), 0);
    std::iota(position_of_update.begin(), position_of_update.end(), size);
    const bool done = update({sizeof(int64_t), 'i', Reduction::none}, reinterpret_cast<const char*>(position_of_update.data()),
                             reinterpret_cast<char*>(chosen.data()));
    std::transform(chosen.begin(), chosen.end(), output.data<std::string>(),
                   [&](int64_t position) { return position < size ? from[position] : given[position - size]; });
    return done;
}

}  // namespace

void check_scatter(const ov::Node& node, const std::string& reduction, const std::string& lanes) {
    NODE_VALIDATION_CHECK(&node, node.get_input_size() == 3, "takes data, indices and updates, not ", node.get_input_size(),
                          " inputs");
    check_types(node);
    const auto data = node.get_input_element_type(0), updates = node.get_input_element_type(2);
    NODE_VALIDATION_CHECK(&node, data.compatible(updates), "updates must have the type ", data, " of data, not ", updates);
    NODE_VALIDATION_CHECK(&node, std::find(names.begin(), names.end(), reduction) != names.end(),
                          "reduction must be none, add, mul, min or max, not '", reduction, "'");
    const bool is_wide = lanes == "i64" || lanes == "u64" || lanes == "f64";
    NODE_VALIDATION_CHECK(&node, is_wide || lanes == "none", "lanes must be none, i64, u64 or f64, not '", lanes, "'");
    NODE_VALIDATION_CHECK(&node, !is_wide || data.is_dynamic() || data == ov::element::i32, "data of ", data,
                          " are no lanes of ", lanes, ": these are i32");
    NODE_VALIDATION_CHECK(&node, data.is_dynamic() || reduction == "none" || has_reductions(data), "elements of ", data,
                          " have no reduction ", reduction);
}

ov::PartialShape shape_of_numbers(const ov::Node& node, const ov::PartialShape& shape, const std::string& lanes) {
    if (lanes == "none" || shape.rank().is_dynamic()) return shape;
    NODE_VALIDATION_CHECK(&node, shape.size() > 0 && shape.rbegin()->compatible(2), "the last dimension of ", shape,
                          " must be 2, for the lanes of ", lanes);
    return std::vector<ov::Dimension>(shape.begin(), shape.end() - 1);
}

ov::Tensor numbers_of(const ov::Tensor& tensor, const std::string& lanes) {
    if (lanes == "none") return tensor;
    auto shape = tensor.get_shape();
    shape.pop_back();
    return {ov::element::Type(lanes), shape, const_cast<void*>(static_cast<const void*>(tensor.data()))};
}

void check_continuous(const ov::Node& node, const ov::TensorVector& tensors) {
    const bool continuous =
        std::all_of(tensors.begin(), tensors.end(), [](const auto& tensor) { return tensor.is_continuous(); });
    OPENVINO_ASSERT(continuous, node.get_type_name(), " '", node.get_friendly_name(),
                    "': a part of a tensor is not scattered: copy it");
}

bool scatter_tensors(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const std::string& reduction,
                     bool is_unsigned, const Update& update) {
    const auto type = data.get_element_type();
    const Elements elements = describe(type, parse(reduction), is_unsigned);
    if (type == ov::element::string) return scatter_strings(data, updates, output, update);
    if (elements.reduction != Reduction::none && type == ov::element::f16)
        return scatter_widened<ov::float16>(data, updates, output, elements.reduction, update);
    if (elements.reduction != Reduction::none && type == ov::element::bf16)
        return scatter_widened<ov::bfloat16>(data, updates, output, elements.reduction, update);
    const auto* const from = static_cast<const char*>(data.data());
    auto* const to = static_cast<char*>(output.data());
    if (data.get_size() == 0) return true;  // Then there is nothing to update, and the addresses may be null.
    in_parallel(data.get_byte_size(), grain,
                [&](const Range& range) { std::memcpy(to + range.begin(), from + range.begin(), range.size()); });
    return update(elements, static_cast<const char*>(updates.data()), to);
}

}  // namespace ov_gather
