// The language server: messages in, messages out. Who reads and writes them is the caller
// (cli/lsp.cpp), who also says when there is nothing more to read.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsp/state.h"

namespace sardonyx::lsp {

class Server {
  public:
    explicit Server(ide::Settings settings = {}) : state_(std::move(settings)) {}

    using Messages = std::vector<std::string>;

    // What a message brings about is added to `out`.
    void receive(std::string_view message, Messages& out);
    // The findings of one document that has changed; false: none has.
    bool publish_next(Messages& out);
    // Set once the client has said `exit`: 0 after `shutdown`, else 1.
    std::optional<int> exit_status() const { return exit_status_; }

  private:
    void request(const Json& id, std::string_view method, const Json& parameters, Messages& out);
    void notify(std::string_view method, const Json& parameters, Messages& out);
    Json initialize(const Json& parameters);

    State state_;
    bool is_initialized_ = false;
    bool is_shut_down_ = false;
    bool pulls_ = false;  // the client asks for diagnostics, and gets none by itself
    std::optional<int> exit_status_;
};

}  // namespace sardonyx::lsp
