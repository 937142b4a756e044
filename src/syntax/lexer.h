// Lexer: bytes to tokens, one logical line at a time.
//
// A logical line ends at a line break outside brackets, so next_line() gives the parser all that it
// may have to look ahead at, and nothing behind it is looked at. The tokens of a line are
//     (Indent | Dedent*) token+ Newline      or at the end      Dedent* EndOfFile
// and every line break, comment and backslash continuation has been dropped.
//
// An open bracket would make the rest of the file one logical line. While in brackets the lexer
// therefore looks at the beginning of each line: a word that no expression can hold (`def`,
// `return`) ends the logical line there. Something that only looks like a new statement (`y = ` at
// the column of the statement, or further left) is noted as the `break`, where the line is
// cut when it turns out to have no end, or when the parser meets an error behind it.
//
// Nothing is reported here: what cannot be read becomes an Error token, for the parser to report
// when it gets there.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "syntax/token.h"

namespace sardonyx::syntax {

// Where the outermost block stands: at the margin, or indented as the line where reading starts.
enum class OutermostBlock : uint8_t { kAtMargin, kIndented };

class Lexer {
  public:
    // A NUL byte must stand behind `text`, which must outlive the lexer. Reading starts at `begin`.
    Lexer(std::string_view text, uint32_t begin, OutermostBlock block, uint32_t nesting_limit);

    // Reads one line as if within brackets, so that line breaks do not count; for annotations.
    void read_expression();

    void next_line();
    const std::vector<Token>& tokens() const { return tokens_; }

    // The place of the current logical line where another statement seems to begin.
    struct Break {
        uint32_t token = 0;       // index of the first token behind it; 0: there is none
        uint32_t line_begin = 0;  // where reading goes on
        uint32_t bracket = 0;     // offset of the innermost bracket open there
    };
    const Break& line_break() const { return break_; }
    // The comments, from `# sardonyx:` on, that speak to this program; in the order of the text.
    const std::vector<Range>& directives() const { return directives_; }
    // Whether a name so far has a character beyond ASCII; others are as Python reads them.
    bool has_wide_names() const { return has_wide_names_; }
    // Ends the current logical line at its break.
    void cut_line();
    static constexpr uint32_t kNone = UINT32_MAX;
    // The offset of the innermost bracket that is open where the current logical line ends, or
    // kNone.
    uint32_t unclosed() const { return unclosed_; }

  private:
    enum class Mode : uint8_t { kBracket, kField, kText, kFormatSpec };
    // An open bracket, an f-string's text, a replacement field of it or a format spec in a field.
    struct Open {
        Mode mode;
        char closer;     // the bracket, or the quote of an f-string
        uint8_t detail;  // StringFlags of the f-string
        uint32_t begin;
    };
    struct Indentation {
        uint32_t column;      // a tab goes to the next multiple of 8
        uint32_t characters;  // a tab is one: both must agree on which line is deeper
    };

    void add(TokenKind kind, const char* begin, const char* end, uint8_t detail = 0) {
        tokens_.push_back({kind, detail, offset(begin), offset(end)});
    }
    [[gnu::cold]] void add_error(LexError error, const char* begin, const char* end) {
        add(TokenKind::kError, begin, end, static_cast<uint8_t>(error));
    }
    uint32_t offset(const char* at) const { return static_cast<uint32_t>(at - text_); }
    bool at_end(const char* at) const { return at == end_; }

    bool read_indentation();
    void indent_to(Indentation here);
    void read_tokens();
    void read_token();
    void skip_comment();
    bool continue_line();
    void end_line_at_fault();
    bool note_break(const char* line_begin);
    bool looks_like_statement(const char* at, uint32_t column) const;
    void read_operator();
    void read_sign(TokenKind kind, size_t length) {
        add(kind, at_, at_ + length);
        at_ += length;
    }
    void read_open(TokenKind kind, char closer);
    void read_close(TokenKind kind);
    void read_colon();
    void read_exclamation();
    void read_backslash();
    void read_name();
    void read_number();
    void end_number(const char* begin, const char* digits_end, bool valid);
    void read_string(const char* begin, uint8_t flags);
    void read_text();
    void read_invalid();
    bool string_prefix(const char* begin, const char* end, uint8_t* flags, bool* formatted) const;

    const char* text_;
    const char* end_;
    const char* at_;
    uint32_t nesting_limit_;
    uint32_t column_ = 0;    // of the current logical line
    bool compound_ = false;  // it begins with `def`, `if`, ...
    bool cut_ = false;       // the previous logical line was cut, and was not compound
    bool expression_ = false;
    bool done_ = false;  // the current logical line has all its tokens
    bool has_wide_names_ = false;
    Break break_;
    uint32_t breaks_ = 0;     // how many breaks there were, each with more brackets open
    size_t break_depth_ = 0;  // the brackets open at the last of them
    uint32_t unclosed_ = kNone;
    std::vector<Open> open_;
    std::vector<Indentation> indentations_;
    std::vector<Token> tokens_;
    std::vector<Range> directives_;
};

// The offset behind a byte order mark, or 0.
uint32_t skip_byte_order_mark(std::string_view text);

}  // namespace sardonyx::syntax
