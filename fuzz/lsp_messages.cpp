// Any bytes as the input of the language server: each message is answered or passed over.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "lsp/message_reader.h"
#include "lsp/server.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace sardonyx;
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    lsp::MessageReader reader;
    lsp::Server server;
    lsp::Server::Messages messages;
    auto receive = [&](std::string_view message) {
        server.receive(message);
        while (server.answer_next(messages)) {
        }
    };
    receive(R"({"id":1,"method":"initialize","params":{}})");
    // In two pieces, which must make no difference.
    for (std::string_view piece : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
        reader.add(piece);
        while (std::optional<std::string> content = reader.next()) {
            receive(*content);
        }
    }
    // The same as one message.
    receive(bytes);
    server.publish_next(messages);
    for (const std::string& message : messages) {
        SDX_CHECK(lsp::read_json(message).has_value());
    }
    return 0;
}
