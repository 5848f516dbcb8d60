// What the operation accepts, and how its attributes are read. The computation is in evaluate.cpp.
#include "snake.hpp"

Snake::Snake(const ov::Output<ov::Node>& x, const ov::Output<ov::Node>& alpha, int64_t axis, double epsilon)
    : ov::op::Op({x, alpha}), m_axis(axis), m_epsilon(epsilon) {
    constructor_validate_and_infer_types();
}

bool Snake::visit_attributes(ov::AttributeVisitor& visitor) {
    visitor.on_attribute("axis", m_axis);
    visitor.on_attribute("epsilon", m_epsilon);
    return true;
}

// Types and shapes may still be open (`dynamic`); what is known must fit.
void Snake::validate_and_infer_types() {
    NODE_VALIDATION_CHECK(this, get_input_size() == 2, "takes x and alpha, not ", get_input_size(), " inputs");
    NODE_VALIDATION_CHECK(this, m_epsilon >= 0, "epsilon must not be negative, as ", m_epsilon, " is");
    auto type = get_input_element_type(0);
    NODE_VALIDATION_CHECK(this, ov::element::Type::merge(type, type, get_input_element_type(1)), "x is ",
                          get_input_element_type(0), " and alpha is ", get_input_element_type(1), ": both must be the same");
    const bool is_taken = type == ov::element::f32 || type == ov::element::f16 || type == ov::element::f64;
    NODE_VALIDATION_CHECK(this, type.is_dynamic() || is_taken, "takes f32, f16 and f64, not ", type);

    const auto& x = get_input_partial_shape(0);
    auto alpha = get_input_partial_shape(1);
    NODE_VALIDATION_CHECK(this, alpha.compatible({ov::Dimension()}), "alpha must have 1 dimension, not shape ", alpha);
    if (x.rank().is_static()) {
        const auto rank = x.rank().get_length();
        NODE_VALIDATION_CHECK(this, -rank <= m_axis && m_axis < rank, "axis ", m_axis, " is out of range for x of shape ", x);
        const auto& channels = x[m_axis < 0 ? m_axis + rank : m_axis];
        NODE_VALIDATION_CHECK(this, alpha.compatible({channels}), "alpha of shape ", alpha,
                              " must have one element for each of ", channels, " channels of x of shape ", x, " (axis ", m_axis,
                              ")");
    }
    set_output_type(0, type, x);
}

std::shared_ptr<ov::Node> Snake::clone_with_new_inputs(const ov::OutputVector& inputs) const {
    check_new_args_count(this, inputs);
    return std::make_shared<Snake>(inputs[0], inputs[1], m_axis, m_epsilon);
}
