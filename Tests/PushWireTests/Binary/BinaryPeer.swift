import NIOCore
import PushTesting
import PushTypes
import PushWire

/// Drives a ``BinaryServerStateMachine`` as its handler does, and records its actions.
final class BinaryPeer {
    private var stateMachine: BinaryServerStateMachine
    private(set) var submitted: [BinaryNotification] = []
    /// The final packets in hexadecimal; `nil` for an end without a packet.
    private(set) var finishes: [String?] = []
    private(set) var isClosed = false
    private(set) var reports: [BinaryServerStateMachine.MalformedNotification] = []
    private(set) var submitsAfterEnd = false
    private var now = Timestamp(seconds: 1_700_000_000)
    private let rejecting: [UInt32: BinaryStatus]

    /// - Parameter rejecting: The statuses of the notifications that are rejected at once, by identifier.
    init(
        rejecting: [UInt32: BinaryStatus] = [:],
        configure: (inout BinaryServerStateMachine.Limits) -> Void = { _ in }
    ) {
        var limits = BinaryServerStateMachine.Limits()
        configure(&limits)
        self.stateMachine = BinaryServerStateMachine(limits: limits, now: self.now)
        self.rejecting = rejecting
    }

    var isFinished: Bool { !self.finishes.isEmpty }
    var wantsBytes: Bool { self.stateMachine.wantsBytes }
    var nextDeadline: Timestamp? { self.stateMachine.nextDeadline }

    func receive(_ bytes: some Sequence<UInt8>) {
        self.perform(self.stateMachine.receive(ByteBuffer(bytes: bytes), now: self.now))
    }

    func receive(hex: String) {
        self.receive(Hexadecimal.decode(hex) ?? [])
    }

    func accept(_ ticket: UInt32) {
        self.perform(self.stateMachine.accepted(ticket: ticket, now: self.now))
    }

    func acceptAll() {
        for ticket in 0..<UInt32(self.submitted.count) { self.accept(ticket) }
    }

    func fail(_ ticket: UInt32) {
        self.perform(self.stateMachine.rejected(ticket: ticket, status: .processingError, now: self.now))
    }

    func closeInput() {
        self.perform(self.stateMachine.inputClosed(now: self.now))
    }

    func shutDown() {
        self.perform(self.stateMachine.shutDown(now: self.now))
    }

    func advance(by duration: Duration) {
        self.now = self.now.advanced(by: duration)
        self.perform(self.stateMachine.tick(now: self.now))
    }

    private func perform(_ actions: [BinaryServerStateMachine.Action]) {
        var actions = actions[...]
        while let action = actions.popFirst() {
            switch action {
            case .submit(let ticket, let notification):
                guard self.stateMachine.isInFlight(ticket) else { continue }
                if self.isFinished { self.submitsAfterEnd = true }
                self.submitted.append(notification)
                if let status = self.rejecting[notification.identifier] {
                    actions += self.stateMachine.rejected(ticket: ticket, status: status, now: self.now)
                }
            case .finish(let packet):
                self.finishes.append(packet.map { Hexadecimal.encode($0.encoded.readableBytesView) })
            case .close: self.isClosed = true
            case .report(let error): self.reports.append(error)
            }
        }
    }
}
