#include "scatters.hpp"

#include <openvino/core/type/bfloat16.hpp>
#include <openvino/core/type/float16.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace ov_gather {
namespace {

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
void scatter_widened(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, Reduction reduction,
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
    update({sizeof(int64_t), 'i', Reduction::none}, positions, reinterpret_cast<const char*>(position_of_update.data()),
           positions);
    std::transform(chosen.begin(), chosen.end(), output.data<std::string>(),
                   [&](int64_t position) { return position < size ? from[position] : given[position - size]; });
}

}  // namespace

void scatter_tensors(const ov::Tensor& data, const ov::Tensor& updates, ov::Tensor& output, const Elements& elements,
                     const Update& update) {
    const auto type = data.get_element_type();
    if (type == ov::element::string) return scatter_strings(data, updates, output, update);
    if (elements.reduction != Reduction::none && type == ov::element::f16)
        return scatter_widened<ov::float16>(data, updates, output, elements.reduction, update);
    if (elements.reduction != Reduction::none && type == ov::element::bf16)
        return scatter_widened<ov::bfloat16>(data, updates, output, elements.reduction, update);
    if (data.get_size() == 0) return;  // nothing to update; the addresses may be null
    update(elements, static_cast<const char*>(data.data()), static_cast<const char*>(updates.data()),
           static_cast<char*>(output.data()));
}

}  // namespace ov_gather
