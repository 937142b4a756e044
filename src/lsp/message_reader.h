// Bytes to messages: headers, an empty line, and as many bytes as `Content-Length` says. What is no
// header is passed over until one comes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sardonyx::lsp {

class MessageReader {
  public:
    void add(std::string_view bytes) { bytes_ += bytes; }
    // The content of the next message that is there as a whole.
    std::optional<std::string> next();

    static constexpr size_t kLongestHeader = 4096;
    static constexpr size_t kLongest = size_t{256} << 20;  // of a message

  private:
    void drop(size_t count);

    std::string bytes_;
    size_t skipped_ = 0;  // of a message that is too long: what is still to be passed over
};

// The message with its header.
std::string frame(std::string_view content);

}  // namespace sardonyx::lsp
