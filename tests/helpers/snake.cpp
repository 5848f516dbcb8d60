// Snake, an activation of audio models: x + sin(alpha * x)^2 / alpha for each element x.
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/op/op.hpp>

#include <cmath>

class Snake : public ov::op::Op {
public:
    OPENVINO_OP("Snake", "example");  // in an IR: type="Snake" version="example"
    Snake() = default;
    Snake(const ov::Output<ov::Node>& x, float alpha) : Op({x}), m_alpha(alpha) { constructor_validate_and_infer_types(); }

    bool visit_attributes(ov::AttributeVisitor& visitor) override {
        visitor.on_attribute("alpha", m_alpha);
        return true;
    }
    void validate_and_infer_types() override {
        NODE_VALIDATION_CHECK(this, get_input_element_type(0) == ov::element::f32, "takes f32, not ",
                              get_input_element_type(0));
        NODE_VALIDATION_CHECK(this, m_alpha > 0, "alpha must be positive, not ", m_alpha);
        set_output_type(0, ov::element::f32, get_input_partial_shape(0));
    }
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        return std::make_shared<Snake>(inputs.at(0), m_alpha);
    }
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        outputs[0].set_shape(inputs[0].get_shape());  // the model may leave dimensions open; these are the actual ones
        const auto *x = inputs[0].data<const float>(), *end = x + inputs[0].get_size();
        for (auto* y = outputs[0].data<float>(); x != end; ++x, ++y) *y = *x + std::pow(std::sin(m_alpha * *x), 2.0f) / m_alpha;
        return true;
    }

private:
    float m_alpha = 1;
};

OPENVINO_CREATE_EXTENSIONS({std::make_shared<ov::OpExtension<Snake>>()});
