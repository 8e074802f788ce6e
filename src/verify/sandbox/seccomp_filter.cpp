// Building the filter: a list of refused calls, then the few calls whose arguments decide.
#include "verify/sandbox/seccomp_filter.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace maxplus {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
constexpr std::uint32_t kForeignNumbers = 0x40000000;  // x32
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
constexpr std::uint32_t kForeignNumbers = 0x80000000;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter: the tiers that need one are not granted
constexpr std::uint32_t kForeignNumbers = 0x80000000;
#endif

// Numbers that are the same everywhere and missing in old headers.
constexpr std::uint32_t kPidfdSendSignal = 424, kIoUringSetup = 425, kIoUringEnter = 426, kIoUringRegister = 427,
                        kOpenTree = 428, kMoveMount = 429, kFsopen = 430, kFsconfig = 431, kFsmount = 432,
                        kFspick = 433, kPidfdOpen = 434, kClone3 = 435, kPidfdGetfd = 438, kProcessMadvise = 440,
                        kMountSetattr = 442, kQuotactlFd = 443, kProcessMrelease = 448, kFchmodat2 = 452;

constexpr std::uint32_t kAlwaysRefused[] = {
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_kcmp,
    kPidfdOpen,
    kPidfdGetfd,
    kPidfdSendSignal,
    kProcessMadvise,
    kProcessMrelease,
    SYS_move_pages,
    SYS_migrate_pages,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    kOpenTree,
    kMoveMount,
    kFsopen,
    kFsconfig,
    kFsmount,
    kFspick,
    kMountSetattr,
    SYS_swapon,
    SYS_swapoff,
    SYS_quotactl,
    kQuotactlFd,
    SYS_acct,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    kIoUringSetup,
    kIoUringEnter,
    kIoUringRegister,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_syslog,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_adjtimex,
    SYS_clock_adjtime,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_fanotify_init,
    SYS_vhangup,
    SYS_shmget,
    SYS_shmat,
    SYS_shmctl,
    SYS_msgget,
    SYS_semget,
    SYS_mq_open,
    SYS_setpriority,
    SYS_ioprio_set,
    SYS_socket,
    SYS_bind,
    SYS_connect,
    SYS_listen,
    SYS_mknodat,
    SYS_seccomp,
#ifdef SYS_mknod
    SYS_mknod,
    SYS_iopl,
    SYS_ioperm,
    SYS_modify_ldt,
#endif
};

// Without namespaces other processes and files of the same user are in reach: signals, and changes that Landlock does
// not govern.
constexpr std::uint32_t kRefusedInSharedWorld[] = {
    SYS_kill,         SYS_tkill,         SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    SYS_truncate,     SYS_fchmod,        SYS_fchmodat,        kFchmodat2,
    SYS_fchown,       SYS_fchownat,      SYS_utimensat,       SYS_setxattr,
    SYS_lsetxattr,    SYS_fsetxattr,     SYS_removexattr,     SYS_lremovexattr,
    SYS_fremovexattr, SYS_inotify_init1,
#ifdef SYS_chmod
    SYS_chmod,        SYS_chown,         SYS_lchown,          SYS_utime,
    SYS_utimes,       SYS_futimesat,     SYS_inotify_init,
#endif
};

constexpr std::uint32_t kOwnProcessOnly[] = {SYS_prlimit64,      SYS_sched_setaffinity, SYS_sched_setscheduler,
                                             SYS_sched_setparam, SYS_sched_setattr,     SYS_get_robust_list};

constexpr std::uint32_t kNewNamespaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::uint32_t kTerminalInput = 0x5412, kConsole = 0x541c;  // TIOCSTI, TIOCLINUX

constexpr std::uint32_t kOtherThanStream = 0xf & ~SOCK_STREAM;

constexpr std::uint32_t low_half(int argument) {  // of a 64-bit argument; both processors are little-endian
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + 8 * static_cast<std::size_t>(argument));
}

