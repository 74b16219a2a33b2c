import NIOCore
import PushTypes
import PushWire

/// Decides how the service's end of one legacy connection proceeds (reference 5).
///
/// Success is silent, so an error packet speaks for everything: all before the notification it names was accepted, all
/// after it was discarded. The packet therefore waits until each notification before it is settled, and nothing is
/// taken after the first one that failed. Time is passed in: the owner asks for ``nextDeadline`` and calls
/// ``tick(now:)``; after every call it performs ``next(now:)`` until there is nothing.
struct BinaryServerStateMachine: Sendable {
    struct Limits: Hashable, Sendable {
        /// Notifications with the core at one time; no more bytes are wanted meanwhile. Default 500.
        var inFlight = 500
        /// Bytes that may wait while nothing more is read: what a client had sent before it closed. Default 8 MiB.
        var waiting = 8 * 1024 * 1024
        /// From the handshake to the first byte. Default 5 min: clients connect ahead of their first notification.
        var firstByte: Duration = .seconds(300)
        /// From the first byte of a notification to its last. Default 30 s.
        var notification: Duration = .seconds(30)
        /// Between two notifications. Default 24 h: what a client writes into a connection that was dropped meanwhile
        /// is lost without notice (reference 5.3.8).
        var idle: Duration = .seconds(24 * 3600)
        /// Until the core has settled a notification. Default 30 s.
        var settlement: Duration = .seconds(30)
        /// The same once the gateway is going away. Default 5 s.
        var shutdown: Duration = .seconds(5)
        /// How long the client's bytes are read and thrown away after the last word. Default 2 s.
        var drain: Duration = .seconds(2)
        /// Allows payloads of 2,048 bytes by commands 0 and 1, as by command 2, instead of 256 only. Default no.
        var isLenient = false
    }

    enum Action: Hashable, Sendable {
        /// Check the notification: hand it to the core, or call ``accepted(ticket:)`` or ``refused(ticket:status:)``.
        case push(ticket: UInt32, BinaryNotification)
        /// Write the packet in one piece, if there is one, then close the write side; read on until ``close``.
        case finish(BinaryErrorResponse?)
        /// Close now.
        case close
        /// Tell the operator: the client may never learn of it.
        case report(Fault)
    }

    /// Bytes that are no notification.
    struct Fault: Hashable, Sendable {
        var status: BinaryStatus
        /// The first byte of the notification.
        var command: UInt8?
        /// Tells whether the client gets an error packet.
        var isAnswered: Bool
    }

    /// A notification that was taken off the connection and is not known to be accepted, with all before it.
    private struct Entry: Sendable {
        /// `nil` for command 0, which has none.
        var identifier: UInt32?
        var deadline: Timestamp
        var isAccepted = false
    }

    /// What is said when everything before it is settled.
    private enum End: Hashable, Sendable {
        case refusal(BinaryErrorResponse?)
        /// Names the last notification that was accepted.
        case shutdown(deadline: Timestamp)
    }

    private enum Phase: Hashable, Sendable {
        case open
        case ending(End)
        case draining(until: Timestamp)
        case closed
    }

    private let limits: Limits
    private var phase = Phase.open
    private var received = ByteBuffer()
    private var entries = CircularBuffer<Entry>()
    /// Of the first entry; tickets count up.
    private var firstTicket: UInt32 = 0
    /// Identifier 0 names no notification (reference 5.3.5).
    private var lastAccepted: UInt32?
    /// When the client has been silent for too long; `nil` while it is not its turn.
    private var silenceEnds: Timestamp?
    private var isInputOver = false
    private var fault: Fault?

    init(limits: Limits = Limits(), now: Timestamp) {
        self.limits = limits
        self.silenceEnds = now.advanced(by: limits.firstByte)
    }

    /// Whether the owner should read: not while too much is with the core, always once all that comes is thrown away.
    var wantsBytes: Bool {
        switch self.phase {
        case .open: self.hasRoom
        case .ending: false
        case .draining, .closed: true
        }
    }

    /// The time at which ``tick(now:)`` has something to do.
    var nextDeadline: Timestamp? {
        switch self.phase {
        case .open: [self.entries.first?.deadline, self.silenceEnds].compactMap { $0 }.min()
        case .ending(.refusal): self.entries.first?.deadline
        case .ending(.shutdown(let deadline)): deadline
        case .draining(let deadline): deadline
        case .closed: nil
        }
    }

    private var hasRoom: Bool { self.entries.count < max(1, self.limits.inFlight) }
}

/// From the client.
extension BinaryServerStateMachine {
    mutating func received(_ bytes: ByteBuffer, now: Timestamp) {
        guard case .open = self.phase, bytes.readableBytes > 0 else { return }
        if self.received.readableBytes == 0 {
            self.received = bytes
            self.silenceEnds = now.advanced(by: self.limits.notification)
        } else {
            self.received.writeImmutableBuffer(bytes)
        }
    }

    /// The client has closed its half, or all: what it had sent is still taken.
    mutating func inputEnded() {
        self.isInputOver = true
        self.silenceEnds = nil
    }

    /// What to do next; `nil` when that depends on others.
    mutating func next(now: Timestamp) -> Action? {
        switch self.phase {
        case .open:
            let action = self.takeNotification(now: now)
            if action == nil { self.endIfInputIsOver() }
            return action ?? self.takeFault() ?? self.finishIfSettled(now: now)
        case .ending:
            return self.takeFault() ?? self.finishIfSettled(now: now)
        case .draining(let deadline):
            guard deadline <= now || self.isInputOver else { return nil }
            self.phase = .closed
            return .close
        case .closed:
            return nil
        }
    }

