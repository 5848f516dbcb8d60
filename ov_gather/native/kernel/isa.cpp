#include "isa.hpp"

#include <cstdlib>
#include <string>
#include <vector>

namespace ov_gather {

extern const LineFunctions lines_baseline;
#if OV_GATHER_HAS_AVX
extern const LineFunctions lines_avx2;
extern const LineFunctions lines_avx512;
#endif

namespace {

struct Isa {
    const char* name;
    const LineFunctions* functions;
    bool gathers;  // uses gather instructions for all data
    bool available;
};

// Available instruction sets, best first. Gather instructions are 1.2 to 1.8 times as fast on an Intel Xeon (Sapphire Rapids).
// On AMD they are slower: up to 2 times on Zen 5, where loading elements one by one takes half the time; Zen 3 has none of 512
// bits, and those of 256 bits do not pay; on Zen 4 they take 1.5 to 1.9 times as long, except beyond the near caches (see
// is_near), where "avx512" uses them, too.
std::vector<Isa> available() {
    const Isa known[] = {
#if OV_GATHER_HAS_AVX
        {"avx512_gather", &lines_avx512, true, has_avx512() && is_intel()},
        {"avx512", &lines_avx512, false, has_avx512()},
        {"avx512_gather", &lines_avx512, true, has_avx512() && !is_intel()},
        {"avx2", &lines_avx2, false, has_avx2()},
#endif
        {"baseline", &lines_baseline, false, true},
    };
    std::vector<Isa> result;
    for (const Isa& isa : known)
        if (isa.available) result.push_back(isa);
    return result;
}

Isa choose() {
    const char* wanted = std::getenv("OV_GATHER_ISA");
    for (const Isa& isa : available())
        if (wanted && isa.name == std::string(wanted)) return isa;
    return available().front();
}

const Isa& chosen() {
    static const Isa isa = choose();
    return isa;
}

}  // namespace

const LineFunctions& line_functions() { return *chosen().functions; }

bool has_fast_gathers() { return chosen().gathers; }

const PlaneFunction* planes_of(int64_t element_size) {
    int logarithm = 0;
    while (element_size >>= 1) ++logarithm;
    return line_functions().planes[logarithm];
}

const char* isa_name() { return chosen().name; }

const char* available_isas() {
    static const std::string names = [] {
        std::string joined;
        for (const Isa& isa : available()) joined += (joined.empty() ? "" : " ") + std::string(isa.name);
        return joined;
    }();
    return names.c_str();
}

}  // namespace ov_gather
