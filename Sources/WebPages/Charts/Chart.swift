/// A chart of one or more series over time, which the server draws.
///
/// It is a value: ``ChartDrawing`` makes it SVG, and ``model(id:format:)`` the variables of the partial `chart`, which has the
/// same numbers as a table.
package struct Chart: Sendable {
    /// The way in which values are drawn.
    package enum Kind: Sendable {
        /// Each series is a line, which breaks where a value is missing.
        case lines
        /// The series stand on each other, a bar for each time.
        case stackedBars
    }

    /// The values of one series, one for each time.
    package struct Series: Sendable {
        let name: String
        let values: [Double?]

        /// - Parameter values: Numbers from 0 on. `nil`, and what is no such number, is a gap.
        package init(_ name: String, _ values: [Double?]) {
            self.name = name
            self.values = values.map { value in value.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil } }
        }
    }

    /// The most series, which the style sheet has colours and patterns for.
    package static let maximumSeries = 5
    /// The most times; those before them are left out.
    package static let maximumTimes = 400

    let kind: Kind
    let title: String
    /// The sentence that says what the chart shows, for those who do not see it.
    let description: String
    let times: [String]
    let series: [Series]

    /// - Parameter times: The name of each time, such as `14:00`.
    package init(_ kind: Kind, title: String, description: String, times: [String], series: [Series]) {
        (self.kind, self.title, self.description) = (kind, title, description)
        self.times = Array(times.suffix(Self.maximumTimes))
        self.series = series.prefix(Self.maximumSeries).map { [times] one in
            // Every series has a value or a gap for each time.
            let values = (0..<times.count).map { $0 < one.values.count ? one.values[$0] : nil }
            return Series(one.name, values.suffix(Self.maximumTimes))
        }
    }

    /// Indicates whether there is no value at all.
    var isEmpty: Bool { self.series.allSatisfy { $0.values.allSatisfy { $0 == nil } } }

    /// The largest value that is drawn: of a line, or of a whole bar.
    var maximum: Double {
        switch self.kind {
        case .lines: self.series.flatMap { $0.values.compactMap { $0 } }.max() ?? 0
        case .stackedBars: self.times.indices.map(self.total).max() ?? 0
        }
    }

    /// Returns the height of a whole bar.
    private func total(at index: Int) -> Double { self.series.reduce(0) { $0 + ($1.values[index] ?? 0) } }

    /// Returns the variables of the partial `chart`.
    ///
    /// - Parameter id: The id of the drawing in its page.
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
