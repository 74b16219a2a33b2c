package import NIOCore

/// Thins out the log lines that a client can cause: of each kind so many a minute, the rest is counted.
package struct LogRateLimiter<Key: Hashable & Sendable>: Sendable {
    private struct Line {
        var start: NIODeadline
        var written = 0
        var omitted = 0
    }

    /// Kinds at one time; more share the fate of those that are full.
    private static var maximumKinds: Int { 256 }

    private let perMinute: Int
    private var lines: [Key: Line] = [:]

    /// - Parameter perMinute: lines of one kind that are written in a minute.
    package init(perMinute: Int = 5) {
        self.perMinute = max(1, perMinute)
    }

    /// Asks whether to write a line of this kind.
    /// - Returns: how many were left out since the last one; `nil` if this one is left out too.
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

    /// Called from time to time: what was left out in minutes that are over, to be written in one line each.
    package mutating func takeOmitted(now: NIODeadline) -> [(key: Key, count: Int)] {
        let over = self.lines.filter { now >= $0.value.start + .minutes(1) }
        for key in over.keys { self.lines[key] = nil }
        return over.filter { $0.value.omitted > 0 }.map { ($0.key, $0.value.omitted) }
    }
}
