import NIOCore
import PushTypes
import PushWire
import Testing

/// The server's end of a device link, packets in and actions out (device link reference 5).
@Suite final class DeviceLinkServerStateMachineTests {
    let now = Timestamp(seconds: 1_700_000_000)
    var machine = DeviceLinkServerStateMachine(now: Timestamp(seconds: 1_700_000_000))

    @Test func nothingIsDoneBeforeTheDeviceIsAuthenticated() {
        let connect = DeviceLinkConnectRequest(certificate: [1])
        let filter = DeviceLinkFilter(enabled: [])
        #expect(self.machine.receive(bytes(connect.packet, filter.packet), now: self.now) == [.authenticate(connect)])
        let actions = self.machine.authenticated(baseToken: [9], isNew: true, serverTime: self.now, now: self.now)
        let response = DeviceLinkConnectResponse(status: .ok, baseToken: [9], serverTime: self.now)
        #expect(actions == [.send(response.packet), .subscribe(filter)])
    }

    @Test func aRejectedDeviceGetsAResponseAndIsClosed() {
        _ = self.machine.receive(bytes(DeviceLinkConnectRequest().packet), now: self.now)
        let response = DeviceLinkConnectResponse(status: .rejected, serverTime: self.now)
        #expect(self.machine.rejected(serverTime: self.now) == [.send(response.packet), .close(.rejected)])
        #expect(self.machine.receive(bytes(DeviceLinkPacket(command: .keepAlive)), now: self.now).isEmpty)
    }

    @Test func aPacketBeforeConnectEndsTheConnection() {
        #expect(
            self.machine.receive(bytes(DeviceLinkPacket(command: .keepAlive)), now: self.now) == [
                .close(.notConnected)
            ]
        )
    }

    @Test func aConnectThatNeverComesIsNotAwaitedForever() {
        #expect(self.machine.tick(now: self.now).isEmpty)
        #expect(self.machine.tick(now: self.now.advanced(by: .seconds(15))) == [.close(.connectTimeout)])
        #expect(self.machine.nextDeadline == nil)
    }

    @Test func aKeepAliveIsAcknowledgedAndPostponesTheIdleTimeout() {
        self.connect()
        let later = self.now.advanced(by: .seconds(29 * 60))
        let response = DeviceLinkPacket(command: .keepAliveAck)
        #expect(self.machine.receive(bytes(DeviceLinkPacket(command: .keepAlive)), now: later) == [.send(response)])
        #expect(self.machine.tick(now: self.now.advanced(by: .seconds(30 * 60))).isEmpty)
        #expect(self.machine.tick(now: later.advanced(by: .seconds(30 * 60))) == [.close(.idleTimeout)])
    }

    @Test func unknownCommandsAreIgnored() {
        self.connect()
        #expect(self.machine.receive(bytes(DeviceLinkPacket(command: 99, fields: [])), now: self.now).isEmpty)
        let isConnected = self.machine.isConnected
        #expect(isConnected)
    }

    @Test func aSecondConnectEndsTheConnection() {
        self.connect()
        #expect(
            self.machine.receive(bytes(DeviceLinkConnectRequest().packet), now: self.now) == [.close(.connectedTwice)]
        )
    }

    @Test func anAckWithoutAnIdIsMalformed() {
        self.connect()
        let packet = DeviceLinkPacket(command: .messageAck)
        #expect(self.machine.receive(bytes(packet), now: self.now) == [.close(.malformedPacket)])
    }

    @Test func packetsWaitingForTheResponseToConnectAreBounded() {
        let keepAlive = DeviceLinkPacket(command: .keepAlive)
        _ = self.machine.receive(bytes(DeviceLinkConnectRequest().packet), now: self.now)
        for _ in 0..<32 { #expect(self.machine.receive(bytes(keepAlive), now: self.now).isEmpty) }
        #expect(self.machine.receive(bytes(keepAlive), now: self.now) == [.close(.tooManyWaiting)])
    }

    private func connect() {
        _ = self.machine.receive(bytes(DeviceLinkConnectRequest().packet), now: self.now)
        _ = self.machine.authenticated(baseToken: [1], isNew: false, serverTime: self.now, now: self.now)
    }
}
