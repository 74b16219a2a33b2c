package import NIOCore
package import PushTypes

/// Decides what becomes of every notification that a provider sends over the legacy interface (reference 5.3).
///
/// Success is silent there, and one error packet tells about all that was written before and after the notification it
/// names. The machine numbers notifications, remembers those written last, and gives each exactly one final state. It
/// serves one connection after another. Time is passed in: the owner asks for ``nextDeadline`` and calls
/// ``tick(now:)``.
package struct BinaryClientStateMachine: Sendable {
    package struct Limits: Hashable, Sendable {
        /// Notifications remembered after they were written; the oldest leaves as accepted. Default 8192.
        package var written = 8192
        /// Notifications that may wait to be written. Default 1024.
        package var waiting = 1024
        /// Without an error packet for this long after it was written, a notification counts as accepted. Default 1 s.
        package var quiet: Duration = .seconds(1)
        /// From submission until a notification must have left for the service, connecting included. Default 30 s.
        package var wait: Duration = .seconds(30)

        package init() {}
    }

    /// What became of a notification.
    package enum FinalState: Hashable, Sendable {
        /// No error was reported of it.
        case accepted
        /// The service, or this machine before writing, refused it.
        case failed(BinaryStatus)
        /// Certainly not processed by the service.
        case notSent(NotSent)
        /// Written, but nothing tells whether it was processed.
        case unknown(Unknown)
    }

    package enum NotSent: Hashable, Sendable {
        /// No connection took it in time.
        case timedOut
        /// The caller wanted it no more.
        case withdrawn
        /// Discarded with all others because of a fault of the connection or its certificate.
        case connectionRefused(BinaryStatus)
    }

    package enum Unknown: Hashable, Sendable {
        /// The connection ended without an error packet.
        case connectionLost
        /// An error packet named a notification that is not remembered, or none.
        case unknownIdentifier(BinaryErrorResponse)
        /// The service sent something that is no error packet.
        case malformedPacket
    }

    package enum Action: Hashable, Sendable {
        case write(BinaryNotification)
        /// The one and only final state of a notification.
        case finished(identifier: UInt32, FinalState)
        /// An error packet came later than the quiet period: `count` notifications that counted as accepted by then
        /// had not been. Those after the one it names are written again, unless the connection itself is at fault.
        case wasNotAccepted(count: Int, BinaryStatus)
        /// Nothing more is written to this connection and nothing it says counts.
        case close(CloseReason)
    }

    package enum CloseReason: Hashable, Sendable {
        case errorPacket(BinaryErrorResponse)
        case malformedPacket
        /// The peer takes no more bytes.
        case stalled
    }

    struct Entry: Sendable {
        var notification: BinaryNotification
        var deadline: Timestamp
        /// When the system had taken its last byte.
        var writtenAt: Timestamp?
        /// Its final state is out; kept only to be written again should a late error packet contradict.
        var isFinished = false
    }

    private let command: BinaryCommand
    private let limits: Limits
    private var lastIdentifier: UInt32
    private var waiting = CircularBuffer<Entry>()
    /// Oldest first. Finished ones stand before all others.
    private var written = CircularBuffer<Entry>()
    private var finishedCount = 0
    private var received = ByteBuffer()
    package private(set) var isConnected = false
    /// Connections and attempts in a row after which nothing was known of any notification.
    package private(set) var failures = 0

    /// - Parameter lastIdentifier: the first notification gets the next one.
    package init(command: BinaryCommand = .framed, limits: Limits = Limits(), lastIdentifier: UInt32 = 0) {
        self.command = command
        self.limits = limits
        self.lastIdentifier = lastIdentifier
    }

    /// How many notifications can be submitted.
    package var room: Int { max(0, self.limits.waiting - self.waiting.count) }

    /// Whether there is something to write.
    package var wantsConnection: Bool { !self.isConnected && !self.waiting.isEmpty }

    /// Whether every notification has its final state.
    package var isSettled: Bool { self.waiting.isEmpty && self.finishedCount == self.written.count }

    /// When ``tick(now:)`` has something to do.
    package var nextDeadline: Timestamp? {
        let oldest = self.written.dropFirst(self.finishedCount).first
        let settled = oldest.map { $0.writtenAt?.advanced(by: self.limits.quiet) ?? $0.deadline }
        return [settled, self.waiting.first?.deadline].compactMap { $0 }.min()
    }
}

