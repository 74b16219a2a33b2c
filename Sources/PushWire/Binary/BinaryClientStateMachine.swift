package import NIOCore
package import PushTypes

/// A state machine without I/O that decides the final state of each notification that a provider sends over the binary
/// protocol (APNs reference 5.3).
///
/// The server confirms nothing. An error packet implies the outcome of all notifications written before and after the
/// one that it names. The state machine numbers notifications, retains the latest written ones, and determines exactly
/// one final state for each. It serves one connection after another.
///
/// The method for an event returns the actions to perform, in order, or an empty array if there are none. The state
/// machine has no clock: the owner calls ``tick(now:)`` at ``nextDeadline``.
package struct BinaryClientStateMachine: ~Copyable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// The maximum number of retained written notifications. Beyond it, the oldest counts as accepted. Default
        /// 8192.
        package var written = 8192
        /// The maximum number of submitted notifications that wait to be written. Beyond it, ``submit(_:now:)`` fails
        /// them. Default 1024.
        package var waiting = 1024
        /// The time after which a written notification without an error packet counts as accepted. Default 1 s.
        package var quiet: Duration = .seconds(1)
        /// The maximum time from the submission to the writing of a notification, including connecting. Default 30 s.
        package var wait: Duration = .seconds(30)

        package init() {}
    }

    /// The final state of one notification.
    package enum FinalState: Hashable, Sendable {
        /// The state of a notification that counts as accepted, because no error packet named it or an earlier
        /// notification within ``Limits/quiet``.
        case accepted
        /// The state of a notification that the server rejected, or this state machine before it was written.
        case failed(BinaryStatus)
        /// The state of a notification that the server has certainly not processed, for the associated reason.
        case notSent(NotSent)
        /// The state of a written notification that may or may not have been processed, for the associated reason.
        case unknown(Unknown)
    }

    package enum NotSent: Hashable, Sendable {
        /// The reason that the notification was not written to any connection before its deadline.
        case timedOut
        /// The reason that the caller withdrew the notification.
        case withdrawn
        /// The reason that ``Limits/waiting`` notifications were already waiting.
        case queueFull
        /// The reason that the server rejected the connection or its certificate, and thereby all notifications.
        case connectionRejected(BinaryStatus)
    }

    package enum Unknown: Hashable, Sendable {
        /// The reason that the server closed the connection without an error packet.
        case connectionLost
        /// The reason that an error packet named no notification, or one that is no longer retained.
        case unknownIdentifier(BinaryErrorResponse)
        /// The reason that the server sent bytes that are not an error packet.
        case malformedPacket
    }

    package enum Action: Hashable, Sendable {
        case write(BinaryNotification)
        /// Report the final state of a notification. The state machine reports each notification exactly once.
        case finished(identifier: UInt32, FinalState)
        /// Report that an error packet arrived after the quiet period. It shows that `count` notifications were
        /// reported as accepted although they were not. Those after the one that the packet names are written again,
        /// unless the connection is at fault.
        case lateError(count: Int, BinaryStatus)
        /// Close the connection. Nothing more is written to it, and further bytes from it are ignored.
        case close(CloseReason)
    }

    package enum CloseReason: Hashable, Sendable {
        case errorPacket(BinaryErrorResponse)
        case malformedPacket
        /// The reason that the server did not read a notification before the notification's deadline.
        case stalled
    }

    private struct Entry: Sendable {
        var notification: BinaryNotification
        var deadline: Timestamp
        /// The time at which the operating system accepted the last byte of the notification, or `nil` before that.
        var writtenAt: Timestamp?
        /// A Boolean value that indicates whether the final state of the notification was reported. The notification is
        /// still retained then, because a late error packet may require writing it again.
        var isFinished = false
    }

    private let command: BinaryCommand
    private let limits: Limits
    private var lastIdentifier: UInt32
    private var waiting = CircularBuffer<Entry>()
    /// The written notifications, oldest first. Those whose final state was reported precede all others.
    private var written = CircularBuffer<Entry>()
    private var finishedCount = 0
    private var received = ByteBuffer()
    package private(set) var isConnected = false
    /// The number of consecutive connections and connection attempts that failed. It is reset to 0 when a notification
    /// is accepted, or rejected without the connection being at fault.
    package private(set) var failures = 0

    /// Creates a state machine that sends notifications with `command`. The first one gets the identifier after
    /// `lastIdentifier`.
    package init(command: BinaryCommand = .framed, limits: Limits = Limits(), lastIdentifier: UInt32 = 0) {
        (self.command, self.limits, self.lastIdentifier) = (command, limits, lastIdentifier)
    }

    /// The number of further notifications that ``submit(_:now:)`` currently accepts.
    package var remainingCapacity: Int { max(0, self.limits.waiting - self.waiting.count) }

    /// A Boolean value that indicates whether notifications wait to be written while there is no connection.
    package var needsConnection: Bool { !self.isConnected && !self.waiting.isEmpty }

    /// A Boolean value that indicates whether every notification has its final state.
    package var isSettled: Bool { self.waiting.isEmpty && self.finishedCount == self.written.count }

    /// A Boolean value that indicates whether a notification on this connection counts as accepted, so that the server
    /// evidently reads.
    package var hasAcceptedNotification: Bool { self.finishedCount > 0 }

    /// The identifier of the next notification. After the highest value, it skips 0, which names no notification.
    package var nextIdentifier: UInt32 { self.lastIdentifier == .max ? 1 : self.lastIdentifier &+ 1 }

    /// The time at which ``tick(now:)`` must be called, or `nil` if no notification has a deadline.
    package var nextDeadline: Timestamp? {
        let oldest = self.written.dropFirst(self.finishedCount).first
        let settled = oldest.map { $0.writtenAt?.advanced(by: self.limits.quiet) ?? $0.deadline }
        return [settled, self.waiting.first?.deadline].compactMap { $0 }.min()
    }
}

