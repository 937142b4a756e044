#include "base/mapping_guard.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

#if (defined(__unix__) || defined(__APPLE__)) && !defined(__EMSCRIPTEN__)
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#define SDX_HAS_FAULTS 1
#endif

namespace sardonyx {

// Never freed, but used again: a handler may walk the list at any time.
struct MappingGuard::Entry {
    std::atomic<uintptr_t> begin{0};
    std::atomic<uintptr_t> end{0};
    std::atomic<int> readers{0};
    std::atomic<bool> is_damaged{false};
    bool is_free = false;
    Entry* next = nullptr;
};

namespace {

std::mutex g_entries_lock;  // of those that change the list
std::atomic<MappingGuard::Entry*> g_entries{nullptr};

#if defined(SDX_HAS_FAULTS)

struct sigaction g_handler_before;
std::atomic<int> g_handing_on{0};
uintptr_t g_page_size = 4096;

// Puts zeros where the file ends too early; false: it is no mapping that is being read.
bool replace_lost_pages(uintptr_t at) {
    for (auto* entry = g_entries.load(std::memory_order_acquire); entry != nullptr;
         entry = entry->next) {
        uintptr_t begin = entry->begin.load(), end = entry->end.load();
        if (at < begin || at >= end || entry->readers.load() == 0) {
            continue;
        }
        uintptr_t page = at / g_page_size * g_page_size;
        entry->is_damaged.store(true);
        return ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}

// To whoever handled faults before. A handler that raises the signal again comes back here: after
// some rounds the process ends.
void hand_on(int signal, siginfo_t* info, void* context) {
    constexpr int kRounds = 4;
    const struct sigaction& before = g_handler_before;
    bool is_default = (before.sa_flags & SA_SIGINFO) == 0 &&
                      (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
    if (is_default || g_handing_on.fetch_add(1) >= kRounds) {
        ::signal(signal, SIG_DFL);
        if (info->si_code <= 0) {
            ::raise(signal);  // somebody sent it; a fault happens again by itself
        }
        return;
    }
    if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, info, context);
    } else {
        before.sa_handler(signal);
    }
    g_handing_on.fetch_sub(1);
}

void on_bus_error(int signal, siginfo_t* info, void* context) {
    int error = errno;
    if (info->si_code <= 0 || !replace_lost_pages(reinterpret_cast<uintptr_t>(info->si_addr))) {
        hand_on(signal, info, context);
    }
    errno = error;
}

// Under the lock.
void install_handler() {
    static bool is_installed = false;
    if (is_installed) {
        return;
    }
    is_installed = true;
    g_page_size = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    ::sigaction(SIGBUS, nullptr, &g_handler_before);
    ::sigaction(SIGBUS, &action, nullptr);
}

// The stack of a thread for handlers of faults.
class FaultStack {
  public:
    FaultStack() {
        stack_t now{};
        if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) {
            return;
        }
        void* memory =
            ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        stack_t own{};
        own.ss_sp = memory;
        own.ss_size = kSize;
        if (memory != MAP_FAILED && ::sigaltstack(&own, nullptr) == 0) {
            memory_ = memory;
        }
    }
    ~FaultStack() {
        stack_t now{};
        if (memory_ == nullptr || ::sigaltstack(nullptr, &now) != 0 || now.ss_sp != memory_) {
            return;
        }
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        none.ss_size = kSize;
        if (::sigaltstack(&none, nullptr) == 0) {
            ::munmap(memory_, kSize);
        }
    }
    FaultStack(const FaultStack&) = delete;
    FaultStack& operator=(const FaultStack&) = delete;

  private:
    static constexpr size_t kSize = 64 << 10;
    void* memory_ = nullptr;
};

#endif

MappingGuard::Entry* new_entry() {
    for (auto* entry = g_entries.load(); entry != nullptr; entry = entry->next) {
        if (entry->is_free) {
            entry->is_free = false;
            return entry;
        }
    }
    auto* entry = new MappingGuard::Entry;
    entry->next = g_entries.load();
    g_entries.store(entry, std::memory_order_release);
    return entry;
}

}  // namespace

MappingGuard::MappingGuard(const void* data, size_t size) {
    std::lock_guard<std::mutex> lock(g_entries_lock);
#if defined(SDX_HAS_FAULTS)
    install_handler();
#endif
    entry_ = new_entry();
    entry_->is_damaged = false;
    entry_->end = reinterpret_cast<uintptr_t>(data) + size;
    entry_->begin = reinterpret_cast<uintptr_t>(data);
}

MappingGuard::~MappingGuard() {
    forget();
    std::lock_guard<std::mutex> lock(g_entries_lock);
    entry_->is_free = true;
}

void MappingGuard::begin_reading() const {
    entry_->readers.fetch_add(1);
}

void MappingGuard::end_reading() const {
    entry_->readers.fetch_sub(1);
}

bool MappingGuard::is_damaged() const {
    return entry_->is_damaged.load();
}

void MappingGuard::forget() {
    entry_->begin = 0;
    entry_->end = 0;
}

void use_fault_stack() {
#if defined(SDX_HAS_FAULTS)
    static thread_local FaultStack stack;
#endif
}

}  // namespace sardonyx
