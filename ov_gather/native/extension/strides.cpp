#include "strides.hpp"

#include <cstring>

namespace ov_gather {
namespace {

// The private implementation of a tensor. Its first word, the vtable pointer, identifies its class.
class Implementation : public ov::Tensor {
public:
    static const void* class_of(const ov::Tensor& tensor) {
        const void* result;
        std::memcpy(&result, (tensor.*(&Implementation::_impl)).get(), sizeof(result));
        return result;
    }
};

// Return the class of tensors without strides; null if tensors with strides have the same class.
const void* find_class_without_strides() {
    float memory[4] = {};
    const ov::Tensor whole(ov::element::f32, {2, 2}, memory), strided(ov::element::f32, {2, 1}, memory, ov::Strides{8, 4});
    const ov::Tensor part(whole, {0, 0}, {2, 1});
    const void* const result = Implementation::class_of(whole);
    return result == Implementation::class_of(strided) || result == Implementation::class_of(part) ? nullptr : result;
}

bool has_no_strides(const ov::Tensor& tensor) {
    static const void* const without_strides = find_class_without_strides();
    return Implementation::class_of(tensor) == without_strides;
}

}  // namespace

ov::Strides strides_of(const ov::Tensor& tensor) {
    if (!has_no_strides(tensor)) return tensor.get_strides();
    const ov::Shape& shape = tensor.get_shape();
    ov::Strides result(shape.size());
    size_t step = tensor.get_element_type().size();
    for (size_t i = shape.size(); i-- > 0; step *= shape[i]) result[i] = step;
    return result;
}

bool is_contiguous(const ov::Tensor& tensor) { return has_no_strides(tensor) || tensor.is_continuous(); }

}  // namespace ov_gather
