package import NIOCore
package import PushTypes

/// A state machine without I/O for the server's side of one connection of the binary protocol (APNs reference 5).
///
/// Accepted notifications get no response. An error packet therefore implies that all notifications before the named
/// one were accepted, and that all later ones were discarded. The packet is delayed until it is known whether each
/// earlier notification was accepted, and no notification is read after the first one that failed.
///
/// The method for an event returns the actions to perform, in order. The state machine has no clock: the owner calls
/// ``tick(now:)`` at ``nextDeadline``.
package struct BinaryServerStateMachine: ~Copyable, Sendable {
    package struct Limits: Hashable, Sendable {
        /// The maximum number of notifications in flight. While it is reached, no bytes are read. Default 500.
        package var inFlight = 500
        /// The maximum number of received bytes that wait while ``inFlight`` is reached. More bytes end the connection.
        /// Default 8 MiB.
        package var waiting = 8 * 1024 * 1024
        /// The maximum time from the handshake to the first byte. Default 5 min, because clients connect before they
        /// have notifications to send.
        package var firstByte: Duration = .seconds(300)
        /// The maximum time from the first byte of a notification to its last. Default 30 s.
        package var notification: Duration = .seconds(30)
        /// The maximum time between two notifications. Default 24 h, because a client does not notice that
        /// notifications written to a closed connection are lost (APNs reference 5.3.8).
        package var idle: Duration = .seconds(24 * 3600)
        /// The maximum time for which a notification may be in flight. After that, it is rejected with a processing
        /// error. Default 30 s.
        package var settlement: Duration = .seconds(30)
        /// The maximum time for which a shutdown waits for the notifications in flight. Default 5 s.
        package var shutdown: Duration = .seconds(5)
        /// The time for which the client's bytes are discarded after the error packet, before the connection is closed.
        /// Default 2 s.
        package var drain: Duration = .seconds(2)
        /// A Boolean value that indicates whether a payload in commands 0 and 1 may have 2,048 bytes, as in command 2,
        /// instead of 256. Default false.
        package var isLenient = false
        /// A Boolean value that indicates whether a priority other than 5 and 10 is treated as absent instead of
        /// malformed. Default false.
        package var allowsAnyPriority = false

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        /// Process the notification if it is still in flight (``isInFlight(_:)``). Submit it, or call
        /// ``accepted(ticket:now:)`` or ``rejected(ticket:status:now:)``.
        case submit(ticket: UInt32, BinaryNotification)
        /// Write the packet, if any, in one piece and close the write side. Continue to read until ``close``.
        case finish(BinaryErrorResponse?)
        case close
        /// Log the malformed bytes that end the connection. The client may receive no error packet for them.
        case report(MalformedNotification)
    }

    /// A description of bytes from the client that are not a notification.
    package struct MalformedNotification: Hashable, Sendable {
        package var status: BinaryStatus
        /// The first byte of the notification, or `nil` if none arrived.
        package var command: UInt8?
        /// A Boolean value that indicates whether the client gets an error packet for the bytes.
        package var isAnswered: Bool

        package init(status: BinaryStatus, command: UInt8?, isAnswered: Bool) {
            (self.status, self.command, self.isAnswered) = (status, command, isAnswered)
        }
    }

    /// A notification that was read from the connection. It is retained until it and all earlier ones are accepted.
    private struct Entry: Sendable {
        /// The identifier, or `nil` for a notification of command 0, which has none.
        var identifier: UInt32?
        var deadline: Timestamp
        var isAccepted = false
    }

    /// The way in which the connection ends once it is known whether all earlier notifications were accepted.
    private enum Ending: Hashable, Sendable {
        case packet(BinaryErrorResponse?, cause: MalformedNotification? = nil)
        /// An end with an error packet that names the last accepted notification, because the server is shutting down.
        case shutdown(deadline: Timestamp)
    }

    private enum State: Hashable, Sendable {
        case open
        case ending(Ending)
        case draining(until: Timestamp)
        case closed
    }

    private let limits: Limits
    private var state = State.open
    private var received = ByteBuffer()
    private var entries = CircularBuffer<Entry>()
    /// The ticket of the first entry. Tickets are consecutive.
    private var firstTicket: UInt32 = 0
    /// The identifier of the last accepted notification, or `nil` if there is none or it is 0 (APNs reference 5.3.5).
    private var lastAccepted: UInt32?
    /// The time by which the client must have sent bytes, or `nil` while the client is not expected to send.
    private var silenceDeadline: Timestamp?
    private var isInputClosed = false

    package init(limits: Limits = Limits(), now: Timestamp) {
        self.limits = limits
        self.silenceDeadline = now.advanced(by: limits.firstByte)
    }

    /// A Boolean value that indicates whether the owner should read from the connection. It is `false` while too many
    /// notifications are in flight, and `true` once received bytes are discarded.
    package var wantsBytes: Bool {
        switch self.state {
        case .open: self.hasCapacity
        case .ending: false
        case .draining, .closed: true
        }
    }

    /// The time at which ``tick(now:)`` must be called, or `nil` once the connection is closed.
    package var nextDeadline: Timestamp? {
        switch self.state {
        case .open: [self.entries.first?.deadline, self.silenceDeadline].compactMap { $0 }.min()
        case .ending(.packet): self.entries.first?.deadline
        case .ending(.shutdown(let deadline)), .draining(let deadline): deadline
        case .closed: nil
        }
    }

    /// Returns whether a notification was not accepted, rejected or discarded yet.
    package func isInFlight(_ ticket: UInt32) -> Bool { self.index(of: ticket) != nil }

    private var hasCapacity: Bool { self.entries.count < max(1, self.limits.inFlight) }
}