/// From the caller to the service.
extension BinaryClientStateMachine {
    /// Takes a notification and gives it its identifier; `nil` if there is no room. What the service would surely
    /// refuse is refused here, because a refusal there costs the connection (reference 5.3.5).
    package mutating func submit(
        _ notification: BinaryNotification,
        now: Timestamp
    ) -> (identifier: UInt32, actions: [Action])? {
        guard self.room > 0 else { return nil }
        // 0 names no notification, and after the last number comes the first.
        self.lastIdentifier = self.lastIdentifier == .max ? 1 : self.lastIdentifier &+ 1
        let identifier = self.lastIdentifier
        var notification = notification
        notification.identifier = identifier
        if let fault = BinaryFrame(command: self.command, notification: notification).fault {
            return (identifier, [.finished(identifier: identifier, .failed(fault))])
        }
        self.waiting.append(Entry(notification: notification, deadline: now.advanced(by: self.limits.wait)))
        return (identifier, [])
    }

    /// Takes back what has not been written yet; the rest runs its course.
    package mutating func withdraw(_ identifiers: Set<UInt32>) -> [Action] {
        var actions: [Action] = []
        self.waiting.removeAll { entry in
            guard !entry.isFinished, identifiers.contains(entry.notification.identifier) else { return false }
            actions.append(.finished(identifier: entry.notification.identifier, .notSent(.withdrawn)))
            return true
        }
        return actions
    }

    package mutating func connected() {
        self.isConnected = true
        self.received.clear()
    }

    /// Whether something that was written counts as accepted already: then the service did read from the connection.
    package var hasSettled: Bool { self.finishedCount > 0 }

    /// There is no connection, or it ended before the service could read a single notification from it: everything
    /// written to it waits again.
    package mutating func connectionRefused() {
        self.failures &+= 1
        self.isConnected = false
        self.writeAgain(Array(self.written))
    }

    /// The next notification to write, preceded by what leaves the memory for it; empty when there is none.
    ///
    /// Call it while the connection takes bytes, then ``written(through:now:)`` when the system has them.
    package mutating func nextWrite(now: Timestamp) -> [Action] {
        guard self.isConnected, let next = self.waiting.first else { return [] }
        var actions: [Action] = []
        if self.written.count >= max(1, self.limits.written), let oldest = self.written.first {
            guard oldest.writtenAt != nil else { return [] }
            self.written.removeFirst()
            if oldest.isFinished {
                self.finishedCount -= 1
            } else {
                actions.append(.finished(identifier: oldest.notification.identifier, .accepted))
            }
        }
        self.waiting.removeFirst()
        self.written.append(next)
        if next.isFinished { self.finishedCount += 1 }
        return actions + [.write(next.notification)]
    }

    /// The system has taken all bytes up to those of `identifier`: the quiet period of these begins.
    package mutating func written(through identifier: UInt32, now: Timestamp) {
        guard self.isConnected, let last = self.position(of: identifier) else { return }
        for index in self.written.indices.prefix(last + 1).reversed() {
            if self.written[index].writtenAt != nil { break }
            self.written[index].writtenAt = now
        }
    }
}

/// From the service, and from the clock.
extension BinaryClientStateMachine {
    package mutating func received(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
        guard self.isConnected else { return [] }
        self.received.writeImmutableBuffer(bytes)
        var actions: [Action] = []
        do {
            while self.isConnected, let packet = try BinaryErrorResponse.read(from: &self.received) {
                actions += self.received(packet)
            }
        } catch {
            self.failures &+= 1
            actions += self.forgetConnection(.unknown(.malformedPacket)) + [.close(.malformedPacket)]
        }
        self.received.discardReadBytes()
        return actions
    }

