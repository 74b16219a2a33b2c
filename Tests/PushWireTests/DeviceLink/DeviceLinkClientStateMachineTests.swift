import NIOCore
import PushTypes
import PushWire
import Testing

/// The device's end of a device link, packets in and actions out (device link reference 5).
@Suite final class DeviceLinkClientStateMachineTests {
    let now = Timestamp(seconds: 1_700_000_000)
    var machine = DeviceLinkClientStateMachine()

    @Test func aKeepAliveWithoutResponseEndsTheConnection() {
        self.connect()
        let due = self.now.advanced(by: .seconds(30))
        #expect(self.machine.tick(now: due) == [.send(DeviceLinkPacket(command: .keepAlive))])
        #expect(self.machine.tick(now: due.advanced(by: .seconds(15))) == [.close(.keepAliveTimeout)])
    }

    @Test func anyPacketShowsThatTheServerIsAlive() {
        self.connect()
        let due = self.now.advanced(by: .seconds(30))
        _ = self.machine.tick(now: due)
        #expect(self.machine.receive(bytes(DeviceLinkPacket(command: .keepAliveAck)), now: due).isEmpty)
        #expect(self.machine.nextDeadline == due.advanced(by: .seconds(30)))
    }

    @Test func aRejectionEndsTheConnection() {
        _ = self.machine.start(DeviceLinkConnectRequest(), now: self.now)
        let rejection = DeviceLinkConnectResponse(status: .rejected, serverTime: self.now).packet
        #expect(self.machine.receive(bytes(rejection), now: self.now) == [.close(.rejected)])
    }

    /// It is a part of every later *Connect*, which has a greatest length.
    @Test(arguments: [(256, true), (257, false), (32_000, false)])
    func aBaseTokenHasAGreatestLength(length: Int, isTaken: Bool) {
        _ = self.machine.start(DeviceLinkConnectRequest(), now: self.now)
        let token = [UInt8](repeating: 7, count: length)
        let response = DeviceLinkConnectResponse(status: .ok, baseToken: token, serverTime: self.now).packet
        let expected: DeviceLinkClientStateMachine.Action =
            isTaken ? .connected(baseToken: token) : .close(.malformedPacket)
        #expect(self.machine.receive(bytes(response), now: self.now) == [expected])
    }

    @Test func aSilentServerIsNotAwaitedForever() {
        _ = self.machine.start(DeviceLinkConnectRequest(), now: self.now)
        #expect(self.machine.tick(now: self.now.advanced(by: .seconds(15))) == [.close(.connectTimeout)])
    }

    @Test func garbageEndsTheConnection() {
        self.connect()
        let garbage = ByteBuffer(bytes: [10, 0, 0, 0, 2, 1, 0])
        #expect(self.machine.receive(garbage, now: self.now) == [.close(.malformedPacket)])
        #expect(self.machine.receive(garbage, now: self.now).isEmpty)
    }

    private func connect() {
        _ = self.machine.start(DeviceLinkConnectRequest(), now: self.now)
        let response = DeviceLinkConnectResponse(status: .ok, baseToken: [1], serverTime: self.now).packet
        #expect(self.machine.receive(bytes(response), now: self.now) == [.connected(baseToken: [1])])
    }
}
