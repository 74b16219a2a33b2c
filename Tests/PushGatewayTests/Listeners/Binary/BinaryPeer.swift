import NIOCore
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

/// Drives a ``BinaryServerStateMachine`` as its handler does, and keeps what it said.
struct BinaryPeer {
    var machine: BinaryServerStateMachine
    private(set) var pushed: [BinaryNotification] = []
    /// In hexadecimal; `nil` for an end without a packet.
    private(set) var finishes: [String?] = []
    private(set) var isClosed = false
    /// What an operator is told.
    private(set) var faults: [BinaryServerStateMachine.Fault] = []
    private(set) var didPushAfterTheEnd = false
    private var now = Timestamp(seconds: 1_700_000_000)
    private let refusing: [UInt32: BinaryStatus]

    /// - Parameter refusing: what the door says of the notifications with these identifiers.
    init(
        refusing: [UInt32: BinaryStatus] = [:],
        configure: (inout BinaryServerStateMachine.Limits) -> Void = { _ in }
    ) {
        var limits = BinaryServerStateMachine.Limits()
        configure(&limits)
        self.machine = BinaryServerStateMachine(limits: limits, now: self.now)
        self.refusing = refusing
    }

    var isFinished: Bool { !self.finishes.isEmpty }

    mutating func receive(_ bytes: some Sequence<UInt8>) {
        self.machine.received(ByteBuffer(bytes: bytes), now: self.now)
        self.proceed()
    }

    mutating func receive(hex: String) {
        self.receive(Hexadecimal.decode(hex) ?? [])
    }

    mutating func accept(_ ticket: UInt32) {
        self.machine.accepted(ticket: ticket)
        self.proceed()
    }

    mutating func acceptAll() {
        for ticket in 0..<UInt32(self.pushed.count) { self.accept(ticket) }
    }

    mutating func fail(_ ticket: UInt32) {
        self.machine.refused(ticket: ticket, status: .processingError)
        self.proceed()
    }

    mutating func closeInput() {
        self.machine.inputEnded()
        self.proceed()
    }

    mutating func shutDown() {
        self.machine.shutDown(now: self.now)
        self.proceed()
    }

    mutating func advance(by duration: Duration) {
        self.now = self.now.advanced(by: duration)
        self.machine.tick(now: self.now)
        self.proceed()
    }

    private mutating func proceed() {
        while let action = self.machine.next(now: self.now) {
            switch action {
            case .push(let ticket, let notification):
                if self.isFinished { self.didPushAfterTheEnd = true }
                self.pushed.append(notification)
                if let status = self.refusing[notification.identifier] {
                    self.machine.refused(ticket: ticket, status: status)
                }
            case .finish(let packet):
                self.finishes.append(packet.map { Hexadecimal.encode($0.encoded.readableBytesView) })
            case .close: self.isClosed = true
            case .report(let fault): self.faults.append(fault)
            }
        }
    }

    /// Notifications of command 2 with these identifiers, in one piece.
    static func notifications(_ identifiers: ClosedRange<UInt32>) -> [UInt8] {
        let token = Hexadecimal.decode(Vectors.tokenA) ?? []
        return identifiers.flatMap { identifier in
            let notification = BinaryNotification(
                token: token,
                payload: ByteBuffer(string: Vectors.payload),
                identifier: identifier
            )
            return Array(BinaryFrame(command: .framed, notification: notification).encoded.readableBytesView)
        }
    }
}

/// Reference 8.5–8.7.
struct BinaryVector: CustomTestStringConvertible {
    var name: String
    var bytes: [UInt8]
    var identifier: UInt32 = 0
    /// In hexadecimal; for those that are refused.
    var answer: String?

    var testDescription: String { self.name }

    private init(_ name: String, _ hex: String, identifier: UInt32 = 0, answer: String? = nil) {
        self.name = name
        self.bytes = Hexadecimal.decode(hex) ?? []
        self.identifier = identifier
        self.answer = answer
    }

    private static let payload = "7b22617073223a7b22616c657274223a224869227d7d"

    static let simple = Self("command 0", "000020\(Vectors.tokenA)0016\(payload)")
    static let enhanced = Self("command 1", "01000000016553ff100020\(Vectors.tokenA)0016\(payload)", identifier: 1)
    static let framed = Self(
        "command 2",
        "020000004e010020\(Vectors.tokenA)020016\(payload)030004010203040400046553ff100500010a",
        identifier: 0x0102_0304
    )
    static let unnamed = Self("command 2, smallest", "020000003c010020\(Vectors.tokenA)020016\(payload)")
    static let good = [simple, enhanced, framed, unnamed]

    static let bad = [
        Self("4-byte token", "0100000002000000000004deadbeef0016\(payload)", answer: "080500000002"),
        Self("empty payload", "0100000003000000000020\(Vectors.tokenA)0000", answer: "080400000003"),
        Self("empty token", "010000000400000000000000167b\(payload.dropFirst(2))", answer: "080200000004"),
        Self("unknown command", "09", answer: "088000000000"),
        Self("257 bytes of payload", "0100000005000000000020\(Vectors.tokenA)0101", answer: "080700000005"),
        Self("the test of java-apns", "010000000000000000000100000100", answer: "080500000000"),
        Self("an endless frame", "0200002001", answer: "088000000000"),
        Self("two tokens", "0200000046010020\(Vectors.tokenA)010020\(Vectors.tokenA)", answer: "088000000000"),
    ]

    static let all = good + bad
}
