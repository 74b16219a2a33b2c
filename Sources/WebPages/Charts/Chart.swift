import Foundation

/// A chart of one or more series over time, which the server renders. ``ChartDrawing`` renders it as SVG.
/// ``model(id:format:)`` returns the variables of the partial `chart`, which also shows the numbers as a table.
package struct Chart: Sendable {
    /// The way in which values are drawn.
    package enum Kind: Sendable {
        /// Each series is a line, which breaks where a value is missing.
        case lines
        /// Each point in time has a bar, in which the values of the series are stacked.
        case stackedBars
    }

    /// A series of values under a name, one value for each point in time.
    package struct Series: Sendable {
        let name: String
        let values: [Double?]

        /// Creates a series of finite numbers of at least 0. `nil` and any other number leave a gap.
        package init(_ name: String, _ values: [Double?]) {
            self.name = name
            self.values = values.map { value in value.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil } }
        }
    }

    /// The maximum number of series, because the style sheet has colors and patterns for no more. Others are omitted.
    package static let maximumSeries = 5
    /// The maximum number of points in time. Earlier ones are omitted.
    package static let maximumTimes = 400

    let kind: Kind
    let title: String
    /// The alternative text of the chart, one sentence for people who cannot see it.
    let description: String
    let times: [String]
    let series: [Series]

    /// Creates a chart.
    /// - Parameters:
    ///   - description: The alternative text of the chart.
    ///   - times: The label of each point in time, such as `14:00`.
    package init(_ kind: Kind, title: String, description: String, times: [String], series: [Series]) {
        (self.kind, self.title, self.description) = (kind, title, description)
        self.times = Array(times.suffix(Self.maximumTimes))
        self.series = series.prefix(Self.maximumSeries).map { [times] one in
            // Every series has a value or a gap for each point in time.
            let values = (0..<times.count).map { $0 < one.values.count ? one.values[$0] : nil }
            return Series(one.name, values.suffix(Self.maximumTimes))
        }
    }

    var isEmpty: Bool { self.series.allSatisfy { $0.values.allSatisfy { $0 == nil } } }

    /// The largest value that is drawn: that of a line, or the total of a stacked bar.
    var maximum: Double {
        switch self.kind {
        case .lines: self.series.flatMap { $0.values.compactMap { $0 } }.max() ?? 0
        case .stackedBars: self.times.indices.map(self.total).max() ?? 0
        }
    }

    private func total(at index: Int) -> Double { self.series.reduce(0) { $0 + ($1.values[index] ?? 0) } }

    /// Returns the variables of the partial `chart`. Without any value, they contain no drawing.
    /// - Parameters:
    ///   - id: The id of the drawing, which must be unique in its page.
    ///   - format: The format of the numbers and times.
    package func model(id: String, format: PageFormat) -> PageModel {
        guard !self.isEmpty else { return ["title": self.title, "isEmpty": true] }
        return [
            "title": self.title, "isEmpty": false,
            "svg": ChartDrawing(self, format: format).svg(id: id),
            "legend": self.series.enumerated().map { index, one -> PageModel in
                ["class": "s\(index + 1)", "name": one.name]
            },
            "names": self.series.map(\.name),
            "rows": self.times.indices.reversed().map { index -> PageModel in
                let values = self.series.map { one in one.values[index].map(format.number) ?? "–" }
                return ["time": self.times[index], "values": values]
            },
        ]
    }
}

/// The SVG rendering of a chart. Colors and line patterns are CSS classes, because pages have no inline styles.
private struct ChartDrawing {
    private static let (width, height) = (720.0, 200.0)
    private static let (left, right, top, bottom) = (56.0, 8.0, 8.0, 24.0)
    private static let labels = 7

    private let chart: Chart
    private let format: PageFormat
    private let scale: ChartScale

    init(_ chart: Chart, format: PageFormat) {
        (self.chart, self.format) = (chart, format)
        self.scale = ChartScale(upTo: chart.maximum)
    }

    func svg(id: String) -> String {
        let id = HTMLEscaping.escape(id)
        let title = HTMLEscaping.escape(self.chart.title)
        let description = HTMLEscaping.escape(self.chart.description)
        let open = """
            <svg class="chart" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" \
            aria-labelledby="\(id)-title \(id)-text">\
            <title id="\(id)-title">\(title)</title><desc id="\(id)-text">\(description)</desc>
            """
        return open + self.axes + self.marks + "</svg>"
    }

    // MARK: Places

