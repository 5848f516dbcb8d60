"""An operation of users, `Shift`, as a declaration and as a library in C++ whose file name plants one fault: libTHROWS.so."""

from pathlib import Path

from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

DECLARATION = '''
import numpy as np

from ov_gather.ops.spec import Attribute, Dimension, DimensionError, Input, Operation, PartialShape, RankError, require_axis


def infer_shapes(shapes, attributes):
    x, y = shapes
    if x.dims is None or y.dims is None:
        return [PartialShape(None)]
    if len(x.dims) != len(y.dims):
        raise RankError("x and y have different ranks", "make them the same", 1)
    require_axis(attributes["axis"], x, 0)
    axis = attributes["axis"] % len(x.dims)
    dims = []
    for i, (one, other) in enumerate(zip(x.dims, y.dims)):
        if i == axis:
            upper = None if None in (one.upper, other.upper) else one.upper + other.upper
            dims.append(Dimension(one.lower + other.lower, upper))
        elif (common := one.intersect(other)) is None:
            raise DimensionError(f"dimension {i} differs", "make it the same", 1)
        else:
            dims.append(common)
    return [PartialShape(tuple(dims))]


def reference(inputs, attributes):
    """Join x and 2 * y along the axis."""
    x, y = inputs
    return [np.concatenate([x, y + y], attributes["axis"])]


def axis_range(shapes):
    rank = shapes[0].rank
    return None if not rank else (-rank, rank - 1)


SHIFT = Operation(
    type="Shift",
    opset="example",
    inputs=[Input("x", types=("f32", "f64", "i32")), Input("y", types=("f32", "f64", "i32"))],
    attributes=[Attribute("axis", default=1, valid_range=axis_range)],
    infer_types=lambda types: (types[0] if types[0] is types[1] else same(types),),
    infer_shapes=infer_shapes,
    reference=reference,
)


def same(types):
    from ov_gather.ops.spec import TypeRuleError

    raise TypeRuleError("x and y have different types", "make them the same", 1)
'''

