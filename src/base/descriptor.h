// An open file of the system, closed with its owner; reading and writing that no signal ends.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace sardonyx {

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) {
            ::close(fd_);
        }
    }
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    int get() const { return fd_; }
    int release() {
        int fd = fd_;
        fd_ = -1;
        return fd;
    }

  private:
    int fd_;
};

// As ::read, but not ended by a signal.
ssize_t read_some(int descriptor, void* bytes, size_t size);

// All of the bytes. False: errno says why.
bool write_bytes(int descriptor, std::string_view bytes);

}  // namespace sardonyx
