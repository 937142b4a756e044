// The language server: messages in, messages out. Who reads and writes them is the caller
// (cli/lsp.cpp), who also says when there is nothing more to read.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsp/state.h"

namespace sardonyx::lsp {

class Server {
  public:
    explicit Server(ide::ServerSettings settings = {}) : state_(std::move(settings)) {}

    using Messages = std::vector<std::string>;
    // Hands receive() what has come meanwhile, and does not wait for more.
    using Look = std::function<void()>;

    // Puts a message behind those that wait; `$/cancelRequest` takes effect at once: on them, and
    // on the request that is being answered.
    void receive(std::string_view message);
    size_t waiting() const { return waiting_.size(); }
    // What the first message that waits brings about is added to `out`; false: none waits. A
    // request calls `look` again and again while it is answered, and ends when that has it
    // cancelled.
    bool answer_next(Messages& out, const Look& look = {});
    // The findings of one document that has changed; false: none has.
    bool publish_next(Messages& out);
    // Set once the client has said `exit`: 0 after `shutdown`, else 1.
    std::optional<int> exit_status() const { return exit_status_; }

  private:
    struct Waiting {
        std::optional<Json> message;  // nothing: it is no JSON
        bool is_cancelled = false;
    };

    void cancel(const Json& id);
    void take(const Json& message, bool is_cancelled, const Look& look, Messages& out);
    void answer_while_wanted(const Json& message, const Look& look, Messages& out);
    void request(const Json& id, std::string_view method, const Json& parameters, Messages& out);
    void notify(std::string_view method, const Json& parameters, Messages& out);
    Json initialize(const Json& parameters);

    State state_;
    std::deque<Waiting> waiting_;
    std::string running_;  // the id of the request that is being answered; empty: none
    bool is_running_cancelled_ = false;
    bool is_initialized_ = false;
    bool is_shut_down_ = false;
    bool pulls_ = false;  // the client asks for diagnostics, and gets none by itself
    std::optional<int> exit_status_;
};

}  // namespace sardonyx::lsp
