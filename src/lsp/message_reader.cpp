#include "lsp/message_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace sardonyx::lsp {
namespace {

constexpr std::string_view kLength = "content-length:";

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// What the last `Content-Length` says; nothing where there is none. It need not begin a line:
// behind a message whose length could not be read, it stands right after that message's content.
std::optional<size_t> content_length(std::string_view header) {
    auto found = std::find_end(header.begin(), header.end(), kLength.begin(), kLength.end(),
                               [](char a, char b) { return lower(a) == b; });
    if (found == header.end()) {
        return std::nullopt;
    }
    header.remove_prefix(static_cast<size_t>(found - header.begin()) + kLength.size());
    header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
    size_t value = 0;
    if (std::from_chars(header.data(), header.data() + header.size(), value).ec != std::errc()) {
        return std::nullopt;
    }
    return value;
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
                drop(bytes_.size() - kLongestHeader);
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