    /// The connection is gone without an error packet: which of the notifications on it were processed nobody knows.
    package mutating func connectionClosed() -> [Action] {
        guard self.isConnected else { return [] }
        // An idle connection may go without notice (reference 5.3.8): that is no failure.
        if self.written.isEmpty || self.finishedCount < self.written.count { self.failures &+= 1 }
        return self.forgetConnection(.unknown(.connectionLost))
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        let quiet = self.written.dropFirst(self.finishedCount).prefix { entry in
            entry.writtenAt.map { $0.advanced(by: self.limits.quiet) <= now } ?? false
        }
        var actions = self.finish(upTo: self.finishedCount + quiet.count)
        while let entry = self.waiting.first, entry.deadline <= now {
            self.waiting.removeFirst()
            guard !entry.isFinished else { continue }
            actions.append(.finished(identifier: entry.notification.identifier, .notSent(.timedOut)))
        }
        if let stuck = self.written.dropFirst(self.finishedCount).first, stuck.writtenAt == nil, stuck.deadline <= now {
            self.failures &+= 1
            actions += self.forgetConnection(.unknown(.connectionLost)) + [.close(.stalled)]
        }
        return actions
    }

    private mutating func received(_ packet: BinaryErrorResponse) -> [Action] {
        // An identifier of 0 is nobody's: to send everything again for it would go round for ever (reference 5.3.5).
        guard self.command != .simple, let position = self.position(of: packet.identifier) else {
            self.failures &+= 1
            return self.forgetConnection(.unknown(.unknownIdentifier(packet))) + [.close(.errorPacket(packet))]
        }
        if packet.status == .noErrors { return self.finish(upTo: position + 1) }
        self.failures = packet.status.scope == .connection ? self.failures &+ 1 : 0

        let wasAccepted = packet.status.scope == .none
        let refuted = max(0, self.finishedCount - position - (wasAccepted ? 1 : 0))
        var actions: [Action] = refuted > 0 ? [.wasNotAccepted(count: refuted, packet.status)] : []
        actions += self.finish(upTo: position + (wasAccepted ? 1 : 0))
        let rest = self.written.dropFirst(position)
        if !wasAccepted, let named = rest.first, !named.isFinished {
            actions.append(.finished(identifier: named.notification.identifier, .failed(packet.status)))
        }
        let discarded = Array(rest.dropFirst())
        if packet.status.scope == .connection {
            actions += Self.finished(discarded, .notSent(.connectionRefused(packet.status)))
            self.writeAgain([])
        } else {
            self.writeAgain(discarded)
        }
        self.isConnected = false
        return actions + [.close(.errorPacket(packet))]
    }

    /// Ends the connection: everything on it that has no final state gets `state`.
    private mutating func forgetConnection(_ state: FinalState) -> [Action] {
        let actions = Self.finished(self.written, state)
        self.isConnected = false
        self.writeAgain([])
        return actions
    }

    /// Counts the oldest `count` as accepted.
    private mutating func finish(upTo count: Int) -> [Action] {
        guard count > self.finishedCount else { return [] }
        self.failures = 0
        let actions = Self.finished(self.written.prefix(count).dropFirst(self.finishedCount), .accepted)
        for index in self.written.indices.prefix(count).dropFirst(self.finishedCount) {
            self.written[index].isFinished = true
        }
        self.finishedCount = min(count, self.written.count)
        return actions
    }

    /// Empties the memory; `entries` go to the front of what waits, in their order and with their identifiers.
    private mutating func writeAgain(_ entries: [Entry]) {
        self.written.removeAll(keepingCapacity: true)
        self.finishedCount = 0
        for var entry in entries.reversed() {
            entry.writtenAt = nil
            self.waiting.prepend(entry)
        }
    }

    private func position(of identifier: UInt32) -> Int? {
        let index = self.written.lastIndex { $0.notification.identifier == identifier }
        return index.map { self.written.distance(from: self.written.startIndex, to: $0) }
    }

    private static func finished(_ entries: some Sequence<Entry>, _ state: FinalState) -> [Action] {
        entries.lazy.filter { !$0.isFinished }.map { .finished(identifier: $0.notification.identifier, state) }
    }
}

extension BinaryClientStateMachine.CloseReason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .errorPacket(let packet): "\(packet.status.text), notification \(packet.identifier)"
        case .malformedPacket: "the peer does not speak the legacy interface"
        case .stalled: "the peer takes no more bytes"
        }
    }
}
