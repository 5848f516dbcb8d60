// ScatterElements and ScatterND have this base: what they take, and how they are evaluated.
#pragma once

#include <openvino/op/op.hpp>

#include <string>

#include "scatters.hpp"

namespace ov_gather {

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), updates (of data's type). Negative indices count
// from the end; updates of one element are made in order. Attributes: reduction = "none", "add", "mul", "min" or "max", the
// last four for numbers; lanes = "none", or the type of the numbers that data and updates hold as i32, along one more
// dimension, the last: i64, u64, f64 or c64 as two, c128 as four. c64 and c128 are complex.
class ScatterOp : public ov::op::Op {
public:
    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

protected:
    ScatterOp() = default;
    ScatterOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes);
    ScatterOp(const ov::OutputVector& inputs, const ScatterOp& model);

    // Throws where shapes do not fit; those of data and updates are without lanes.
    virtual void check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices,
                              const ov::PartialShape& updates) const = 0;

    // Returns what updates elements of data of this shape by these indices. One of the two throws where an index is out of
    // bounds.
    virtual Update update(const ov::Shape& data, const ov::Tensor& indices) const = 0;

private:
    void check_types() const;
    ov::PartialShape without_lanes(const ov::PartialShape& shape) const;
    ov::element::Type type_in_model(const ov::element::Type& given) const;
    Elements elements(const ov::element::Type& type) const;

    std::string m_reduction = "none";
    std::string m_lanes = "none";
    ov::element::Type m_type;  // of data in the model: the CPU plugin calls u32 i32, and booleans u8
};

}  // namespace ov_gather