LIBRARY = r"""
#include <dlfcn.h>
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/op/op.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define EACH(F) F(RIGHT), F(OFF_BY_ONE), F(DEFAULT), F(IGNORES_AXIS), F(RACES), F(PAST_THE_END), F(WRONG_TYPE), F(OPEN_SHAPE), \
    F(LEAKS), F(THROWS), F(HANGS), F(STATE), F(CRASHES), F(RETURNS), \
    F(LATE), F(WRITES_INPUT)
#define NAME(F) F
#define TEXT(F) #F
enum { EACH(NAME) };
const char* const NAMES[] = {EACH(TEXT)};

int planted() {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&planted), &info);
    const std::string path = info.dli_fname, file = path.substr(path.rfind('/') + 1);
    const auto is_planted = [&](const char* name) { return file == "lib" + std::string(name) + ".so"; };
    return std::find_if(std::begin(NAMES), std::end(NAMES), is_planted) - NAMES;
}
const int FAULT = planted();

class Shift : public ov::op::Op {
public:
    OPENVINO_OP("Shift", "example");
    Shift() = default;
    Shift(const ov::OutputVector& inputs, int64_t axis) : Op(inputs), m_axis(axis) { constructor_validate_and_infer_types(); }

    bool visit_attributes(ov::AttributeVisitor& visitor) override {
        visitor.on_attribute("axis", m_axis);
        return true;
    }
    int64_t axis(size_t rank) const {
        const int64_t axis = FAULT == IGNORES_AXIS ? 1 : m_axis;
        return axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    }
    void validate_and_infer_types() override {
        const auto x = get_input_partial_shape(0), y = get_input_partial_shape(1);
        const auto type = FAULT == WRONG_TYPE ? ov::element::f32 : get_input_element_type(0);
        if (x.rank().is_dynamic() || y.rank().is_dynamic()) {
            set_output_type(0, type, ov::PartialShape::dynamic());
            return;
        }
        auto output = x;
        for (size_t i = 0; i < output.size(); ++i) {
            if (static_cast<int64_t>(i) == axis(output.size()))
                output[i] = FAULT == OPEN_SHAPE && x[i].is_dynamic() ? y[i] : x[i] + y[i];
            else
                NODE_VALIDATION_CHECK(this, ov::Dimension::merge(output[i], x[i], y[i]), "dimension ", i, " differs");
        }
        set_output_type(0, type, output);
    }
    std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector& inputs) const override {
        return std::make_shared<Shift>(inputs, m_axis);
    }
    bool has_evaluate() const override { return true; }
    template <typename T>
    void compute(ov::Tensor& output, const ov::Tensor& x, const ov::Tensor& y) const {
        const auto shape = output.get_shape();
        const auto along = static_cast<size_t>(axis(shape.size()));
        size_t outer = 1, inner = 1;
        for (size_t i = 0; i < shape.size(); ++i) (i < along ? outer : inner) *= i == along ? 1 : shape[i];
        const size_t rows_x = x.get_shape()[along] * inner, rows_y = y.get_shape()[along] * inner;
        static std::vector<T> scratch;
        std::vector<T> own;
        auto& rows = FAULT == RACES ? scratch : own;
        rows.assign(output.get_size(), T(0));
        if (FAULT == RACES) std::this_thread::sleep_for(std::chrono::microseconds(200));
        for (size_t o = 0; o < outer; ++o) {
            T* row = rows.data() + o * (rows_x + rows_y);
            std::memcpy(row, x.data<const T>() + o * rows_x, rows_x * sizeof(T));
            for (size_t i = 0; i < rows_y; ++i) {
                const T value = y.data<const T>()[o * rows_y + (FAULT == OFF_BY_ONE && i ? i - 1 : i)];
                row[rows_x + i] = value + value;
            }
        }
        if (FAULT == RACES) std::this_thread::sleep_for(std::chrono::microseconds(200));
        std::memcpy(output.data<T>(), rows.data(), std::min(rows.size(), output.get_size()) * sizeof(T));
        if (FAULT == PAST_THE_END) output.data<T>()[output.get_size()] = T(1);
    }
    bool evaluate(ov::TensorVector& outputs, const ov::TensorVector& inputs) const override {
        static std::atomic<int> calls{0};
        ++calls;
        if (FAULT == THROWS) throw std::runtime_error("bad luck");
        while (FAULT == HANGS) std::this_thread::sleep_for(std::chrono::seconds(1));
        if (FAULT == LEAKS) std::memset(new char[1000], 1, 1000);
        if (FAULT == CRASHES) __builtin_trap();
        auto shape = inputs[0].get_shape();
        shape[axis(shape.size())] += inputs[1].get_shape()[axis(shape.size())];
        if (FAULT == RETURNS && shape[0] > 1) shape[0] -= 1;
        outputs[0].set_shape(shape);
        if (inputs[0].get_element_type() == ov::element::f32) compute<float>(outputs[0], inputs[0], inputs[1]);
        if (inputs[0].get_element_type() == ov::element::f64) compute<double>(outputs[0], inputs[0], inputs[1]);
        if (inputs[0].get_element_type() == ov::element::i32) compute<int32_t>(outputs[0], inputs[0], inputs[1]);
        const bool is_wrong = (FAULT == STATE && calls > 3) || (FAULT == LATE && calls >= 200);
        if (is_wrong && outputs[0].get_byte_size()) static_cast<char*>(outputs[0].data())[0] ^= 1;
        if (FAULT == WRITES_INPUT && inputs[1].get_byte_size())
            static_cast<char*>(const_cast<void*>(static_cast<const void*>(inputs[1].data())))[0] ^= 1;
        return true;
    }

private:
    int64_t m_axis = FAULT == DEFAULT ? 0 : 1;
};

OPENVINO_CREATE_EXTENSIONS({std::make_shared<ov::OpExtension<Shift>>()});
"""

FAULTS = {
    "OFF_BY_ONE": "computes wrong values",
    "DEFAULT": "has a wrong default of axis",
    "IGNORES_AXIS": "ignores axis",
    "RACES": "is not thread-safe",
    "PAST_THE_END": "writes past its output",
    "WRONG_TYPE": "infers a wrong element type",
    "OPEN_SHAPE": "infers a wrong open shape",
    "LEAKS": "leaks memory",
    "THROWS": "throws",
    "HANGS": "hangs",
    "STATE": "keeps state between calls",
    "CRASHES": "crashes",
    "LATE": "keeps state between calls",
    "WRITES_INPUT": "writes into its inputs: ",
    "RETURNS": "returns another shape than it inferred",
}
"""What `check` says of each planted fault."""


def write_shift(path: Path, shape=(2, 3, 4), axis: int = 2, kind: str = "f32") -> Path:
    """Write an IR: output = Shift(x, y) along an axis; a dimension may be "?"."""
    builder, element_type = ModelBuilder("shift"), by_name(kind)
    sizes = PartialShape.parse(",".join(map(str, shape)))
    x, y = (builder.parameter(name, element_type, sizes) for name in "xy")
    joined = (size if size == "?" else 2 * size if i == axis else size for i, size in enumerate(shape))
    output = PartialShape.parse(",".join(map(str, joined)))
    (z,) = builder.layer("Shift", "shift", "example", {"axis": str(axis)}, [x, y], [(element_type, output)])
    builder.result("z", z)
    write_ir(builder.build(), path)
    return path