/// The events from the client.
extension BinaryServerStateMachine {
    package mutating func receive(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
        guard case .open = self.state, bytes.readableBytes > 0 else { return [] }
        if self.received.readableBytes == 0 {
            self.received = bytes
            self.silenceDeadline = now.advanced(by: self.limits.notification)
        } else {
            self.received.writeImmutableBuffer(bytes)
        }
        return self.proceed(now: now)
    }

    /// Handles the end of the client's input. Notifications that were already received are still processed.
    package mutating func inputClosed(now: Timestamp) -> [Action] {
        self.isInputClosed = true
        self.silenceDeadline = nil
        return self.proceed(now: now)
    }
}

/// The events from the gateway and the clock.
extension BinaryServerStateMachine {
    /// Records that a notification was accepted because it was delivered or stored, or need not be stored.
    package mutating func accepted(ticket: UInt32, now: Timestamp) -> [Action] {
        guard let index = self.index(of: ticket) else { return [] }
        self.entries[self.entries.index(self.entries.startIndex, offsetBy: index)].isAccepted = true
        while let entry = self.entries.first, entry.isAccepted {
            self.entries.removeFirst()
            self.firstTicket &+= 1
            self.lastAccepted = entry.identifier == 0 ? nil : entry.identifier
        }
        return self.proceed(now: now)
    }

    /// Rejects a notification. All later notifications are discarded, even if the gateway has already accepted them.
    package mutating func rejected(ticket: UInt32, status: BinaryStatus, now: Timestamp) -> [Action] {
        guard let index = self.index(of: ticket) else { return [] }
        let entry = self.entries[self.entries.index(self.entries.startIndex, offsetBy: index)]
        self.entries.removeLast(self.entries.count - index)
        self.end(.packet(entry.identifier.map { BinaryErrorResponse(status: status, identifier: $0) }))
        return self.proceed(now: now)
    }

    /// Begins the shutdown. No further notifications are read.
    package mutating func shutDown(now: Timestamp) -> [Action] {
        let deadline = now.advanced(by: self.limits.shutdown)
        switch self.state {
        case .open: self.end(.shutdown(deadline: deadline))
        case .ending(.packet):
            for index in self.entries.indices {
                self.entries[index].deadline = min(self.entries[index].deadline, deadline)
            }
        case .ending(.shutdown), .draining, .closed: break
        }
        return self.proceed(now: now)
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        switch self.state {
        case .open, .ending(.packet):
            if let first = self.entries.first, first.deadline <= now {
                return self.rejected(ticket: self.firstTicket, status: .processingError, now: now)
            }
            self.endInNotification()
            // A client that has only been silent gets no error packet.
            if case .open = self.state { self.end(.packet(nil)) }
            return self.proceed(now: now)
        case .ending(.shutdown), .draining, .closed: return self.proceed(now: now)
        }
    }
}

