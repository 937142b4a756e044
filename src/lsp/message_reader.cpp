#include "lsp/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sardonyx::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";

bool equals_ignoring_case(std::string_view left, std::string_view lower) {
    return std::equal(left.begin(), left.end(), lower.begin(), lower.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
    });
}

// What `Content-Length` says; nothing where no line of the header is one.
std::optional<size_t> content_length(std::string_view header) {
    std::optional<size_t> length;
    while (!header.empty()) {
        size_t end = std::min(header.find('\n'), header.size());
        std::string_view line = header.substr(0, end);
        header.remove_prefix(std::min(end + 1, header.size()));
        if (!equals_ignoring_case(line.substr(0, kLength.size()), kLength)) {
            continue;
        }
        line.remove_prefix(kLength.size());
        line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
        size_t value = 0;
        if (std::from_chars(line.data(), line.data() + line.size(), value).ec == std::errc()) {
            length = value;
        }
    }
    return length;
}

}  // namespace

void MessageReader::drop(size_t count) {
    bytes_.erase(0, count);
}

std::optional<std::string> MessageReader::next() {
    while (true) {
        size_t skipped = std::min(skipped_, bytes_.size());
        drop(skipped);
        skipped_ -= skipped;
        // Lines may end with a lone line feed.
        size_t end = bytes_.find("\r\n\r\n");
        size_t behind = end == std::string::npos ? 0 : end + 4;
        size_t bare = bytes_.find("\n\n");
        if (bare != std::string::npos && (end == std::string::npos || bare < end)) {
            end = bare;
            behind = bare + 2;
        }
        if (end == std::string::npos) {
            if (bytes_.size() > kLongestHeader) {  // no header: keep what may begin one
                drop(bytes_.size() - 3);
            }
            return std::nullopt;
        }
        std::optional<size_t> length = content_length(std::string_view(bytes_).substr(0, end));
        if (!length) {
            drop(behind);
        } else if (*length > kLongest) {
            drop(behind);
            skipped_ = *length;
        } else if (bytes_.size() - behind < *length) {
            return std::nullopt;
        } else {
            std::string content = bytes_.substr(behind, *length);
            drop(behind + *length);
            return content;
        }
    }
}

std::string frame(std::string_view content) {
    return fmt::format("Content-Length: {}\r\n\r\n{}", content.size(), content);
}

}  // namespace sardonyx::lsp