/// The events from the caller, and from the writing of notifications.
extension BinaryClientStateMachine {
    /// Queues a notification with the identifier ``nextIdentifier``. A notification that the server would certainly
    /// reject fails here, because the server would close the connection after an error packet (APNs reference 5.3.5).
    package mutating func submit(_ notification: BinaryNotification, now: Timestamp) -> [Action] {
        let identifier = self.nextIdentifier
        self.lastIdentifier = identifier
        guard self.remainingCapacity > 0 else { return [.finished(identifier: identifier, .notSent(.queueFull))] }
        var notification = notification
        notification.identifier = identifier
        if let error = BinaryFrame(command: self.command, notification: notification).validationError {
            return [.finished(identifier: identifier, .failed(error))]
        }
        self.waiting.append(Entry(notification: notification, deadline: now.advanced(by: self.limits.wait)))
        return []
    }

    /// Withdraws those of the given notifications that have not been written yet. The others continue.
    package mutating func withdraw(_ identifiers: Set<UInt32>) -> [Action] {
        var actions: [Action] = []
        self.waiting.removeAll { entry in
            guard !entry.isFinished, identifiers.contains(entry.notification.identifier) else { return false }
            actions.append(.finished(identifier: entry.notification.identifier, .notSent(.withdrawn)))
            return true
        }
        return actions
    }

    /// Finishes the notifications that have not been written yet as timed out.
    package mutating func giveUp() -> [Action] {
        let unfinished = self.waiting.filter { !$0.isFinished }
        self.waiting.removeAll { !$0.isFinished }
        return unfinished.map { .finished(identifier: $0.notification.identifier, .notSent(.timedOut)) }
    }

    /// The identifier of the notification that ``nextWrite(now:)`` returns next, or `nil` if there is none.
    package var nextToWrite: UInt32? { self.isConnected ? self.waiting.first?.notification.identifier : nil }

    /// Returns the action that writes the next notification, or no action if there is none. If the oldest written
    /// notification is dropped to make room, the report of its final state precedes the action. The owner calls this
    /// method while the connection is writable, and then calls ``written(through:now:)`` once the operating system has
    /// accepted the bytes.
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