    private var slot: Double { (Self.width - Self.left - Self.right) / Double(max(1, self.chart.times.count)) }

    /// Returns the horizontal center of the part of the chart for the time at an index.
    private func x(_ index: Int) -> Double { Self.left + (Double(index) + 0.5) * self.slot }

    private func y(_ value: Double) -> Double {
        Self.top + (1 - value / self.scale.maximum) * (Self.height - Self.top - Self.bottom)
    }

    private static func text(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(abs(tenths % 10))"
    }

    // MARK: Parts

    private var axes: String {
        let lines = self.scale.ticks.map { tick in
            let y = Self.text(self.y(tick))
            let label = HTMLEscaping.escape(self.format.number(tick))
            return """
                <line class="axis" x1="\(Int(Self.left))" x2="\(Int(Self.width - Self.right))" y1="\(y)" y2="\(y)"/>\
                <text class="upright" x="\(Int(Self.left) - 6)" y="\(y)">\(label)</text>
                """
        }
        let every = max(1, Int((Double(self.chart.times.count) / Double(Self.labels)).rounded(.up)))
        let names = stride(from: 0, to: self.chart.times.count, by: every).map { index in
            let name = HTMLEscaping.escape(self.chart.times[index])
            return
                "<text class=\"level\" x=\"\(Self.text(self.x(index)))\" y=\"\(Int(Self.height) - 6)\">\(name)</text>"
        }
        return (lines + names).joined()
    }

    private var marks: String {
        switch self.chart.kind {
        case .lines: self.chart.series.enumerated().map { self.line($1.values, "s\($0 + 1)") }.joined()
        case .stackedBars: self.chart.times.indices.map(self.bar).joined()
        }
    }

    /// Returns the SVG of a line with a break at each gap. A value between two gaps is drawn as a point. `name` is the
    /// CSS class of the series.
    private func line(_ values: [Double?], _ name: String) -> String {
        var (path, points, isDown) = ("", "", false)
        for (index, value) in values.enumerated() {
            guard let value else {
                isDown = false
                continue
            }
            let (x, y) = (Self.text(self.x(index)), Self.text(self.y(value)))
            path += "\(isDown ? "L" : "M")\(x) \(y)"
            let isAlone = !isDown && (index + 1 >= values.count || values[index + 1] == nil)
            if isAlone { points += "<circle class=\"\(name)\" cx=\"\(x)\" cy=\"\(y)\" r=\"2.5\"/>" }
            isDown = true
        }
        return path.isEmpty ? "" : "<path class=\"line \(name)\" d=\"\(path)\"/>\(points)"
    }

    /// Returns the SVG of the stacked bar for the time at an index. Its segments show their values in tooltips.
    private func bar(at index: Int) -> String {
        let width = max(1, self.slot - min(4, self.slot * 0.2))
        var below = 0.0
        return self.chart.series.enumerated().map { number, one in
            guard let value = one.values[index], value > 0 else { return "" }
            let (from, to) = (self.y(below), self.y(below + value))
            below += value
            let hint = "\(self.chart.times[index]): \(self.format.number(value)) \(one.name)"
            return """
                <rect class="s\(number + 1)" x="\(Self.text(self.x(index) - width / 2))" y="\(Self.text(to))" \
                width="\(Self.text(width))" height="\(Self.text(max(0, from - to)))">\
                <title>\(HTMLEscaping.escape(hint))</title></rect>
                """
        }
        .joined()
    }
}

/// The scale of the vertical axis, from 0 to a round number that no value exceeds, with a few grid lines.
struct ChartScale: Equatable {
    let maximum: Double
    /// The values of the grid lines in ascending order, starting at 0. Each line has a label.
    let ticks: [Double]

    /// Creates the scale for the largest value. If that is 0, the scale ends at 1.
    init(upTo largest: Double) {
        guard largest.isFinite, largest > 0 else {
            (self.maximum, self.ticks) = (1, [0, 1])
            return
        }
        let step = Self.step(largest / 4)
        let count = max(1, Int((largest / step).rounded(.up)))
        self.ticks = (0...count).map { Double($0) * step }
        self.maximum = Double(count) * step
    }

    /// Returns the smallest number that is at least `least` and equals 1, 2, 2.5 or 5 times a power of ten.
    private static func step(_ least: Double) -> Double {
        let power = pow(10, floor(log10(least)))
        guard power > 0, power.isFinite else { return least }
        return [1, 2, 2.5, 5, 10].lazy.map { $0 * power }.first { $0 >= least } ?? least
    }
}
