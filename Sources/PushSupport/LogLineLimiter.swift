package import NIOCore

/// Limits the log lines that clients can cause: a number of lines of each kind is written per minute, and further ones
/// are only counted.
package struct LogLineLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Line {
        var start: NIODeadline
        var written = 0
        var omitted = 0
    }

    /// The maximum number of kinds that are counted. Lines of further kinds are omitted.
    private static var maximumKinds: Int { 256 }

    private let perMinute: Int
    private var lines: [Key: Line] = [:]

    /// Creates a limiter that has counted no lines.
    /// - Parameter perMinute: The maximum number of lines of one kind that are written in a minute.
    package init(perMinute: Int = 5) { self.perMinute = max(1, perMinute) }

    /// Counts a line of the kind `key`, and decides whether it is written.
    ///
    /// - Returns: The number of lines omitted since the last written one, or `nil` if this one must be omitted too.
    package mutating func note(_ key: Key, now: NIODeadline) -> Int? {
        var line = self.lines[key] ?? Line(start: now)
        if now >= line.start + .minutes(1) { (line.start, line.written) = (now, 0) }
        guard line.written < self.perMinute, self.lines[key] != nil || self.lines.count < Self.maximumKinds else {
            line.omitted += 1
            if self.lines[key] != nil { self.lines[key] = line }
            return nil
        }
        defer { self.lines[key] = line }
        line.written += 1
        defer { line.omitted = 0 }
        return line.omitted
    }

    /// Returns the number of omitted lines of each kind in past minutes, and resets it. It must be called periodically.
    package mutating func takeOmitted(now: NIODeadline) -> [(key: Key, count: Int)] {
        let over = self.lines.filter { now >= $0.value.start + .minutes(1) }
        for key in over.keys { self.lines[key] = nil }
        return over.filter { $0.value.omitted > 0 }.map { ($0.key, $0.value.omitted) }
    }
}

/// Counts events to be logged as sums, so that any number of events needs only a few lines.
package struct SummaryTally<Key: Hashable & Sendable>: Sendable {
    private let maximumKeys: Int
    private var counts: [Key: Int] = [:]
    private var others = 0

    /// Creates a tally without events.
    /// - Parameter maximumKeys: The maximum number of keys with a separate sum. Further keys share one sum.
    package init(maximumKeys: Int) { self.maximumKeys = maximumKeys }

    package mutating func add(_ key: Key, count: Int = 1) {
        if self.counts[key] != nil || self.counts.count < self.maximumKeys {
            self.counts[key, default: 0] += count
        } else {
            self.others += count
        }
    }

    /// Returns the sums, largest first, and the shared sum of all further keys. All sums are reset.
    package mutating func take() -> (sums: [(key: Key, count: Int)], others: Int) {
        defer { (self.counts, self.others) = ([:], 0) }
        return (self.counts.map { ($0.key, $0.value) }.sorted { $0.count > $1.count }, self.others)
    }
}
