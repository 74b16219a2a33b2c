import Foundation

/// The SVG of a chart. Colours and line patterns are classes of the style sheet, because pages have no inline styles.
struct ChartDrawing {
    private static let (width, height) = (720.0, 200.0)
    private static let (left, right, top, bottom) = (56.0, 8.0, 8.0, 24.0)
    /// The most names of times below the axis.
    private static let labels = 7

    private let chart: Chart
    private let format: PageFormat
    private let scale: ChartScale

    init(_ chart: Chart, format: PageFormat) {
        (self.chart, self.format) = (chart, format)
        self.scale = ChartScale(upTo: chart.maximum)
    }

    /// Returns the whole element.
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

    /// Returns the middle of a time.
    private func x(_ index: Int) -> Double { Self.left + (Double(index) + 0.5) * self.slot }

    private func y(_ value: Double) -> Double {
        Self.top + (1 - value / self.scale.maximum) * (Self.height - Self.top - Self.bottom)
    }

    /// Returns a coordinate with one decimal.
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
        case .lines:
            self.chart.series.enumerated().map { self.line($1.values, "s\($0 + 1)") }.joined()
        case .stackedBars: self.chart.times.indices.map(self.bar).joined()
        }
    }

    /// Returns a line with a break at each gap. A value between two gaps is a point.
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

    /// Returns the bar of one time, whose parts show their numbers when they are pointed at.
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
