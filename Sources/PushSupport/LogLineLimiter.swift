package import NIOCore

/// Limits the log lines that clients can cause: a number of lines of each kind is written per minute, and further ones are
/// only counted.
package struct LogLineLimiter<Key: Hashable & Sendable>: Sendable {
    /// The lines of one kind in the present minute.
    private struct Line {
        var start: NIODeadline
        var written = 0
        var omitted = 0
    }

    /// The maximum number of kinds. Lines of further kinds are omitted.
    private static var maximumKinds: Int { 256 }

    private let perMinute: Int
    private var lines: [Key: Line] = [:]

    /// - Parameter perMinute: The maximum number of lines of one kind that are written in a minute.
    package init(perMinute: Int = 5) { self.perMinute = max(1, perMinute) }

    /// Counts a line of this kind.
    ///
    /// - Returns: The number of lines that were omitted since the last one that was written; `nil` if this one is to be
    ///   omitted too.
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

    /// Returns the numbers of lines that were omitted in minutes that are over, and forgets them. It is to be called
    /// periodically.
    package mutating func takeOmitted(now: NIODeadline) -> [(key: Key, count: Int)] {
        let over = self.lines.filter { now >= $0.value.start + .minutes(1) }
        for key in over.keys { self.lines[key] = nil }
        return over.filter { $0.value.omitted > 0 }.map { ($0.key, $0.value.omitted) }
    }
}

/// Counts events that are logged as sums, so that any number of them takes a few lines.
package struct SummaryTally<Key: Hashable & Sendable>: Sendable {
    private let maximumKeys: Int
    private var counts: [Key: Int] = [:]
    private var others = 0

    /// - Parameter maximumKeys: The maximum number of keys with a sum of their own. Further keys share one.
    package init(maximumKeys: Int) { self.maximumKeys = maximumKeys }

    package mutating func add(_ key: Key, count: Int = 1) {
        if self.counts[key] != nil || self.counts.count < self.maximumKeys {
            self.counts[key, default: 0] += count
        } else {
            self.others += count
        }
    }

    /// Returns the sums, the largest first, and the sum of all further keys, and resets them.
    package mutating func take() -> (sums: [(key: Key, count: Int)], others: Int) {
        defer { (self.counts, self.others) = ([:], 0) }
        return (self.counts.map { ($0.key, $0.value) }.sorted { $0.count > $1.count }, self.others)
    }
}
