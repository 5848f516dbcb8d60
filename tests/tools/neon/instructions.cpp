// A plugin of QEMU that counts executed instructions, and prints their number at the end. Debian's qemu-user has no header for
// plugins, so what is used of it is declared here.
#include <atomic>
#include <cstdint>
#include <string>

extern "C" {
struct qemu_plugin_tb;
struct qemu_info_t;
using qemu_plugin_id_t = uint64_t;
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
void qemu_plugin_outs(const char*);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, void (*)(unsigned, void*), qemu_plugin_cb_flags, void*);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, qemu_plugin_tb*));

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int, char**);
}

namespace {

std::atomic<uint64_t> count;

void executed(unsigned, void* instructions) { count += reinterpret_cast<uintptr_t>(instructions); }

void translated(qemu_plugin_id_t, qemu_plugin_tb* block) {
    void* const instructions = reinterpret_cast<void*>(qemu_plugin_tb_n_insns(block));
    qemu_plugin_register_vcpu_tb_exec_cb(block, executed, QEMU_PLUGIN_CB_NO_REGS, instructions);
}

void ended(qemu_plugin_id_t, void*) { qemu_plugin_outs((std::to_string(count) + "\n").c_str()); }

}  // namespace

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t*, int, char**) {
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, nullptr);
    return 0;
}
