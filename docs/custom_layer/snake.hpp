// The operation: its type and opset, inputs, attributes and methods.
#pragma once

#include <openvino/op/op.hpp>

// y = x + sin(alpha * x)^2 / (alpha + epsilon), where `alpha` has one element for each channel of `x`.
class Snake : public ov::op::Op {
public:
    OPENVINO_OP("Snake", "example");  // in an IR: type="Snake" version="example"
    Snake() = default;
    Snake(const ov::Output<ov::Node>& x, const ov::Output<ov::Node>& alpha, int64_t axis, double epsilon);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    int64_t m_axis = 1;       // of the channels; negative ones count from the end
    double m_epsilon = 1e-9;  // keeps the division finite where alpha is 0
};
