// The shortest script of deletions and insertions by the greedy algorithm of E. Myers ("An O(ND)
// Difference Algorithm and Its Variations", 1986), between the first and the last line that differ.
// Texts that differ in very many lines are shown as one change: the algorithm is quadratic in them.
#include "cli/unified_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sardonyx::cli {
namespace {

constexpr size_t kContext = 3;
constexpr int kMaxChanges = 2000;

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
        lines.push_back(text.substr(0, end));
        text = text.substr(end);
    }
    return lines;
}

struct Line {
    char mark;  // ' ', '-' or '+'
    std::string_view text;
};

void add_all(std::vector<Line>& script, char mark, const Lines& lines, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
        script.push_back({mark, lines[i]});
    }
}

// The furthest points of each round, from which the way back is read.
class Myers {
  public:
    Myers(const Lines& a, const Lines& b, size_t skip, size_t a_end, size_t b_end)
        : a_(a),
          b_(b),
          skip_(static_cast<int>(skip)),
          n_(static_cast<int>(a_end - skip)),
          m_(static_cast<int>(b_end - skip)) {}

    // False when there are too many changes.
    bool search() {
        std::vector<int> furthest(2 * static_cast<size_t>(kMaxChanges) + 3, 0);
        for (int d = 0; d <= std::min(kMaxChanges, n_ + m_); ++d) {
            for (int k = -d; k <= d; k += 2) {
                int x = steps_down(furthest, d, k) ? at(furthest, k + 1) : at(furthest, k - 1) + 1;
                while (x < n_ && x - k < m_ && same(x, x - k)) {
                    ++x;
                }
                at(furthest, k) = x;
                if (x >= n_ && x - k >= m_) {
                    rounds_.push_back(furthest);
                    return true;
                }
            }
            rounds_.push_back(furthest);
        }
        return false;
    }

    // The lines from the first that differs to the last.
    std::vector<Line> script() {
        std::vector<Line> reversed;
        int x = n_, y = m_;
        for (int d = static_cast<int>(rounds_.size()) - 1; d >= 0; --d) {
            int k = x - y;
            int from_x = 0, from_y = 0;
            if (d > 0) {
                std::vector<int>& before = rounds_[static_cast<size_t>(d) - 1];
                int from_k = steps_down(before, d, k) ? k + 1 : k - 1;
                from_x = at(before, from_k);
                from_y = from_x - from_k;
            }
            while (x > from_x && y > from_y) {
                reversed.push_back({' ', line(a_, --x)});
                --y;
            }
            if (d > 0 && x == from_x) {
                reversed.push_back({'+', line(b_, --y)});
            } else if (d > 0) {
                reversed.push_back({'-', line(a_, --x)});
            }
        }
        std::reverse(reversed.begin(), reversed.end());
        return reversed;
    }

  private:
    static int& at(std::vector<int>& furthest, int k) {
        return furthest[static_cast<size_t>(k) + kMaxChanges + 1];
    }
    static bool steps_down(std::vector<int>& furthest, int d, int k) {
        return k == -d || (k != d && at(furthest, k - 1) < at(furthest, k + 1));
    }
    std::string_view line(const Lines& lines, int i) const {
        return lines[static_cast<size_t>(skip_) + static_cast<size_t>(i)];
    }
    bool same(int x, int y) const { return line(a_, x) == line(b_, y); }

    const Lines& a_;
    const Lines& b_;
    int skip_, n_, m_;
    std::vector<std::vector<int>> rounds_;
};

std::vector<Line> all_lines(const Lines& a, const Lines& b) {
    size_t skip = 0;
    while (skip < a.size() && skip < b.size() && a[skip] == b[skip]) {
        ++skip;
    }
    size_t a_end = a.size(), b_end = b.size();
    while (a_end > skip && b_end > skip && a[a_end - 1] == b[b_end - 1]) {
        --a_end;
        --b_end;
    }
    std::vector<Line> script;
    add_all(script, ' ', a, 0, skip);
    Myers myers(a, b, skip, a_end, b_end);
    if (myers.search()) {
        std::vector<Line> middle = myers.script();
        script.insert(script.end(), middle.begin(), middle.end());
    } else {
        add_all(script, '-', a, skip, a_end);
        add_all(script, '+', b, skip, b_end);
    }
    add_all(script, ' ', a, a_end, a.size());
    return script;
}

// "3" for one line, "3,2" for two, "2,0" for none after line 2.
std::string range_text(size_t first, size_t count) {
    return count == 1 ? fmt::format("{}", first + 1)
                      : fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

std::string hunk(const std::vector<Line>& script, size_t from, size_t to, size_t a_first,
                 size_t b_first) {
    std::string body;
    size_t a_count = 0, b_count = 0;
    for (size_t i = from; i < to; ++i) {
        a_count += script[i].mark != '+' ? 1 : 0;
        b_count += script[i].mark != '-' ? 1 : 0;
        body += script[i].mark;
        body += script[i].text;
        if (script[i].text.back() != '\n') {
            body += "\n\\ No newline at end of file\n";
        }
    }
    return fmt::format("@@ -{} +{} @@\n{}", range_text(a_first, a_count),
                       range_text(b_first, b_count), body);
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after) {
    if (before == after) {
        return {};
    }
    std::vector<Line> script = all_lines(lines_of(before), lines_of(after));
    std::string out = fmt::format("--- {}\n+++ {}\n", path, path);
    size_t a_line = 0, b_line = 0;
    for (size_t i = 0; i < script.size();) {
        size_t change = i;
        while (change < script.size() && script[change].mark == ' ') {
            ++change;
        }
        if (change == script.size()) {
            break;
        }
        size_t from = std::max(i, change - std::min(change, kContext));
        // A hunk goes on as long as no gap of unchanged lines is longer than two contexts.
        size_t to = change, quiet = 0;
        while (to < script.size() && quiet <= 2 * kContext) {
            quiet = script[to].mark == ' ' ? quiet + 1 : 0;
            ++to;
        }
        to -= quiet - std::min(quiet, kContext);
        a_line += from - i;
        b_line += from - i;
        out += hunk(script, from, to, a_line, b_line);
        for (size_t j = from; j < to; ++j) {
            a_line += script[j].mark != '+' ? 1 : 0;
            b_line += script[j].mark != '-' ? 1 : 0;
        }
        i = to;
    }
    return out;
}

}  // namespace sardonyx::cli
