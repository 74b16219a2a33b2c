import Foundation
import PushSupport
import PushTypes
import Testing

@testable import WebPages

@Suite struct ChartTests {
    private static func format() throws -> PageFormat {
        let texts = try PageLanguages([]).texts("en", acceptLanguage: nil)
        return PageFormat(texts: texts, now: Timestamp(milliseconds: 0))
    }

    private static func chart(_ kind: Chart.Kind, _ series: [Chart.Series], times: [String] = ["a", "b", "c"]) -> Chart
    {
        Chart(kind, title: "Sends", description: "Pushes in each hour", times: times, series: series)
    }

    @Test(arguments: [Chart.Kind.lines, .stackedBars])
    func theDrawingHasATitleAndADescription(_ kind: Chart.Kind) throws {
        let model = Self.chart(kind, [.init("accepted", [1, 2, 3])]).model(id: "sends", format: try Self.format())
        let svg = try #require(model["svg"] as? String)
        #expect(svg.contains("role=\"img\" aria-labelledby=\"sends-title sends-text\""))
        #expect(
            svg.contains("<title id=\"sends-title\">Sends</title><desc id=\"sends-text\">Pushes in each hour</desc>")
        )
        #expect(!svg.contains("style="))
        #expect(try XMLDocument.isWellFormed(svg))
    }

    @Test(arguments: [Chart.Kind.lines, .stackedBars])
    func whatIsNoNumberIsAGap(_ kind: Chart.Kind) throws {
        let values: [Double?] = [.nan, .infinity, -1, nil, 5, 1e300]
        let times = values.indices.map { "\($0)" }
        let model = Self.chart(kind, [.init("x", values)], times: times).model(id: "c", format: try Self.format())
        let svg = try #require(model["svg"] as? String)
        for word in ["nan", "inf", "NaN"] { #expect(!svg.contains(word)) }
        let rows = try #require(model["rows"] as? [PageModel])
        #expect(rows.count == 6)
        #expect(rows.last?["values"] as? [String] == ["–"])
    }

    @Test func nothingIsNoDrawing() throws {
        for series in [[], [Chart.Series("x", [])], [Chart.Series("x", [nil, nil])]] {
            let model = Self.chart(.lines, series).model(id: "c", format: try Self.format())
            #expect(model["isEmpty"] as? Bool == true)
            #expect(model["svg"] == nil)
        }
        #expect(Self.chart(.stackedBars, [], times: []).maximum == 0)
    }

    @Test func onlyZeroesAreDrawn() throws {
        let model = Self.chart(.stackedBars, [.init("x", [0, 0, 0])]).model(id: "c", format: try Self.format())
        #expect((model["svg"] as? String)?.contains("<line") == true)
    }

    @Test func labelsAreEscaped() throws {
        let name = "\u{600}<script>\"&"
        let chart = Chart(
            .stackedBars,
            title: name,
            description: name,
            times: [name],
            series: [.init(name, [1])]
        )
        let svg = try #require(chart.model(id: name, format: try Self.format())["svg"] as? String)
        #expect(!svg.utf8Contains("<script"))
        #expect(try XMLDocument.isWellFormed(svg))
    }

    @Test func aSeriesThatIsTooShortEndsWithGaps() throws {
        let model = Self.chart(.lines, [.init("x", [1]), .init("y", [1, 2, 3, 4])])
            .model(id: "c", format: try Self.format())
        let rows = try #require(model["rows"] as? [PageModel])
        #expect(rows.map { $0["values"] as? [String] } == [["–", "3"], ["–", "2"], ["1", "1"]])
    }

    @Test(arguments: [(0.0, 1.0), (1, 1), (3, 3), (7, 8), (99, 100), (1234, 1500), (0.3, 0.3), (.nan, 1)])
    func theScaleEndsAtARoundNumber(_ largest: Double, _ end: Double) {
        let scale = ChartScale(upTo: largest)
        #expect(abs(scale.maximum - end) < 1e-9)
        #expect((2...6).contains(scale.ticks.count))
    }
}

extension String {
    /// Compares bytes: to Swift a `<` after some scalars is part of another character.
    fileprivate func utf8Contains(_ text: String) -> Bool {
        Array(self.utf8).firstRange(of: Array(text.utf8)) != nil
    }
}

/// A check that a text is XML: every element that is opened is closed.
private enum XMLDocument {
    static func isWellFormed(_ text: String) throws -> Bool {
        var open: [Substring] = []
        for match in text.matches(of: #/<(/?)([a-z]+)[^<>]*?(/?)>/#) {
            if !match.3.isEmpty { continue }
            if match.1.isEmpty { open.append(match.2) } else if open.popLast() != match.2 { return false }
        }
        return open.isEmpty
    }
}
