package import NIOCore
package import PushTypes

/// A state machine without I/O for the server's side of one feedback connection (APNs reference 6).
///
/// All tuples for the certificate's topics are written, page by page. Each write contains only complete tuples and
/// begins after the previous write has completed, because some clients expect complete tuples in each TLS record. After
/// a pause, the write side is closed. The tuples are cleared only after the client has properly closed the connection.
///
/// The method for an event returns the actions to perform, in order, or an empty array if there are none. The state
/// machine has no clock: the owner calls ``tick(now:)`` at ``nextDeadline``.
package struct FeedbackServerStateMachine: ~Copyable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// The maximum number of tuples in one page, which is read from the store at a time. Default 500.
        package var page = 500
        /// The maximum number of bytes in one write, which becomes one TLS record. It is below the maximum of TLS,
        /// because many old clients read 4 KiB at a time. A tuple that is longer is written alone. Default 4 KiB.
        package var record = 4096
        /// The maximum number of tuples on one connection. The others are sent on the next connection. Default 50,000.
        package var tuples = 50_000
        /// The maximum time for reading and writing a page, and for waiting for the connection's turn. After that, the
        /// connection is aborted. Default 30 s.
        package var progress: Duration = .seconds(30)
        /// The pause between the last tuple and the closing of the write side. Without it, clients with Go's TLS
        /// library may receive the tuple together with the end, and some of them then drop the tuple. There is no pause
        /// after an empty list. Default 250 ms.
        package var pause: Duration = .milliseconds(250)
        /// The maximum time from the end of the list until the client closes the connection. Default 5 s.
        package var closing: Duration = .seconds(5)
        /// The maximum number of bytes from the client, which are ignored. More bytes end the connection. Default 64
        /// KiB.
        package var ignored = 64 * 1024

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        /// Read the page of the topic's tuples that follows this token (`nil` for the first page), and then call
        /// ``loaded(_:now:)`` or ``failed()``.
        case load(Topic, after: DeviceToken?)
        /// Write the bytes, and then call ``written(now:)`` or ``failed()``.
        case write(ByteBuffer)
        /// Close the write side after this pause, and then call ``outputClosed(now:)``.
        case finish(after: Duration)
        /// Close without a TLS closure alert, which would mark the list as complete.
        case abort
        /// Clear the first `count` of the loaded tuples, which the client has read.
        case clear(count: Int)
    }

    private enum State: Hashable, Sendable {
        /// The state in which the connection waits for its handshake, and then until earlier connections of the same
        /// provider are closed.
        case waiting
        case loading, writing, finishing, awaitingClose, closed
    }

    private let limits: Limits
    private var state = State.waiting
    private var deadline: Timestamp
    /// The topics whose lists are not complete yet. The first one is in progress.
    private var topics: ArraySlice<Topic> = []
    private var tupleCount = 0
    private var lastToken: DeviceToken?
    private var records: ArraySlice<ByteBuffer> = []
    private var isLastPage = false
    private var isShuttingDown = false
    private var ignoredBytes = 0

    package init(limits: Limits = Limits(), now: Timestamp) {
        self.limits = limits
        self.deadline = now.advanced(by: limits.progress)
    }

    /// The time at which ``tick(now:)`` must be called, or `nil` once the connection is closed.
    package var nextDeadline: Timestamp? { self.state == .closed ? nil : self.deadline }

    /// Starts to send the feedback lists of `topics`, once it is the connection's turn.
    package mutating func start(_ topics: [Topic], now: Timestamp) -> [Action] {
        guard self.state == .waiting else { return [] }
        self.topics = topics[...]
        return self.loadNext(after: nil, now: now)
    }

    package mutating func loaded(_ page: [FeedbackTuple], now: Timestamp) -> [Action] {
        guard self.state == .loading else { return [] }
        self.isLastPage = page.count < self.limits.page
        let tuples = page.prefix(max(1, self.limits.tuples - self.tupleCount))
        guard let last = tuples.last else { return self.pageWritten(now: now) }
        self.records = self.records(of: tuples)[...]
        self.tupleCount += tuples.count
        self.lastToken = last.token
        self.state = .writing
        return self.records.popFirst().map { [.write($0)] } ?? []
    }

    package mutating func written(now: Timestamp) -> [Action] {
        guard self.state == .writing else { return [] }
        if let record = self.records.popFirst() { return [.write(record)] }
        return self.pageWritten(now: now)
    }

    package mutating func outputClosed(now: Timestamp) {
        guard self.state == .finishing else { return }
        self.state = .awaitingClose
        self.deadline = now.advanced(by: self.limits.closing)
    }

    /// Ignores bytes from the client, up to a limit, because they have no meaning in this protocol.
    package mutating func receive(byteCount: Int) -> [Action] {
        self.ignoredBytes += byteCount
        return self.ignoredBytes > self.limits.ignored ? self.failed() : []
    }

    /// Begins the shutdown. The page in progress becomes the last one.
    package mutating func shutDown() -> [Action] {
        self.isShuttingDown = true
        return self.state == .waiting ? self.failed() : []
    }

    /// Aborts the list, because it cannot be read or written, or because the client may not read it.
    package mutating func failed() -> [Action] {
        guard self.state != .closed else { return [] }
        self.state = .closed
        return [.abort]
    }

    /// Handles the end of the connection. If the client has read the tuples, returns the action that clears them.
    /// Otherwise, they are sent again on the next connection.
    /// - Parameter isClean: Pass `true` if the client closed the connection properly, and not by a reset.
    package mutating func connectionClosed(isClean: Bool) -> [Action] {
        let wasRead = self.state == .awaitingClose && isClean && self.tupleCount > 0
        self.state = .closed
        return wasRead ? [.clear(count: self.tupleCount)] : []
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        return self.failed()
    }

    private mutating func pageWritten(now: Timestamp) -> [Action] {
        guard self.isLastPage else { return self.loadNext(after: self.lastToken, now: now) }
        self.topics = self.topics.dropFirst()
        return self.loadNext(after: nil, now: now)
    }

    private mutating func loadNext(after token: DeviceToken?, now: Timestamp) -> [Action] {
        self.deadline = now.advanced(by: self.limits.progress)
        guard let topic = self.topics.first, self.tupleCount < self.limits.tuples, !self.isShuttingDown else {
            self.state = .finishing
            return [.finish(after: self.tupleCount > 0 ? self.limits.pause : .zero)]
        }
        self.state = .loading
        return [.load(topic, after: token)]
    }

    /// Groups tuples into writes of at most ``Limits/record`` bytes.
    private func records(of tuples: some Sequence<FeedbackTuple>) -> [ByteBuffer] {
        var records: [ByteBuffer] = []
        var record = ByteBuffer()
        for tuple in tuples {
            if record.readableBytes > 0, record.readableBytes + tuple.encodedLength > self.limits.record {
                records.append(record)
                record = ByteBuffer()
            }
            tuple.write(to: &record)
        }
        return records + [record]
    }
}
