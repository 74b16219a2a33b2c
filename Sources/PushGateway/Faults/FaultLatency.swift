import Foundation
import PushTypes

/// The distribution of the latency that a fault adds to responses.
///
/// The text forms are `50ms`, `50ms..200ms` (evenly), `normal:100ms/20ms` (mean and standard deviation),
/// `p50:20ms/p95:80ms` (percentiles, which are interpolated linearly, with the last as the maximum).
enum FaultLatency: Hashable, Sendable {
    case fixed(Duration)
    case uniform(ClosedRange<Duration>)
    /// A normal distribution, cut off at zero and ``longest``.
    case normal(mean: Duration, deviation: Duration)
    /// Percentiles in ascending order of both percentage and duration.
    case percentiles([Percentile])

    struct Percentile: Hashable, Sendable {
        /// The percentile, 1 to 100.
        var percent: Int
        var duration: Duration
    }

    /// The maximum latency: 10 min. A rule with a longer one is rejected.
    static let longest: Duration = .seconds(600)

    func sample(using random: inout some RandomNumberGenerator) -> Duration {
        switch self {
        case .fixed(let duration): return duration
        case .uniform(let range): return Self.point(Double.random(in: 0...1, using: &random), in: range)
        case .normal(let mean, let deviation):
            // The Box–Muller transform of two uniform numbers.
            let radius = (-2 * log(Double.random(in: 0.000_001...1, using: &random))).squareRoot()
            let height = radius * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
            return min(max(.zero, mean + deviation * height), Self.longest)
        case .percentiles(let percentiles):
            let percent = Double.random(in: 0..<100, using: &random)
            var lower = Percentile(percent: 0, duration: .zero)
            for upper in percentiles {
                if percent < Double(upper.percent), lower.percent < upper.percent, lower.duration <= upper.duration {
                    let part = (percent - Double(lower.percent)) / Double(upper.percent - lower.percent)
                    return Self.point(part, in: lower.duration...upper.duration)
                }
                lower = upper
            }
            return lower.duration
        }
    }

    /// Returns the duration at the given fraction of a range.
    /// - Parameter part: The fraction: 0 for the lower bound, 1 for the upper.
    private static func point(_ part: Double, in range: ClosedRange<Duration>) -> Duration {
        range.lowerBound + (range.upperBound - range.lowerBound) * part
    }
}

extension FaultLatency: LosslessStringConvertible {
    init?(_ text: String) {
        if let normal = text.wholeMatch(of: /normal:(\w+)\/(\w+)/) {
            guard let mean = Self.duration(normal.1), let deviation = Self.duration(normal.2) else { return nil }
            self = .normal(mean: mean, deviation: deviation)
        } else if text.hasPrefix("p") {
            guard let percentiles = Self.percentiles(text) else { return nil }
            self = .percentiles(percentiles)
        } else if let range = text.wholeMatch(of: /(\w+)\.\.(\w+)/) {
            guard let low = Self.duration(range.1), let high = Self.duration(range.2), low <= high else { return nil }
            self = .uniform(low...high)
        } else {
            guard let duration = Self.duration(text[...]) else { return nil }
            self = .fixed(duration)
        }
    }

    var description: String {
        switch self {
        case .fixed(let duration): FaultDuration.text(duration)
        case .uniform(let range): "\(FaultDuration.text(range.lowerBound))..\(FaultDuration.text(range.upperBound))"
        case .normal(let mean, let deviation): "normal:\(FaultDuration.text(mean))/\(FaultDuration.text(deviation))"
        case .percentiles(let percentiles):
            percentiles.map { "p\($0.percent):\(FaultDuration.text($0.duration))" }.joined(separator: "/")
        }
    }

    private static func percentiles(_ text: String) -> [Percentile]? {
        var percentiles: [Percentile] = []
        for part in text.split(separator: "/", omittingEmptySubsequences: false) {
            guard percentiles.count < 10, let match = part.wholeMatch(of: /p(\d{1,3}):(\w+)/),
                let percent = Int(match.1), (1...100).contains(percent), let duration = Self.duration(match.2),
                percentiles.last.map({ $0.percent < percent && $0.duration <= duration }) ?? true
            else { return nil }
            percentiles.append(Percentile(percent: percent, duration: duration))
        }
        return percentiles
    }

    private static func duration(_ text: Substring) -> Duration? {
        FaultDuration.read(text).flatMap { $0 <= Self.longest ? $0 : nil }
    }
}

/// Parses and formats durations in text form: a whole number and its unit, `ms`, `s`, `m`, `h` or `d`.
enum FaultDuration {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Parses a duration. Returns `nil` for a string in another form.
    static func read(_ text: some StringProtocol) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let unit = Self.units.first(where: { $0.name == text.dropFirst(digits.count) }),
            let number = Int64(digits)
        else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : .milliseconds(milliseconds)
    }

    /// Formats a duration in the largest unit that leaves no fraction, rounded down to milliseconds.
    static func text(_ duration: Duration) -> String {
        let milliseconds = Timestamp(milliseconds: 0).advanced(by: duration).milliseconds
        let unit = Self.units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.milliseconds) }
        return "\(milliseconds / (unit?.milliseconds ?? 1))\(unit?.name ?? "ms")"
    }
}