    /// Starts the quiet period of all notifications up to `identifier`, because the operating system accepted them.
    package mutating func written(through identifier: UInt32, now: Timestamp) {
        guard self.isConnected, let last = self.position(of: identifier) else { return }
        for index in self.written.indices.prefix(last + 1).reversed() {
            if self.written[index].writtenAt != nil { break }
            self.written[index].writtenAt = now
        }
    }
}

/// Events of the connection and the clock.
extension BinaryClientStateMachine {
    package mutating func connected() {
        self.isConnected = true
        self.received.clear()
    }

    /// Queues all notifications again, because the connection could not be opened, or ended before the server read any.
    package mutating func connectionFailed() {
        self.failures &+= 1
        self.isConnected = false
        self.writeAgain(Array(self.written))
    }

    /// Finishes the notifications on a connection that was closed without an error packet. The server may have
    /// processed any of them.
    package mutating func connectionClosed() -> [Action] {
        guard self.isConnected else { return [] }
        // The server may close an idle connection (APNs reference 5.3.8), which is not a failure.
        if self.written.isEmpty || self.finishedCount < self.written.count { self.failures &+= 1 }
        return self.forgetConnection(.unknown(.connectionLost))
    }

    package mutating func receive(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
        guard self.isConnected else { return [] }
        self.received.writeImmutableBuffer(bytes)
        var actions: [Action] = []
        do {
            while self.isConnected, let packet = try BinaryErrorResponse.read(from: &self.received) {
                actions += self.receive(packet)
            }
        } catch {
            self.failures &+= 1
            actions += self.forgetConnection(.unknown(.malformedPacket)) + [.close(.malformedPacket)]
        }
        self.received.discardReadBytes()
        return actions
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        let quiet = self.written.dropFirst(self.finishedCount).prefix { entry in
            entry.writtenAt.map { $0.advanced(by: self.limits.quiet) <= now } ?? false
        }
        var actions = self.accept(upTo: self.finishedCount + quiet.count)
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

    private mutating func receive(_ packet: BinaryErrorResponse) -> [Action] {
        // Identifier 0 names no notification. Writing everything again for it would never end (APNs reference 5.3.5).
        guard self.command != .simple, let position = self.position(of: packet.identifier) else {
            self.failures &+= 1
            return self.forgetConnection(.unknown(.unknownIdentifier(packet))) + [.close(.errorPacket(packet))]
        }
        if packet.status == .noErrors { return self.accept(upTo: position + 1) }
        self.failures = packet.status.scope == .connection ? self.failures &+ 1 : 0

        let acceptedCount = packet.status.scope == .none ? position + 1 : position
        let contradicted = max(0, self.finishedCount - acceptedCount)
        var actions: [Action] = contradicted > 0 ? [.lateError(count: contradicted, packet.status)] : []
        actions += self.accept(upTo: acceptedCount)
        let named = self.written.dropFirst(position)
        if packet.status.scope != .none { actions += Self.finished(named.prefix(1), .failed(packet.status)) }
        let discarded = Array(named.dropFirst())
        if packet.status.scope == .connection {
            actions += Self.finished(discarded, .notSent(.connectionRejected(packet.status)))
            self.writeAgain([])
        } else {
            self.writeAgain(discarded)
        }
        self.isConnected = false
        return actions + [.close(.errorPacket(packet))]
    }

    private mutating func forgetConnection(_ state: FinalState) -> [Action] {
        let actions = Self.finished(self.written, state)
        self.isConnected = false
        self.writeAgain([])
        return actions
    }

    private mutating func accept(upTo count: Int) -> [Action] {
        guard count > self.finishedCount else { return [] }
        self.failures = 0
        let actions = Self.finished(self.written.prefix(count).dropFirst(self.finishedCount), .accepted)
        for index in self.written.indices.prefix(count).dropFirst(self.finishedCount) {
            self.written[index].isFinished = true
        }
        self.finishedCount = min(count, self.written.count)
        return actions
    }

    /// Drops all written notifications, and puts `entries` at the front of the queue, in their order and with their
    /// identifiers.
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
        case .malformedPacket: "the server does not speak the binary protocol"
        case .stalled: "the server reads no more bytes"
        }
    }
}
