// Bytes on their way into an open file. Those of mapped files go from file to file without passing
// through the memory of the process, others in pieces that caches hold.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "base/content_hash.h"
#include "base/file.h"

namespace sardonyx {

struct CopyOptions {
    FileStamps sources;                 // mapped files that the bytes may be views of
    std::function<void(size_t)> watch;  // is told of each piece of so many bytes; null: nobody is
};

// Writes the parts one after the other, and adds them to `hash`, if it is not null. False: errno
// says why.
bool copy_bytes(int descriptor, std::span<const std::string_view> parts, const CopyOptions& options,
                ContentHash* hash);

}  // namespace sardonyx
