// Base of ScatterElements and ScatterND: inputs, attributes and evaluation.
#pragma once

#include <openvino/op/op.hpp>
#include <openvino/runtime/tensor.hpp>

#include <functional>
#include <string>

#include "ov_gather_kernel.h"

namespace ov_gather {

// Properties of elements that the kernel needs: size in bytes, NumPy's kind, and reduction.
struct Elements {
    int64_t size;
    char kind;
    ov_gather_reduction reduction;
};

// Compute the output from contiguous data and updates. Data may be the output.
using Update = std::function<void(const Elements& elements, const char* data, const char* updates, char* output)>;

// Inputs: data (any type of whole bytes, or string), indices (i32 or i64), updates (data's type). Negative indices count from
// the end. Updates of one element are applied in order. Attributes:
// - reduction: "none", or for numbers "add", "mul", "min" or "max".
// - lanes: "none", or the type of numbers that data and updates hold as several i32 along an additional last dimension: i64,
//   u64, f64 and complex c64 as two, complex c128 as four.
class ScatterOp : public ov::op::Op {
public:
    bool visit_attributes(ov::AttributeVisitor& visitor) override;
    void validate_and_infer_types() override;
    bool has_evaluate() const override { return true; }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override;

protected:
    ScatterOp() = default;
    ScatterOp(const ov::OutputVector& inputs, const std::string& reduction, const std::string& lanes);

    // Copy data's type in the model to `op`, an operation of the same attributes on other inputs, and return `op`.
    std::shared_ptr<ov::Node> as_copy(const std::shared_ptr<ScatterOp>& op) const;

    // Throw if shapes do not fit; those of data and updates are without lanes.
    virtual void check_shapes(const ov::PartialShape& data, const ov::PartialShape& indices,
                              const ov::PartialShape& updates) const = 0;

    // Return a function that updates data of this shape, and keeps references to both arguments. Either of the two throws if
    // one of the indices is out of bounds.
    virtual Update update(const ov::Shape& data, const ov::Tensor& indices) const = 0;

    std::string m_reduction = "none";
    std::string m_lanes = "none";

private:
    void check_types() const;
    ov::PartialShape without_lanes(const ov::PartialShape& shape) const;
    ov::element::Type type_in_model(const ov::element::Type& given) const;
    Elements elements(const ov::element::Type& type) const;

    ov::element::Type m_type;  // data's type in the model: the CPU plugin passes u32 as i32, and boolean as u8
};

}  // namespace ov_gather
