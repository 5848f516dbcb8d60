// ScatterElements of the custom opset `ov_gather`: ONNX ScatterElements-18 as an OpenVINO operation, on our kernel.
#pragma once

#include <openvino/op/op.hpp>

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), updates (of data's type and indices' shape), of one
// rank; off the axis indices may be smaller than data. Negative indices count from the end; updates of one element are made in
// order. Attributes: axis; reduction = "none", "add", "mul", "min" or "max", the last four for numbers; lanes = "none", or the
// type of numbers of 64 bits, i64, u64 or f64, that data and updates hold as two i32 each, along one more dimension, the last.
class ScatterElementsOp : public ov::op::Op {
public:
    OPENVINO_OP("ScatterElements", "ov_gather");

    ScatterElementsOp() = default;
    ScatterElementsOp(const ov::OutputVector& inputs, int64_t axis, const std::string& reduction, const std::string& lanes,
                      bool is_unsigned = false);

    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

private:
    void check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices, const ov::PartialShape& updates) const;

    int64_t m_axis = 0;
    std::string m_reduction = "none";
    std::string m_lanes = "none";
    bool m_is_unsigned = false;  // whether elements are u32, also where the CPU plugin has turned their type into i32
};

}  // namespace ov_gather
