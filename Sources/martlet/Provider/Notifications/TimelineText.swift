import Foundation
import PushSupport

/// Timelines for people.
enum TimelineText {
    /// The names of sources.
    private static let sources = ["pushService": "push service"]

    /// Returns the text of a response with timelines.
    static func of(_ response: JSONValue) -> String {
        let timelines = response["timelines"].elements
        var parts = timelines.map { Self.lines(of: $0).joined(separator: "\n") }
        if parts.isEmpty { parts = ["(no deliveries: nothing was sent, or what was sent is deleted for its age)"] }
        if let next = response["next"].stringValue { parts.append("more: --cursor \(next.printable)") }
        return parts.joined(separator: "\n\n")
    }

    /// Returns the lines of one timeline: a heading, the first step with its time, and each later one with the time since
    /// the step before.
    static func lines(of timeline: JSONValue) -> [String] {
        var lines = [Self.heading(timeline)]
        let steps = timeline["steps"].elements
        let sources = steps.map { Self.sources[$0["source"].plainText] ?? $0["source"].plainText }
        let width = sources.map(\.count).max() ?? 0
        let first = steps.first.map { $0["atMs"].timeText } ?? ""
        for (index, step) in steps.enumerated() {
            let time = index == 0 ? first : Self.padded(Self.since(step["sinceMs"].integerValue), to: first.count)
            let source = sources[index].padding(toLength: width, withPad: " ", startingAt: 0)
            lines.append("\(time)  \(source)  \(step["text"].plainText.printable)")
        }
        return lines + timeline["notes"].elements.map { "note: \($0.plainText.printable)" }
    }

    private static func heading(_ timeline: JSONValue) -> String {
        var parts = [
            "\(timeline["kind"].plainText) \((timeline["apnsId"].stringValue ?? timeline["notification"].plainText))"
        ]
        if let token = timeline["token"].stringValue { parts.append("token \(token)") }
        if let app = timeline["app"].stringValue {
            parts.append("app \(app)" + (timeline["environment"].stringValue.map { ", \($0)" } ?? ""))
        }
        if timeline["apnsId"] != .null { parts.append("notification \(timeline["notification"].plainText)") }
        let reason = timeline["reason"].stringValue.map { ": \($0)" } ?? ""
        parts.append("\(timeline["state"].plainText)\(reason)")
        return parts.joined(separator: "; ").printable
    }

    /// Returns the time since the step before, such as `+0.012 s`.
    private static func since(_ milliseconds: Int64?) -> String {
        guard let milliseconds, milliseconds >= 0 else { return "" }
        let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        guard seconds < 3600 else {
            let (hours, left) = seconds.quotientAndRemainder(dividingBy: 3600)
            return hours < 48 ? "+\(hours) h \(left / 60) min" : "+\(hours / 24) d \(hours % 24) h"
        }
        return "+\(seconds).\(String(1000 + rest).dropFirst()) s"
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
