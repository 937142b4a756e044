// sardonyx lsp: the language server on standard input and output.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "base/descriptor.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "lsp/message_reader.h"
#include "lsp/server.h"

namespace sardonyx::cli {
namespace {

// Messages are read ahead of their answers as far as this.
constexpr size_t kMostWaiting = 1000;
// How often a request that runs asks whether it has been cancelled.
constexpr std::chrono::milliseconds kLookInterval{5};

// Whether there are bytes to read, or their end.
bool has_input() {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    return ::poll(&input, 1, 0) > 0;
}

// Waits for bytes; false at the end of the input.
bool read_input(lsp::MessageReader& reader) {
    std::array<char, 1 << 16> bytes;
    ssize_t count = read_some(STDIN_FILENO, bytes.data(), bytes.size());
    if (count > 0) {
        reader.add({bytes.data(), static_cast<size_t>(count)});
    }
    return count > 0;
}

void send(lsp::Server::Messages& messages) {
    for (const std::string& message : messages) {
        print(lsp::frame(message));
    }
    messages.clear();
}

}  // namespace

int run_lsp(const LspOptions& options) {
    lsp::Server server(options.settings);
    lsp::MessageReader reader;
    lsp::Server::Messages messages;
    bool has_more = true;
    auto read = [&] {
        has_more = read_input(reader);
        while (std::optional<std::string> content = reader.next()) {
            server.receive(*content);
        }
    };
    auto read_ahead = [&] {
        while (has_more && server.waiting() < kMostWaiting && has_input()) {
            read();
        }
    };
    std::chrono::steady_clock::time_point next_look{};
    auto look = [&] {
        if (std::chrono::steady_clock::now() >= next_look) {
            read_ahead();
            next_look = std::chrono::steady_clock::now() + kLookInterval;
        }
    };
    while (!server.exit_status()) {
        // What has been cancelled meanwhile need not be answered.
        read_ahead();
        // What has changed is told when nothing else waits.
        if (server.answer_next(messages, look) || (has_more && server.publish_next(messages))) {
            send(messages);
        } else if (!has_more) {
            return kFailure;  // the client has gone without `exit`
        } else {
            read();
        }
    }
    return *server.exit_status();
}

}  // namespace sardonyx::cli