class Builder {
 public:
  void load(std::uint32_t offset) { add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void answer(std::uint32_t action) { add(BPF_STMT(BPF_RET | BPF_K, action)); }
  void refuse(int error) { answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error)); }
  void skip_unless_equal(std::uint32_t value, std::uint8_t count) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, count));
  }
  void skip_if_equal(std::uint32_t value, std::uint8_t count) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0));
  }
  void skip_unless_any_bit(std::uint32_t bits, std::uint8_t count) {
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, count));
  }
  void skip_if_any_bit(std::uint32_t bits, std::uint8_t count) {
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, count, 0));
  }
  void skip_unless_at_least(std::uint32_t value, std::uint8_t count) {
    add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, count));
  }
  // The number of the call is loaded before and after each of these.
  void refuse_call(std::uint32_t number, int error) {
    skip_unless_equal(number, 1);
    refuse(error);
  }
  void load_number() { load(offsetof(seccomp_data, nr)); }

  sock_fprog program() { return {static_cast<unsigned short>(count_), code_.data()}; }
  bool fits() const { return count_ < code_.size(); }

 private:
  void add(sock_filter one) {
    if (count_ < code_.size()) code_[count_++] = one;
  }
  std::array<sock_filter, 400> code_{};
  std::size_t count_ = 0;
};

void refuse_new_processes(Builder& b, bool allowed) {
  b.refuse_call(kClone3, ENOSYS);  // its flags lie in memory; libraries fall back to clone
#ifdef SYS_fork
  if (!allowed) b.refuse_call(SYS_fork, EPERM);
  if (!allowed) b.refuse_call(SYS_vfork, EPERM);
#endif
  b.skip_unless_equal(SYS_clone, allowed ? 4 : 6);
  b.load(low_half(0));
  b.skip_unless_any_bit(kNewNamespaces, 1);
  b.refuse(EPERM);
  if (!allowed) {
    b.skip_if_any_bit(CLONE_THREAD, 1);
    b.refuse(EPERM);
  }
  b.load_number();
}

void refuse_by_argument(Builder& b, bool shared_world) {
  for (const std::uint32_t number : kOwnProcessOnly) {  // 0: the caller
    b.skip_unless_equal(number, 4);
    b.load(low_half(0));
    b.skip_if_equal(0, 1);
    b.refuse(EPERM);
    b.load_number();
  }
  b.skip_unless_equal(SYS_ioctl, 5);
  b.load(low_half(1));
  b.skip_if_equal(kTerminalInput, 1);
  b.skip_unless_equal(kConsole, 1);
  b.refuse(EPERM);
  b.load_number();
  b.skip_unless_equal(SYS_prctl, 4);  // it dies with its keeper
  b.load(low_half(0));
  b.skip_unless_equal(PR_SET_PDEATHSIG, 1);
  b.refuse(EPERM);
  b.load_number();
  b.skip_unless_equal(SYS_socketpair, 4);  // a datagram socket could be pointed elsewhere
  b.load(low_half(1));
  b.skip_unless_any_bit(kOtherThanStream, 1);
  b.refuse(EPERM);
  b.load_number();
  if (!shared_world) return;
  b.skip_unless_equal(SYS_tgkill, 4);  // abort() signals its own process
  b.load(low_half(0));
  b.skip_if_equal(static_cast<std::uint32_t>(::getpid()), 1);
  b.refuse(EPERM);
  b.load_number();
}

}  // namespace

bool install_system_call_filter(const SandboxPolicy& policy) {
  if (kArchitecture == 0) {
    errno = ENOSYS;
    return false;
  }
  const bool shared_world = policy.tier != Tier::namespaces;
  Builder b;
  b.load(offsetof(seccomp_data, arch));
  b.skip_if_equal(kArchitecture, 1);
  b.answer(SECCOMP_RET_KILL_PROCESS);
  b.load_number();
  b.skip_unless_at_least(kForeignNumbers, 1);
  b.answer(SECCOMP_RET_KILL_PROCESS);
  for (const std::uint32_t number : kAlwaysRefused) b.refuse_call(number, EPERM);
  if (shared_world) {
    for (const std::uint32_t number : kRefusedInSharedWorld) b.refuse_call(number, EPERM);
  }
  refuse_new_processes(b, policy.processes > 1);
  refuse_by_argument(b, shared_world);
  b.answer(SECCOMP_RET_ALLOW);
  if (!b.fits()) {
    errno = E2BIG;
    return false;
  }
  const sock_fprog program = b.program();
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace maxplus
