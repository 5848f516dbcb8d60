// ScatterND of the custom opset `ov_gather`: ONNX ScatterND-18 as an OpenVINO operation, on our kernel.
#pragma once

#include <openvino/op/op.hpp>

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), whose last dimension holds tuples of coordinates;
// negative ones count from the end; updates of data's type, one slice of data for each tuple. Updates of one slice are made in
// order. Attribute: reduction = "none", "add", "mul", "min" or "max", the last four for numbers; lanes = "none", or the type
// of numbers of 64 bits, i64, u64 or f64, that data and updates hold as two i32 each, along one more dimension, the last.
class ScatterNDOp : public ov::op::Op {
public:
    OPENVINO_OP("ScatterND", "ov_gather");

    ScatterNDOp() = default;
    ScatterNDOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes,
                bool is_unsigned = false);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    void check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices, const ov::PartialShape& updates) const;

    std::string m_reduction = "none";
    std::string m_lanes = "none";
    bool m_is_unsigned = false;  // whether elements are u32, also where the CPU plugin has turned their type into i32
};

}  // namespace ov_gather
