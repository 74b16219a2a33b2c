import NIOCore
import PushTypes
import PushWire

/// Decides how one connection to the feedback service proceeds (reference 6).
///
/// All entries of the certificate's topics are written, page by page, in writes of whole tuples, each when the one before
/// has left: clients exist that take what one TLS record brings for whole tuples. Then the write side is closed; only when the client has closed its own in good order are they cleared. Time is passed in: the owner
/// asks for ``nextDeadline`` and calls ``tick(now:)``.
struct FeedbackServerStateMachine: Sendable {
    struct Limits: Hashable, Sendable {
        /// Entries read from the store, and written, at one time. Default 500.
        var page = 500
        /// Bytes of one write, which is one TLS record: less than a record can hold, as many old clients read 4 KiB at a
        /// time. A longer tuple is written alone. Default 4 KiB.
        var record = 4096
        /// Entries on one connection; the next one gets the rest. Default 50,000.
        var entries = 50_000
        /// For one page to be read and to leave; also for the turn of a connection to come. Default 30 s.
        var progress: Duration = .seconds(30)
        /// From the end of the list until the client has closed. Default 5 s.
        var farewell: Duration = .seconds(5)
        /// Bytes of the client that are ignored; one that sends more is no reader of feedback. Default 64 KiB.
        var ignored = 64 * 1024
    }

    enum Action: Hashable, Sendable {
        /// Read a page, then call ``loaded(_:now:)`` or ``failed()``.
        case load(Topic, after: DeviceToken?)
        /// Write, then call ``written(now:)`` or ``failed()``.
        case write(ByteBuffer)
        /// Close the write side, then call ``outputClosed(now:)``.
        case finish
        /// Close without the end that TLS gives to a complete list.
        case abort
        /// These were read.
        case clear([FeedbackEntry])
    }

    private enum Phase: Hashable, Sendable {
        /// For the handshake, then for other connections of the same provider to end.
        case waiting
        case loading
        case writing
        case finishing
        case awaitingClient
        case over
    }

    private let limits: Limits
    private var phase = Phase.waiting
    private var deadline: Timestamp
    /// The first is the one being listed.
    private var topics: ArraySlice<Topic> = []
    private var written: [FeedbackEntry] = []
    /// The rest of the page.
    private var records: ArraySlice<ByteBuffer> = []
    private var isPageLast = false
    private var isGoingAway = false
    private var ignored = 0

    init(limits: Limits = Limits(), now: Timestamp) {
        self.limits = limits
        self.deadline = now.advanced(by: limits.progress)
    }

    /// When ``tick(now:)`` has something to do; `nil` once all is said.
    var nextDeadline: Timestamp? { self.phase == .over ? nil : self.deadline }

    /// The list may be told: its topics.
    mutating func start(_ topics: [Topic], now: Timestamp) -> [Action] {
        guard self.phase == .waiting else { return [] }
        self.topics = topics[...]
        return self.proceed(after: nil, now: now)
    }

    mutating func loaded(_ entries: [FeedbackEntry], now: Timestamp) -> [Action] {
        guard self.phase == .loading else { return [] }
        self.isPageLast = entries.count < self.limits.page
        guard !entries.isEmpty else { return self.nextPage(now: now) }
        let entries = entries.prefix(max(1, self.limits.entries - self.written.count))
        self.records = self.records(of: entries)[...]
        self.written += entries
        self.phase = .writing
        return self.records.popFirst().map { [.write($0)] } ?? []
    }

    private func records(of entries: some Sequence<FeedbackEntry>) -> [ByteBuffer] {
        var records: [ByteBuffer] = []
        var record = ByteBuffer()
        for entry in entries {
            let tuple = entry.tuple
            if record.readableBytes > 0, record.readableBytes + tuple.length > self.limits.record {
                records.append(record)
                record = ByteBuffer()
            }
            tuple.write(to: &record)
        }
        return records + [record]
    }

    mutating func written(now: Timestamp) -> [Action] {
        guard self.phase == .writing else { return [] }
        if let record = self.records.popFirst() { return [.write(record)] }
        return self.nextPage(now: now)
    }

    mutating func outputClosed(now: Timestamp) {
        guard self.phase == .finishing else { return }
        self.phase = .awaitingClient
        self.deadline = now.advanced(by: self.limits.farewell)
    }

    /// The client's bytes mean nothing here.
    mutating func received(_ count: Int) -> [Action] {
        self.ignored += count
        return self.ignored > self.limits.ignored ? self.failed() : []
    }

    /// The gateway is going away: what is on its way is the last.
    mutating func shutDown() -> [Action] {
        self.isGoingAway = true
        return self.phase == .waiting ? self.failed() : []
    }

    /// The list could not be read or written.
    mutating func failed() -> [Action] {
        guard self.phase != .over else { return [] }
        self.phase = .over
        return [.abort]
    }

    /// The connection is gone. `isOrderly` if the client has closed it, `false` if it broke.
    mutating func ended(isOrderly: Bool) -> [Action] {
        let wasRead = self.phase == .awaitingClient && isOrderly && !self.written.isEmpty
        self.phase = .over
        return wasRead ? [.clear(self.written)] : []
    }

    mutating func tick(now: Timestamp) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        return self.failed()
    }

    private mutating func nextPage(now: Timestamp) -> [Action] {
        guard self.isPageLast else { return self.proceed(after: self.written.last?.token, now: now) }
        self.topics = self.topics.dropFirst()
        return self.proceed(after: nil, now: now)
    }

    private mutating func proceed(after token: DeviceToken?, now: Timestamp) -> [Action] {
        self.deadline = now.advanced(by: self.limits.progress)
        guard let topic = self.topics.first, self.written.count < self.limits.entries, !self.isGoingAway else {
            self.phase = .finishing
            return [.finish]
        }
        self.phase = .loading
        return [.load(topic, after: token)]
    }
}
