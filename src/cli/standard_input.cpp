#include "cli/standard_input.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "base/descriptor.h"
#include "base/file.h"

namespace sardonyx::cli {
namespace {

// Puts a file in memory with the content of standard input in its place, unless it is a file
// already. If that fails in the middle, standard input is closed: a part is not the whole. Of input
// that does not end, one byte more than is allowed is kept, so that its reader reports an error.
void keep_standard_input() {
    struct stat state = {};
    if (::fstat(STDIN_FILENO, &state) != 0 || S_ISREG(state.st_mode)) {
        return;
    }
    int file = ::memfd_create("standard input", MFD_CLOEXEC);
    if (file < 0) {
        return;
    }
    std::array<char, 1U << 16U> block;
    ssize_t count = 0;
    size_t left = kLargestStream + 1;
    while ((count = read_some(STDIN_FILENO, block.data(), std::min(left, block.size()))) > 0 &&
           write_bytes(file, {block.data(), static_cast<size_t>(count)})) {
        left -= static_cast<size_t>(count);
    }
    if (count == 0) {
        (void)::dup2(file, STDIN_FILENO);
    } else {
        (void)::close(STDIN_FILENO);
    }
    (void)::close(file);
}

}  // namespace

bool standard_input_is_model() {
    keep_standard_input();
    std::array<char, 1024> first;
    ssize_t count = ::pread(STDIN_FILENO, first.data(), first.size(), 0);
    std::string_view text(first.data(), static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
        return false;  // UTF-16, of which the parser says what to do
    }
    // The tags and lengths of protobuf are control characters, which no script has.
    auto is_control = [](char c) {
        return c >= 0 && c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f';
    };
    return std::any_of(text.begin(), text.end(), is_control);
}

Result<std::string> read_standard_input() {
    constexpr size_t kMaxText = size_t{64} << 20U;
    Result<std::string> text = read_file("/dev/stdin", kMaxText);
    if (!text.ok()) {
        return Error{"cannot read standard input: " + text.error().message};
    }
    return text;
}

}  // namespace sardonyx::cli
