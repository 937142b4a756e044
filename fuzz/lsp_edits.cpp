// Edits to a text, drawn from its bytes: what the server says after them is what it says of a
// document that is opened with the same text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "ide/text.h"
#include "lsp/json.h"
#include "lsp/server.h"

namespace {

using namespace sardonyx;
using lsp::Json;

constexpr size_t kMostBytes = 4'000;
constexpr std::string_view kPieces[] = {"",  "(",  ")",    "op.",      "\n",  "\n    ", "\"",
                                        ":", "\r", "def ", "\xC3\xB6", "X, ", "#",      R"(""")"};

// Well-formed UTF-8, which JSON keeps as it is.
std::string text_of(const uint8_t* data, size_t size) {
    std::string text;
    for (size_t i = 0; i < std::min(size, kMostBytes); ++i) {
        text += data[i] < 0x80 ? std::string(1, static_cast<char>(data[i])) : "\xF0\x9D\x94\x98";
    }
    return text;
}

class Draw {
  public:
    explicit Draw(std::string_view text) {
        for (char c : text) {
            state_ = (state_ ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
        }
    }
    uint32_t below(size_t limit) {
        state_ = state_ * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        return static_cast<uint32_t>((state_ >> 33) % limit);
    }

  private:
    uint64_t state_ = 14'695'981'039'346'656'037U;
};

Json message(const char* method, Json parameters) {
    return Json::object({{"method", method}, {"params", std::move(parameters)}});
}

class Client {
  public:
    Client() { say(Json::object({{"id", 1}, {"method", "initialize"}})); }

    void say(const Json& one) {
        server_.receive(one.write());
        while (server_.answer_next(said_)) {
        }
    }
    void open(const std::string& text) {
        Json document = Json::object({{"uri", "file:///a.py"}, {"version", 9}, {"text", text}});
        say(message("textDocument/didOpen", Json::object({{"textDocument", std::move(document)}})));
    }
    void edit(const ide::LineTable& lines, uint32_t begin, uint32_t end, std::string_view text) {
        auto place = [&lines](uint32_t offset) {
            ide::Place at = lines.place(offset, ide::Encoding::kUtf16);
            return Json::object({{"line", at.line}, {"character", at.character}});
        };
        Json range = Json::object({{"start", place(begin)}, {"end", place(end)}});
        Json change = Json::object({{"range", std::move(range)}, {"text", text}});
        Json document = Json::object({{"uri", "file:///a.py"}, {"version", 9}});
        say(message("textDocument/didChange",
                    Json::object({{"textDocument", std::move(document)},
                                  {"contentChanges", Json::array({std::move(change)})}})));
    }
    // All that is known of the text.
    lsp::Server::Messages knowledge() {
        said_.clear();
        for (const char* method :
             {"textDocument/diagnostic", "textDocument/documentSymbol", "textDocument/foldingRange",
              "textDocument/codeLens", "textDocument/semanticTokens/full"}) {
            Json document = Json::object({{"uri", "file:///a.py"}});
            Json request = message(method, Json::object({{"textDocument", std::move(document)}}));
            request.set("id", 2);
            say(request);
        }
        return std::move(said_);
    }

  private:
    lsp::Server server_;
    lsp::Server::Messages said_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    std::string text = text_of(data, size);
    Draw draw(text);
    Client edited;
    edited.open(text);
    for (int i = 0; i < 4; ++i) {
        ide::LineTable lines(text);
        // A place that has a name: within a code point or a line break there is none.
        auto place = [&](uint32_t offset) {
            return lines.offset(lines.place(offset, ide::Encoding::kUtf16), ide::Encoding::kUtf16);
        };
        uint32_t begin = place(draw.below(text.size() + 1));
        uint32_t end = place(static_cast<uint32_t>(
            std::min<size_t>(begin + draw.below(2) * draw.below(40), text.size())));
        end = std::max(begin, end);
        std::string_view piece = kPieces[draw.below(std::size(kPieces))];
        edited.edit(lines, begin, end, piece);
        text.replace(begin, end - begin, piece);
        if (draw.below(2) == 0) {
            (void)edited.knowledge();
        }
    }
    Client fresh;
    fresh.open(text);
    SDX_CHECK(edited.knowledge() == fresh.knowledge());
    return 0;
}
