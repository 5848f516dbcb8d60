#include "limits.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>

#include <array>
#include <tuple>

#include "limit.hpp"

namespace nb = nanobind;

namespace {

using Bytes = nb::ndarray<uint8_t, nb::c_contig>;
using Floats = nb::ndarray<float, nb::c_contig>;
using Offsets = nb::ndarray<int32_t, nb::c_contig>;
using Numbers = std::array<int64_t, 5>;

// A limit that keeps its arrays alive.
template <typename Limit, typename... Arrays>
struct Held {
    Limit limit;
    std::tuple<Arrays...> arrays;

    void operator()() const {
        const nb::gil_scoped_release release;
        ov_gather::run(limit);
    }
};

using Gather = Held<ov_gather::GatherLimit, Bytes, Offsets, Bytes>;
using Scatter = Held<ov_gather::ScatterLimit, Floats, Offsets, Floats, Floats>;

ov_gather::Steps steps_of(const Numbers& numbers) { return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]}; }

void make_gather(Gather* self, const Bytes& data, const Offsets& offsets, const Bytes& output, int64_t unit,
                 const Numbers& steps, bool packed, int loads, bool streamed) {
    const ov_gather::GatherLimit limit{reinterpret_cast<const char*>(data.data()),
                                       offsets.data(),
                                       reinterpret_cast<char*>(output.data()),
                                       unit,
                                       steps_of(steps),
                                       packed,
                                       static_cast<ov_gather::Loads>(loads),
                                       streamed};
    new (self) Gather{limit, {data, offsets, output}};
}

void make_scatter(Scatter* self, const Floats& data, const Offsets& offsets, const Floats& updates, const Floats& output,
                  int64_t unit, const Numbers& steps, int64_t line, bool fetched, bool adds) {
    const ov_gather::ScatterLimit limit{data.data(),     offsets.data(), updates.data(), output.data(), unit,
                                        steps_of(steps), line,           fetched,        adds};
    new (self) Scatter{limit, {data, offsets, updates, output}};
}

}  // namespace

void add_limits(nb::module_& module) {
    nb::class_<Gather>(module, "GatherLimit")
        .def("__init__", &make_gather, nb::arg("data"), nb::arg("offsets"), nb::arg("output"), nb::arg("unit"),
             nb::arg("steps"), nb::arg("packed"), nb::arg("loads"), nb::arg("streamed"))
        .def("__call__", &Gather::operator());
    nb::class_<Scatter>(module, "ScatterLimit")
        .def("__init__", &make_scatter, nb::arg("data"), nb::arg("offsets"), nb::arg("updates"), nb::arg("output"),
             nb::arg("unit"), nb::arg("steps"), nb::arg("line"), nb::arg("fetched"), nb::arg("adds"))
        .def("__call__", &Scatter::operator());
    module.def(
        "can_load", [](int loads, int64_t unit) { return ov_gather::can_load(static_cast<ov_gather::Loads>(loads), unit); },
        nb::arg("loads"), nb::arg("unit"));
}
