package import NIOCore

/// Limits the log lines that clients can cause: so many a minute of each kind are written, the others are counted.
package struct LogRateLimiter<Key: Hashable & Sendable>: Sendable {
    /// The lines of one kind in the present minute.
    private struct Line {
        var start: NIODeadline
        var written = 0
        var omitted = 0
    }

    /// The kinds that are kept apart; lines of further kinds are omitted.
    private static var maximumKinds: Int { 256 }

    private let perMinute: Int
    private var lines: [Key: Line] = [:]

    /// - Parameter perMinute: The lines of one kind that are written in a minute.
    package init(perMinute: Int = 5) {
        self.perMinute = max(1, perMinute)
    }

    /// Counts a line of this kind.
    ///
    /// - Returns: The lines that were omitted since the last one that was written; `nil` if this one is to be omitted
    ///   too.
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

    /// Returns the lines that were omitted in minutes that are over, and forgets them. Call it from time to time.
    package mutating func takeOmitted(now: NIODeadline) -> [(key: Key, count: Int)] {
        let over = self.lines.filter { now >= $0.value.start + .minutes(1) }
        for key in over.keys { self.lines[key] = nil }
        return over.filter { $0.value.omitted > 0 }.map { ($0.key, $0.value.omitted) }
    }
}
