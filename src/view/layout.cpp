// A layered layout, from top to bottom (Sugiyama, Tagawa, Toda 1981), in time linear in what is
// drawn but for sorting:
//
//   rows    a box stands one row below the lowest box that it reads from; what has as many results
//           as inputs moves down to its first reader
//   ways    a line that passes rows gets a bend in each of them; lines of one value share theirs
//   order   within rows by the mean place of the neighbours above, then below, a few times
//   places  each row as near to the places of its neighbours as its order allows: the least squares
//           solution, which pools neighbours that push each other (isotonic regression)
#include "view/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "view/row_places.h"
#include "view/sizes.h"

namespace sardonyx::view {
namespace {

constexpr float kRowGap = 46;
constexpr float kColumnGap = 22;
constexpr float kBendRoom = 7;        // of a line to what is beside it
constexpr float kBendWeight = 6;      // lines rather than boxes stay straight
constexpr uint32_t kMaxPassed = 200;  // rows that one line passes with bends
constexpr size_t kMaxOpen = 2000;     // boxes in a picture with subgraphs laid open
constexpr int kOrderSweeps = 8;
constexpr int kPlaceSweeps = 10;

// A box, or a bend of a line.
struct Vertex {
    uint32_t row = 0;
    float left = 0, right = 0;  // from its middle
    float x = 0;                // of its middle
    float place = 0;            // in its row, while the order is sought
    float weight = 1;
};

// Between vertices of neighbouring rows, and where it ends at each.
struct Link {
    uint32_t from = 0, to = 0;
    float out = 0, in = 0;
};

class SheetLayout {
  public:
    explicit SheetLayout(Sheet& sheet) : sheet_(sheet) {}

    void run() {
        for (Box& box : sheet_.boxes) {
            place_pins(box);
        }
        assign_rows();
        make_vertices();
        make_ways();
        index_links();
        for (int i = 0; i < kOrderSweeps; ++i) {
            sweep(i % 2 == 0, [this](uint32_t row, bool down) { order_row(row, down); });
        }
        pack_rows();
        for (int i = 0; i < kPlaceSweeps; ++i) {
            looks_both_ways_ = i >= kPlaceSweeps - 4;
            sweep(i % 2 == 0, [this](uint32_t row, bool down) { place_row(row, down); });
        }
        write();
    }

  private:
    // --- Rows ------------------------------------------------------------------------------------

    // Boxes are in the order of execution, inputs and what comes from outside aside, which read
    // nothing. Where a file is not in order, the line goes backwards.
    void assign_rows() {
        size_t count = sheet_.boxes.size();
        rows_of_.assign(count, 0);
        std::vector<const Line*> by_target(sheet_.lines.size());
        std::transform(sheet_.lines.begin(), sheet_.lines.end(), by_target.begin(),
                       [](const Line& line) { return &line; });
        std::stable_sort(by_target.begin(), by_target.end(),
                         [](const Line* a, const Line* b) { return a->to < b->to; });
        std::vector<size_t> first(count + 1);  // of the lines to each box
        for (const Line* line : by_target) {
            ++first[line->to + 1];
            rows_of_[line->to] = std::max(rows_of_[line->to], rows_of_[line->from] + 1);
        }
        std::partial_sum(first.begin(), first.end(), first.begin());
        move_down(by_target, first);
    }

    // Boxes that have as many results as inputs go down to their first reader, from the last one
    // up: no line gets longer in all, and what prepares a weight stands where the weight is read.
    void move_down(const std::vector<const Line*>& by_target, const std::vector<size_t>& first) {
        std::vector<uint32_t> order(rows_of_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return rows_of_[a] > rows_of_[b]; });
        std::vector<uint32_t> reader(rows_of_.size(), UINT32_MAX);
        for (uint32_t box : order) {
            const std::vector<Pin>& outputs = sheet_.boxes[box].outputs;
            auto results = std::count_if(outputs.begin(), outputs.end(),
                                         [](const Pin& pin) { return pin.is_linked; });
            bool is_light = static_cast<size_t>(results) >= first[box + 1] - first[box];
            if (is_light && reader[box] != UINT32_MAX) {
                rows_of_[box] = reader[box] - 1;
            }
            for (size_t i = first[box]; i < first[box + 1]; ++i) {
                uint32_t from = by_target[i]->from;
                if (rows_of_[from] < rows_of_[box]) {
                    reader[from] = std::min(reader[from], rows_of_[box]);
                }
            }
        }
    }

