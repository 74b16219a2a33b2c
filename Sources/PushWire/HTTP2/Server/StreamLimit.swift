import NIOCore

/// The limit of concurrent streams that a server announces, and the one that holds (RFC 9113 section 5.1.2).
///
/// A limit holds once the client has acknowledged it. Until then the largest one that the client may still assume does.
struct StreamLimit {
    /// A limit that the client has not acknowledged.
    private struct Announced {
        var streams: Int
        var deadline: NIODeadline
    }

    /// The limits that the client has not acknowledged, the oldest first.
    private var announced: [Announced]
    /// The limit to announce after the next acknowledgement.
    private var next: Int?
    private var acknowledged = HTTP2ServerLimits.streamsBeforeAcknowledgement
    /// The limit that holds.
    private(set) var current: Int

    /// - Parameter streams: The limit in the first SETTINGS.
    init(_ streams: Int, deadline: NIODeadline) {
        let streams = Self.clamp(streams)
        self.announced = [Announced(streams: streams, deadline: deadline)]
        self.current = max(streams, self.acknowledged)
    }

    static func clamp(_ streams: Int) -> Int {
        min(max(0, streams), HTTP2ServerLimits.maximumStreams)
    }

    /// The deadline of the oldest acknowledgement.
    var deadline: NIODeadline? { self.announced.first?.deadline }

    /// Changes the limit.
    /// - Returns: The limit to announce now; `nil` if it is not new, or has to wait for an acknowledgement.
    mutating func announce(_ streams: Int, deadline: NIODeadline) -> Int? {
        let streams = Self.clamp(streams)
        if self.announced.count >= HTTP2ServerLimits.maximumUnacknowledged {
            self.next = streams
            return nil
        }
        guard streams != self.announced.last?.streams ?? self.acknowledged else { return nil }
        self.announced.append(Announced(streams: streams, deadline: deadline))
        self.current = max(self.current, streams)
        return streams
    }

    /// Applies the client's acknowledgement of the oldest limit.
    /// - Returns: The limit that waited, to be announced now.
    mutating func acknowledge() -> Int? {
        guard !self.announced.isEmpty else { return nil }
        self.acknowledged = self.announced.removeFirst().streams
        self.current = self.announced.reduce(self.acknowledged) { max($0, $1.streams) }
        return self.next.take()
    }
}
