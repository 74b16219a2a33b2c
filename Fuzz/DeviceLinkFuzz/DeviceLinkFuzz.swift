import Fuzzing
import NIOCore
import PushTypes
import PushWire

/// Fuzzes the packets of the device link and the state machines of both ends. The first byte of an input selects one.
@main
enum DeviceLinkFuzz {
    private static let now = Timestamp(seconds: 1_700_000_000)

    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.packets(rest)
            case 1: Self.device(rest)
            case nil: break
            default: Self.service(rest)
            }
        }
    }

    private static func packets(_ bytes: [UInt8]) {
        Pieces.expectSame(bytes) {
            Decoded($0) { buffer throws(DeviceLinkPacketError) in try DeviceLinkPacket.read(from: &buffer) }
        }
        let decoded = Decoded([ByteBuffer(bytes: bytes)]) { buffer throws(DeviceLinkPacketError) in
            try DeviceLinkPacket.read(from: &buffer)
        }
        var written = ByteBuffer()
        for packet in decoded.values {
            packet.write(to: &written)
            Self.contents(packet)
        }
        precondition(bytes.starts(with: written.readableBytesView), "packets are written differently than they came")
    }

    /// Checks that the content of a packet is the same after it was written and read again.
    private static func contents(_ packet: DeviceLinkPacket) {
        Self.expectSame(DeviceLinkConnectRequest(packet), \.packet, DeviceLinkConnectRequest.init)
        Self.expectSame(DeviceLinkConnectResponse(packet), \.packet, DeviceLinkConnectResponse.init)
        Self.expectSame(DeviceLinkFilter(packet), \.packet, DeviceLinkFilter.init)
        Self.expectSame(DeviceLinkMessage(packet), \.packet, DeviceLinkMessage.init)
        Self.expectSame(DeviceLinkAcknowledgement(packet), \.packet, DeviceLinkAcknowledgement.init)
        Self.expectSame(DeviceLinkTokenResponse(packet), \.packet, DeviceLinkTokenResponse.init)
        _ = DeviceLinkTokenRequest(packet)
        for field in packet.fields { _ = DeviceLinkNonce(bytes: Array(field.value.readableBytesView))?.time }
    }

    private static func expectSame<Content: Equatable>(
        _ content: Content?,
        _ packet: KeyPath<Content, DeviceLinkPacket>,
        _ read: (DeviceLinkPacket) -> Content?
    ) {
        guard let content else { return }
        precondition(read(content[keyPath: packet]) == content, "not the same again: \(content)")
    }

    private static func device(_ bytes: [UInt8]) {
        Pieces.expectSame(bytes) { pieces in
            var machine = DeviceLinkClientStateMachine()
            var actions = machine.start(DeviceLinkConnectRequest(), now: Self.now)
            for piece in pieces { actions += machine.receive(piece, now: Self.now) }
            return actions + machine.tick(now: Self.now.advanced(by: .seconds(3600)))
        }
    }

    /// Runs the server's state machine. The first byte is the number of bytes before the device's authentication, the second
    /// its result.
    private static func service(_ bytes: [UInt8]) {
        guard bytes.count > 2 else { return }
        let (before, after) = (bytes.dropFirst(2).prefix(Int(bytes[0])), bytes.dropFirst(2).dropFirst(Int(bytes[0])))
        let first = Pieces.all(Array(before))
        let second = Pieces.all(Array(after))
        let whole = Self.service(first[0], isGood: bytes[1] & 1 == 0, second[0])
        for pieces in first {
            let other = Self.service(pieces, isGood: bytes[1] & 1 == 0, second[0])
            precondition(other == whole, "\(other)\ninstead of \(whole)")
        }
        for pieces in second {
            let other = Self.service(first[0], isGood: bytes[1] & 1 == 0, pieces)
            precondition(other == whole, "\(other)\ninstead of \(whole)")
        }
    }

    private static func service(
        _ before: [ByteBuffer],
        isGood: Bool,
        _ after: [ByteBuffer]
    ) -> [DeviceLinkServerStateMachine.Action] {
        var machine = DeviceLinkServerStateMachine(now: Self.now)
        var actions: [DeviceLinkServerStateMachine.Action] = []
        for piece in before { actions += machine.receive(piece, now: Self.now) }
        actions +=
            isGood
            ? machine.authenticated(baseToken: [1, 2, 3], isNew: true, serverTime: Self.now, now: Self.now)
            : machine.rejected(serverTime: Self.now)
        for piece in after { actions += machine.receive(piece, now: Self.now) }
        actions += machine.tick(now: Self.now.advanced(by: .seconds(3600)))
        let ends = actions.filter { if case .close = $0 { true } else { false } }.count
        precondition(ends == 1 && machine.nextDeadline == nil, "a connection ends once")
        guard case .close = actions.last else { preconditionFailure("something follows the end: \(actions)") }
        return actions
    }
}
