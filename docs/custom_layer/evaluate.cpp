// The computation, on the threads of OpenVINO.
#include <cmath>
#include <openvino/core/parallel.hpp>
#include <type_traits>

#include "snake.hpp"

namespace {

// Rows are the parts of `x` that have one channel: `alpha` changes from row to row, and starts again after the last channel.
template <typename T>
void compute(const T* x, const T* alpha, T* y, size_t rows, size_t channels, size_t size, double epsilon) {
    using Number = std::conditional_t<std::is_same_v<T, double>, double, float>;  // f16 is computed in float
    ov::parallel_for(rows, [&](size_t row) {
        const auto a = static_cast<Number>(alpha[row % channels]), divisor = a + static_cast<Number>(epsilon);
        for (size_t i = row * size; i < (row + 1) * size; ++i) {
            const auto wide = static_cast<Number>(x[i]), sine = std::sin(a * wide);
            y[i] = static_cast<T>(wide + sine * sine / divisor);
        }
    });
}

}  // namespace

bool Snake::evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const {
    const auto& shape = inputs[0].get_shape();  // the actual one: the model may leave dimensions open
    outputs[0].set_shape(shape);
    const auto axis = static_cast<size_t>(m_axis < 0 ? m_axis + static_cast<int64_t>(shape.size()) : m_axis);
    OPENVINO_ASSERT(axis < shape.size() && inputs[1].get_shape() == ov::Shape{shape[axis]}, get_friendly_name(),
                    ": alpha of shape ", inputs[1].get_shape(), " must have one element for each channel of x of shape ", shape,
                    " (axis ", m_axis, ")");
    const auto size = ov::shape_size(shape.begin() + axis + 1, shape.end());
    const auto rows = ov::shape_size(shape.begin(), shape.begin() + axis + 1);
    const auto run = [&](auto type) {
        using T = decltype(type);
        compute(inputs[0].data<const T>(), inputs[1].data<const T>(), outputs[0].data<T>(), rows, shape[axis], size, m_epsilon);
        return true;
    };
    const auto type = inputs[0].get_element_type();
    if (type == ov::element::f32) return run(float{});
    if (type == ov::element::f16) return run(ov::float16{});
    return type == ov::element::f64 && run(double{});
}
