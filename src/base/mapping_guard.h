// Reads of mapped files that are truncated meanwhile.
#pragma once

#include <cstddef>

namespace sardonyx {

// Of one mapping. While somebody reads through begin_reading(), what the file has lost reads as
// zeros, and is_damaged() says so from then on; at other times such a read ends the process, as
// anywhere (SIGBUS): nobody would hear of the zeros. The first guard installs a handler of SIGBUS,
// which hands on all other faults to the one before it.
class MappingGuard {
  public:
    MappingGuard(const void* data, size_t size);
    ~MappingGuard();
    MappingGuard(const MappingGuard&) = delete;
    MappingGuard& operator=(const MappingGuard&) = delete;

    void begin_reading() const;
    void end_reading() const;
    bool is_damaged() const;
    // The mapping goes.
    void forget();

    struct Entry;

  private:
    Entry* entry_;
};

// Gives this thread a stack for handlers of faults, if it has none: for calls of libraries that put
// the stack pointer where a handler's frame has no room.
void use_fault_stack();

}  // namespace sardonyx