extension BinaryServerStateMachine {
    /// Reads all notifications that may be read, and ends the connection if nothing is outstanding.
    private mutating func proceed(now: Timestamp) -> [Action] {
        var actions: [Action] = []
        while case .open = self.state, let action = self.takeNotification(now: now) { actions.append(action) }
        if case .open = self.state, self.isInputClosed, self.entries.isEmpty, self.received.readableBytes == 0 {
            // A client that has closed its write side can receive an error packet until everything is settled.
            self.end(.packet(nil))
        }
        switch self.state {
        case .ending(.packet(let packet, let cause)) where self.entries.isEmpty:
            if let cause { actions.append(.report(cause)) }
            actions.append(self.finish(packet, now: now))
        case .ending(.shutdown(let deadline)) where self.entries.isEmpty || deadline <= now:
            let packet = self.lastAccepted.map { BinaryErrorResponse(status: .shutdown, identifier: $0) }
            actions.append(self.finish(packet, now: now))
        case .open, .ending, .draining, .closed: break
        }
        if case .draining(let deadline) = self.state, deadline <= now || self.isInputClosed {
            self.state = .closed
            actions.append(.close)
        }
        return actions
    }

    /// Reads the next notification. Returns `nil` if none is complete, or if none may be read now.
    private mutating func takeNotification(now: Timestamp) -> Action? {
        let command = self.command
        guard self.hasCapacity else {
            self.silenceDeadline = nil
            guard self.received.readableBytes > self.limits.waiting else { return nil }
            self.end(.packet(nil, cause: .init(status: .processingError, command: command, isAnswered: false)))
            return nil
        }
        let isSimple = command == BinaryCommand.simple.rawValue
        do {
            let frame = try BinaryFrame.read(
                from: &self.received,
                isLenient: self.limits.isLenient,
                allowsAnyPriority: self.limits.allowsAnyPriority
            )
            guard let frame else {
                self.awaitBytes(now: now)
                return nil
            }
            let identifier = isSimple ? nil : frame.notification.identifier
            let ticket = self.firstTicket &+ UInt32(truncatingIfNeeded: self.entries.count)
            self.entries.append(Entry(identifier: identifier, deadline: now.advanced(by: self.limits.settlement)))
            // A deadline of its own applies to the next notification.
            self.silenceDeadline = nil
            return .submit(ticket: ticket, frame.notification)
        } catch {
            // The connection is closed without a packet, because command 0 has no identifier to name (APNs reference
            // 5.3.3).
            let cause = MalformedNotification(status: error.status, command: command, isAnswered: !isSimple)
            self.end(.packet(isSimple ? nil : error, cause: cause))
            return nil
        }
    }

    private mutating func awaitBytes(now: Timestamp) {
        self.received.discardReadBytes()
        guard !self.isInputClosed else { return self.endInNotification() }
        guard self.silenceDeadline == nil else { return }
        let isBetween = self.received.readableBytes == 0
        self.silenceDeadline = now.advanced(by: isBetween ? self.limits.idle : self.limits.notification)
    }

    /// Ends the connection if a part of a notification has arrived, because the rest will not arrive.
    private mutating func endInNotification() {
        guard let command = self.command else { return }
        let packet = BinaryFrame.unfinished(self.received)
        let cause = MalformedNotification(status: .protocolError, command: command, isAnswered: packet != nil)
        self.end(.packet(packet, cause: cause))
    }

    private mutating func finish(_ packet: BinaryErrorResponse?, now: Timestamp) -> Action {
        self.entries.removeAll()
        self.state = .draining(until: now.advanced(by: self.limits.drain))
        return .finish(packet)
    }

    private mutating func end(_ ending: Ending) {
        self.state = .ending(ending)
        self.received.clear()
        self.silenceDeadline = nil
    }

    /// The first byte of the next notification, or `nil` if it has not arrived.
    private var command: UInt8? { self.received.getInteger(at: self.received.readerIndex, as: UInt8.self) }

    private func index(of ticket: UInt32) -> Int? {
        let index = Int(ticket &- self.firstTicket)
        return index < self.entries.count ? index : nil
    }
}