    void make_vertices() {
        uint32_t row_count = 0;
        for (size_t i = 0; i < sheet_.boxes.size(); ++i) {
            const Box& box = sheet_.boxes[i];
            row_count = std::max(row_count, rows_of_[i] + 1);
            Vertex& vertex = vertices_.emplace_back();
            vertex.row = rows_of_[i];
            vertex.left = box.width / 2;
            vertex.right = std::max(box.width / 2, label_end(box));
        }
        rows_.resize(row_count);
        // Ends come last in the file, and may stand anywhere in their row.
        for (uint32_t i = 0; i < vertices_.size(); ++i) {
            rows_[vertices_[i].row].push_back(i);
        }
    }

    // --- Ways ------------------------------------------------------------------------------------

    void make_ways() {
        std::vector<uint32_t> order(sheet_.lines.size());
        std::iota(order.begin(), order.end(), 0U);
        auto key = [&](uint32_t i) {
            const Line& line = sheet_.lines[i];
            return std::make_pair(line.from, line.from_pin);
        };
        std::stable_sort(order.begin(), order.end(),
                         [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
        ways_.resize(sheet_.lines.size());
        size_t most = 8 * sheet_.boxes.size() + 20'000;  // bends in all
        std::vector<uint32_t> bends;
        for (size_t i = 0; i < order.size(); ++i) {
            if (i == 0 || key(order[i - 1]) != key(order[i])) {
                bends.clear();
            }
            make_way(order[i], bends, most);
        }
    }

    // `bends`: those that the lines of the same value have already, one in each row.
    void make_way(uint32_t index, std::vector<uint32_t>& bends, size_t most) {
        Line& line = sheet_.lines[index];
        uint32_t from = rows_of_[line.from], to = rows_of_[line.to];
        size_t passed = to > from ? to - from - 1 : 0;
        line.is_far = to <= from || passed > kMaxPassed ||
                      vertices_.size() - sheet_.boxes.size() + passed > most;
        if (line.is_far) {
            return;
        }
        float out = sheet_.boxes[line.from].outputs[line.from_pin].x;
        while (bends.size() < passed) {
            auto bend = static_cast<uint32_t>(vertices_.size());
            Vertex& vertex = vertices_.emplace_back();
            vertex.row = from + 1 + static_cast<uint32_t>(bends.size());
            vertex.left = vertex.right = kBendRoom;
            vertex.weight = kBendWeight;
            rows_[vertex.row].push_back(bend);
            bends.empty() ? links_.push_back({line.from, bend, out, 0})
                          : links_.push_back({bends.back(), bend, 0, 0});
            bends.push_back(bend);
        }
        float in = sheet_.boxes[line.to].inputs[line.to_pin].x;
        passed == 0 ? links_.push_back({line.from, line.to, out, in})
                    : links_.push_back({bends[passed - 1], line.to, 0, in});
        ways_[index].assign(bends.begin(), bends.begin() + static_cast<ptrdiff_t>(passed));
    }

    // The links of each vertex, above and below.
    void index_links() {
        above_.assign(vertices_.size(), {});
        below_.assign(vertices_.size(), {});
        for (const Link& link : links_) {
            above_[link.to].push_back({link.from, link.to, link.out, link.in});
            below_[link.from].push_back({link.to, link.from, link.in, link.out});
        }
    }

    // --- Order and places ------------------------------------------------------------------------

    template <typename Do>
    void sweep(bool down, Do row) {
        for (size_t i = 0; i < rows_.size(); ++i) {
            row(static_cast<uint32_t>(down ? i : rows_.size() - 1 - i), down);
        }
    }

    void number(const std::vector<uint32_t>& row) {
        for (size_t i = 0; i < row.size(); ++i) {
            vertices_[row[i]].place = static_cast<float>(i);
        }
    }

    void order_row(uint32_t index, bool down) {
        std::vector<uint32_t>& row = rows_[index];
        number(row);
        for (uint32_t one : row) {
            const std::vector<Link>& links = down ? above_[one] : below_[one];
            float sum = 0;
            for (const Link& link : links) {
                const Vertex& other = vertices_[link.from];
                sum += other.place + link.out / (other.left + other.right + 1);
            }
            // What has no neighbours there stays about where it is.
            key_.resize(vertices_.size());
            key_[one] =
                links.empty() ? vertices_[one].place : sum / static_cast<float>(links.size());
        }
        std::stable_sort(row.begin(), row.end(),
                         [&](uint32_t a, uint32_t b) { return key_[a] < key_[b]; });
        number(row);
    }

    void pack_rows() {
        for (const std::vector<uint32_t>& row : rows_) {
            float x = 0;
            for (uint32_t one : row) {
                Vertex& vertex = vertices_[one];
                vertex.x = x + vertex.left;
                x += vertex.left + vertex.right + kColumnGap;
            }
            for (uint32_t one : row) {
                vertices_[one].x -= x / 2;
            }
        }
    }

    void place_row(uint32_t index, bool down) {
        const std::vector<uint32_t>& row = rows_[index];
        wishes_.clear();
        float start = 0;  // of the packed row
        for (size_t i = 0; i < row.size(); ++i) {
            const Vertex& vertex = vertices_[row[i]];
            start += i == 0 ? 0 : vertices_[row[i - 1]].right + kColumnGap + vertex.left;
            float sum = 0, count = 0;
            auto look = [&](const std::vector<Link>& links) {
                for (const Link& link : links) {
                    sum += vertices_[link.from].x + link.out - link.in;
                    count += 1;
                }
            };
            look(down ? above_[row[i]] : below_[row[i]]);
            if (looks_both_ways_) {
                look(down ? below_[row[i]] : above_[row[i]]);
            }
            bool is_free = count == 0;
            float x = is_free ? vertex.x : sum / count;
            wishes_.push_back({x - start, is_free ? 0.1F * vertex.weight : vertex.weight});
            starts_.resize(std::max(starts_.size(), row.size()));
            starts_[i] = start;
        }
        fit_rising(wishes_);
        for (size_t i = 0; i < row.size(); ++i) {
            vertices_[row[i]].x = wishes_[i].place + starts_[i];
        }
    }

    // --- The result ------------------------------------------------------------------------------

    void write() {
        float least = 0, most = 0;
        for (const Vertex& vertex : vertices_) {
            least = std::min(least, vertex.x - vertex.left);
            most = std::max(most, vertex.x + vertex.right);
        }
        float shift = kMargin - least;
        sheet_.width = most - least + 2 * kMargin;
        std::vector<float> heights(rows_.size());
        for (size_t i = 0; i < sheet_.boxes.size(); ++i) {
            heights[rows_of_[i]] = std::max(heights[rows_of_[i]], sheet_.boxes[i].height);
        }
        float y = kMargin;
        sheet_.rows.clear();
        for (float height : heights) {
            sheet_.rows.emplace_back(y, y + height);
            y += height + kRowGap;
        }
        sheet_.height = rows_.empty() ? 2 * kMargin : y - kRowGap + kMargin + kLabelRoom;
        for (size_t i = 0; i < sheet_.boxes.size(); ++i) {
            Box& box = sheet_.boxes[i];
            box.row = rows_of_[i];
            box.x = vertices_[i].x + shift - box.width / 2;
            box.y = sheet_.rows[box.row].first;
        }
        for (size_t i = 0; i < sheet_.lines.size(); ++i) {
            write_line(sheet_.lines[i], ways_[i], shift);
        }
    }

    void write_line(Line& line, const std::vector<uint32_t>& way, float shift) {
        const Box& from = sheet_.boxes[line.from];
        const Box& to = sheet_.boxes[line.to];
        line.points.clear();
        line.points.push_back(
            {from.x + from.width / 2 + from.outputs[line.from_pin].x, from.y + from.height});
        for (uint32_t bend : way) {
            const auto& [top, bottom] = sheet_.rows[vertices_[bend].row];
            float x = vertices_[bend].x + shift;
            line.points.push_back({x, top});
            line.points.push_back({x, bottom});
        }
        line.points.push_back({to.x + to.width / 2 + to.inputs[line.to_pin].x, to.y});
    }

    Sheet& sheet_;
    std::vector<uint32_t> rows_of_;            // of boxes
    std::vector<Vertex> vertices_;             // the boxes, then bends
    std::vector<std::vector<uint32_t>> rows_;  // vertices from left to right
    std::vector<std::vector<uint32_t>> ways_;  // the bends of each line
    std::vector<Link> links_;
    std::vector<std::vector<Link>> above_, below_;  // `from` is the neighbour
    std::vector<float> key_, starts_;
    std::vector<Wish> wishes_;
    bool looks_both_ways_ = false;  // in the last sweeps, so that lines that pass rows are straight
};

// The subgraphs of a box beside each other, below its lines; they are laid out already.
void make_room(const Scene& scene, Box& box) {
    float x = kInnerRoom, height = 0;
    for (Inner& inner : box.inner) {
        const Sheet& sheet = scene.sheets[inner.sheet];
        inner.x = x;
        inner.y = box.height + kInnerTitle;
        x += sheet.width + kInnerRoom;
        height = std::max(height, sheet.height);
    }
    if (!box.inner.empty()) {
        box.width = std::max(box.width, x);
        box.height += kInnerTitle + height + kInnerRoom;
    }
}

}  // namespace

void lay_out(Scene& scene, Subgraphs subgraphs) {
    bool opens = subgraphs == Subgraphs::kInside && scene.box_count <= kMaxOpen;
    // Sheets come before those inside of them.
    for (size_t i = scene.sheets.size(); i-- > 0;) {
        for (Box& box : scene.sheets[i].boxes) {
            set_size(box);
            if (opens) {
                make_room(scene, box);
            }
        }
        SheetLayout(scene.sheets[i]).run();
    }
}

}  // namespace sardonyx::view
