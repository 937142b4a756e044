// What can be folded, by the tokens: it holds of files that are unfinished, too.
#include <algorithm>

#include "ide/answers.h"
#include "syntax/lexer.h"
#include "syntax/parse.h"

namespace sardonyx::ide {
namespace {

using syntax::Token;
using syntax::TokenKind;

bool is_layout(TokenKind kind) {
    return kind == TokenKind::kIndent || kind == TokenKind::kDedent ||
           kind == TokenKind::kNewline || kind == TokenKind::kEndOfFile;
}

class FoldReader {
  public:
    explicit FoldReader(std::string_view text) {
        syntax::Lexer lexer(text, syntax::skip_byte_order_mark(text),
                            syntax::OutermostBlock::kAtMargin, syntax::Limits().nesting);
        for (bool is_done = false; !is_done;) {
            lexer.next_line();
            bool is_open = lexer.unclosed() != syntax::Lexer::kNone;
            if (is_open && lexer.line_break().token != 0) {
                lexer.cut_line();
            }
            is_done =
                !lexer.tokens().empty() && lexer.tokens().back().kind == TokenKind::kEndOfFile;
            line(lexer.tokens());
        }
        end_imports();
    }

    std::vector<Fold> take() {
        auto before = [](const Fold& a, const Fold& b) { return a.range.begin < b.range.begin; };
        std::stable_sort(folds_.begin(), folds_.end(), before);
        return std::move(folds_);
    }

  private:
    void line(const std::vector<Token>& tokens) {
        std::vector<uint32_t> brackets;
        for (const Token& token : tokens) {
            switch (token.kind) {
                case TokenKind::kIndent:
                    heads_.push_back(last_.end);
                    break;
                case TokenKind::kDedent:
                    if (!heads_.empty()) {
                        folds_.push_back({{heads_.back(), last_.end}, FoldKind::kCode});
                        heads_.pop_back();
                    }
                    break;
                case TokenKind::kLeftParen:
                case TokenKind::kLeftBracket:
                case TokenKind::kLeftBrace:
                    brackets.push_back(token.begin);
                    break;
                case TokenKind::kRightParen:
                case TokenKind::kRightBracket:
                case TokenKind::kRightBrace:
                    if (!brackets.empty()) {
                        // The line of the bracket that closes stays in sight.
                        folds_.push_back({{brackets.back(), token.begin}, FoldKind::kBrackets});
                        brackets.pop_back();
                    }
                    break;
                case TokenKind::kString:
                    folds_.push_back({{token.begin, token.end}, FoldKind::kCode});
                    break;
                default:
                    break;
            }
        }
        auto first = std::find_if(tokens.begin(), tokens.end(),
                                  [](const Token& one) { return !is_layout(one.kind); });
        if (first == tokens.end()) {
            return;
        }
        auto last = std::find_if(tokens.rbegin(), tokens.rend(),
                                 [](const Token& one) { return !is_layout(one.kind); });
        last_ = {first->begin, last->end};
        if (first->kind != TokenKind::kImport && first->kind != TokenKind::kFrom) {
            end_imports();
        } else if (has_imports_) {
            imports_.end = last_.end;
        } else {
            imports_ = last_;
            has_imports_ = true;
        }
    }

    void end_imports() {
        if (has_imports_) {
            folds_.push_back({imports_, FoldKind::kImports});
        }
        has_imports_ = false;
    }

    std::vector<Fold> folds_;
    std::vector<uint32_t> heads_;  // the ends of the lines whose blocks are open
    Range last_;                   // the logical line before
    Range imports_;                // those that follow each other
    bool has_imports_ = false;
};

}  // namespace

std::vector<Fold> folds(const Analysis& analysis) {
    return analysis.module() == nullptr ? std::vector<Fold>() : FoldReader(analysis.text()).take();
}

}  // namespace sardonyx::ide