    private mutating func takeNotification(now: Timestamp) -> Action? {
        guard self.hasRoom else {
            self.silenceEnds = nil
            if self.received.readableBytes > self.limits.waiting {
                self.fault = Fault(status: .processingError, command: self.command, isAnswered: false)
                self.end(.refusal(nil))
            }
            return nil
        }
        let command = self.command
        let isSimple = command == BinaryCommand.simple.rawValue
        do {
            guard let frame = try BinaryFrame.read(from: &self.received, isLenient: self.limits.isLenient) else {
                self.waitForBytes(now: now)
                return nil
            }
            let identifier = isSimple ? nil : frame.notification.identifier
            let ticket = self.firstTicket &+ UInt32(truncatingIfNeeded: self.entries.count)
            self.entries.append(Entry(identifier: identifier, deadline: now.advanced(by: self.limits.settlement)))
            // What follows has its own time.
            self.silenceEnds = nil
            return .push(ticket: ticket, frame.notification)
        } catch {
            // Command 0 has no identifier to name: the connection is closed without a packet (reference 5.3.3).
            self.fault = Fault(status: error.status, command: command, isAnswered: !isSimple)
            self.end(.refusal(isSimple ? nil : error))
            return nil
        }
    }

    /// The first byte of the next notification.
    private var command: UInt8? { self.received.getInteger(at: self.received.readerIndex, as: UInt8.self) }

    private mutating func takeFault() -> Action? {
        defer { self.fault = nil }
        return self.fault.map { .report($0) }
    }

    private mutating func waitForBytes(now: Timestamp) {
        self.received.discardReadBytes()
        guard !self.isInputOver else { return self.endUnfinished() }
        guard self.silenceEnds == nil else { return }
        let isBetween = self.received.readableBytes == 0
        self.silenceEnds = now.advanced(by: isBetween ? self.limits.idle : self.limits.notification)
    }

    /// A client that has closed its half still learns which notification failed, and then the connection ends.
    private mutating func endIfInputIsOver() {
        guard case .open = self.phase, self.isInputOver, self.entries.isEmpty, self.received.readableBytes == 0 else {
            return
        }
        self.end(.refusal(nil))
    }

    /// No more comes of the notification that has begun, if one has.
    private mutating func endUnfinished() {
        guard let command = self.command else { return }
        let packet = BinaryFrame.unfinished(self.received)
        self.fault = Fault(status: .protocolError, command: command, isAnswered: packet != nil)
        self.end(.refusal(packet))
    }

    private mutating func finishIfSettled(now: Timestamp) -> Action? {
        guard case .ending(let end) = self.phase else { return nil }
        let packet: BinaryErrorResponse?
        switch end {
        case .refusal(let refusal):
            guard self.entries.isEmpty else { return nil }
            packet = refusal
        case .shutdown(let deadline):
            guard self.entries.isEmpty || deadline <= now else { return nil }
            packet = self.lastAccepted.map { BinaryErrorResponse(status: .shutdown, identifier: $0) }
        }
        self.entries.removeAll()
        self.phase = .draining(until: now.advanced(by: self.limits.drain))
        return .finish(packet)
    }
}

/// From the core, the owner and the clock.
extension BinaryServerStateMachine {
    /// The notification is with its device, or on disk, or need not be kept.
    mutating func accepted(ticket: UInt32) {
        guard let index = self.index(of: ticket) else { return }
        self.entries[self.entries.index(self.entries.startIndex, offsetBy: index)].isAccepted = true
        while let entry = self.entries.first, entry.isAccepted {
            self.entries.removeFirst()
            self.firstTicket &+= 1
            self.lastAccepted = entry.identifier == 0 ? nil : entry.identifier
        }
    }

    /// The notification is not accepted: nothing after it counts, even what the core has taken meanwhile.
    mutating func refused(ticket: UInt32, status: BinaryStatus) {
        guard let index = self.index(of: ticket) else { return }
        let entry = self.entries[self.entries.index(self.entries.startIndex, offsetBy: index)]
        self.entries.removeLast(self.entries.count - index)
        self.end(.refusal(entry.identifier.map { BinaryErrorResponse(status: status, identifier: $0) }))
    }

    /// The gateway is going away: nothing more is taken.
    mutating func shutDown(now: Timestamp) {
        let deadline = now.advanced(by: self.limits.shutdown)
        switch self.phase {
        case .open:
            self.end(.shutdown(deadline: deadline))
        case .ending(.refusal):
            for index in self.entries.indices {
                self.entries[index].deadline = min(self.entries[index].deadline, deadline)
            }
        case .ending(.shutdown), .draining, .closed:
            break
        }
    }

    mutating func tick(now: Timestamp) {
        guard let deadline = self.nextDeadline, deadline <= now else { return }
        switch self.phase {
        case .open, .ending(.refusal):
            if let first = self.entries.first, first.deadline <= now {
                self.refused(ticket: self.firstTicket, status: .processingError)
            } else {
                self.endUnfinished()
                // A client that has sent nothing for long is only let go.
                if case .open = self.phase { self.end(.refusal(nil)) }
            }
        case .ending(.shutdown), .draining, .closed:
            break
        }
    }

    private mutating func end(_ end: End) {
        self.phase = .ending(end)
        self.received.clear()
        self.silenceEnds = nil
    }

    private func index(of ticket: UInt32) -> Int? {
        let index = Int(ticket &- self.firstTicket)
        return index < self.entries.count ? index : nil
    }
}
