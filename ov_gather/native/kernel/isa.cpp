// The instruction set of the lines is chosen once, when it is first needed.
#include "isa.hpp"

#include <cstdlib>

namespace ov_gather {

extern const PlaneTable lines_baseline;
#if defined(__x86_64__)
extern const PlaneTable lines_avx2;
extern const PlaneTable lines_avx512;
#endif

namespace {

struct Isa {
    const char* name;
    const PlaneTable* planes;
    bool available;
};

// The best instruction set comes first.
std::vector<Isa> available() {
    const Isa known[] = {
#if defined(__x86_64__)
        {"avx512", &lines_avx512,
         __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq")},
        {"avx2", &lines_avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")},
#endif
        {"baseline", &lines_baseline, true},
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

const PlaneTable& best_planes() { return *chosen().planes; }
std::string isa_name() { return chosen().name; }

std::vector<std::string> available_isas() {
    std::vector<std::string> names;
    for (const Isa& isa : available()) names.emplace_back(isa.name);
    return names;
}

}  // namespace ov_gather
